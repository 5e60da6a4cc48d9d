/** Origins: a stored element and all that it was made from; the pointer names elements. */

import { make } from "./dom.js";
import { indexOf } from "./frame.js";
import { Heatmap } from "./heatmap.js";

/**
 * @param {any} scene
 * @returns {{node: HTMLElement, draw: () => void}}
 */
export function originsOf(scene) {
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  /** @type {Heatmap[]} */
  const heatmaps = scene.heatmaps.map((/** @type {any} */ heatmap) => new Heatmap(heatmap));
  for (const heatmap of heatmaps) {
    heatmap.onpoint = (cell) => {
      const needed = cell && heatmap.classAt(cell) > 1;
      if (!cell) status.textContent = "";
      else status.textContent = `[${indexOf(heatmap.layout, ...cell).index.join(", ")}] ${needed ? "is part of it" : "is not needed"}`;
    };
  }
  const node = make(
    "div", { class: "tl-origins" }, make("div", { class: "tl-title" }, scene.title),
    make("div", { class: "tl-row" }, ...heatmaps.map((heatmap) => heatmap.node)), status,
    make("details", {}, make("summary", {}, `${scene.lines.length} line${scene.lines.length === 1 ? "" : "s"} of words`),
      ...scene.lines.map((/** @type {string} */ line) => make("div", { class: "tl-note" }, line))),
  );
  return { node, draw: () => heatmaps.forEach((heatmap) => heatmap.draw()) };
}
