/** A program with its maximal affine parts marked, and the domain of the part that was chosen. */

import { make } from "../drawing/dom.js";
import { STYLE } from "../drawing/style.js";
import { themeOf } from "../drawing/theme.js";
import { domainOf } from "./domain.js";
import { tr } from "../localization.js";

/** @type {import("../part.js").Draw<import("../scenes.js").MaximalScene>} */
export function maximalOf(scene, selection) {
  const place = make("div", {});
  /** @type {import("../part.js").Part | null} */
  let shown = null;
  /** @type {HTMLElement[]} */
  const lines = [];
  const choose = (/** @type {number} */ part) => {
    for (const line of lines) line.classList.toggle("tl-chosen", line.dataset.part === String(part));
    shown?.stop?.();
    shown = null;
    const domain = scene.scenes[part];
    if (!domain) {
      place.replaceChildren(make("div", {}, tr("part {number} has no loop: one instance", { number: part })));
      return;
    }
    shown = domainOf(domain, selection);
    place.replaceChildren(shown.node);
    if (place.isConnected) shown.draw();
  };
  const listing = make("div", { class: "tl-parts" });
  for (const { text, part, reasons } of scene.lines) {
    if (part === null) listing.append(make("div", { class: "tl-parts-line" }, text || " "));
    else {
      const line = make("button", { type: "button", class: "tl-parts-line", title: tr("part {number}", { number: part }), onclick: () => choose(part) }, text || " ");
      line.dataset.part = String(part);
      lines.push(line);
      listing.append(line);
    }
    for (const reason of reasons) listing.append(make("div", { class: "tl-parts-reason" }, reason));
  }
  const node = make("div", { class: "tl-domain" }, make("div", { class: "tl-domain-title" }, scene.title), listing, place);
  const first = scene.scenes.findIndex((one) => one !== null);
  if (first >= 0) choose(first);
  return {
    node,
    draw() {
      const { parts } = STYLE.themes[themeOf(node)].domain;
      for (const line of lines) line.style.borderLeftColor = parts[Number(line.dataset.part) % parts.length];
      shown?.draw();
    },
    stop: () => shown?.stop?.(),
  };
}
