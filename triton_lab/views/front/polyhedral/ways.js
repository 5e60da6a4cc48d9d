/** Columns of pictures and words side by side. */

import { make } from "../drawing/dom.js";
import { themeOf } from "../drawing/theme.js";

/** @param {string[]} lines */
const listed = (lines) => make("ul", {}, ...lines.map((line) => make("li", {}, line)));

/** @param {import("../scenes.js").Bytes} png */
const urlOf = (png) => URL.createObjectURL(new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (png)], { type: "image/png" }));

/** @type {import("../part.js").Draw<import("../scenes.js").ColumnsScene>} */
export function columnsOf(scene) {
  const pictures = scene.columns.map(({ picture, dark, width, alt }) => {
    return { light: urlOf(picture), dark: urlOf(dark), image: make("img", { width, alt }) };
  });
  const columns = scene.columns.map((column, k) =>
    make(
      "div", { class: "tl-column" },
      make("h4", {}, column.title), pictures[k].image,
      make("pre", {}, column.program), make("b", {}, "It can say"), listed(column.can), make("b", {}, "It cannot say"), listed(column.cannot),
      make("b", {}, "Measured"), listed(column.measured),
    ),
  );
  const node = make("div", { class: "tl-domain" }, make("div", { class: "tl-domain-title" }, scene.title), make("div", { class: "tl-columns" }, ...columns));
  return {
    node,
    draw() {
      const theme = themeOf(node);
      for (const picture of pictures) picture.image.setAttribute("src", picture[theme]);
    },
    stop() {
      for (const { light, dark } of pictures) for (const url of [light, dark]) URL.revokeObjectURL(url);
    },
  };
}
