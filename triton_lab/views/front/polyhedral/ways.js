/** Columns of drawings and words side by side. */

import { make } from "../drawing/dom.js";
import { tr } from "../localization.js";

/** @param {string[]} lines */
const listed = (lines) => make("ul", {}, ...lines.map((line) => make("li", {}, line)));

/** @type {import("../part.js").Draw<import("../scenes.js").ColumnsScene>} */
export function columnsOf(scene, selection, context) {
  const pictures = scene.columns.map((column) => context.draw(column.picture, selection, context));
  const columns = scene.columns.map((column, k) =>
    make(
      "div", { class: "tl-column" },
      make("h4", {}, column.title), pictures[k].node,
      make("pre", { tabindex: 0, role: "group", "aria-label": column.title }, column.program), make("b", {}, tr("It can say")), listed(column.can), make("b", {}, tr("It cannot say")), listed(column.cannot),
      make("b", {}, column.outcome ?? tr("Measured")), listed(column.measured),
    ),
  );
  return {
    node: make("div", { class: "tl-domain" }, make("div", { class: "tl-domain-title" }, scene.title), make("div", { class: "tl-columns" }, ...columns)),
    draw: () => pictures.forEach((picture) => picture.draw()),
  };
}
