/** Difference: two results and what lies between them; the pointer is on one element in all three. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { unravel } from "../drawing/frame.js";
import { Heatmap } from "../drawing/heatmap.js";

/**
 * @param {import("../scenes.js").DifferenceScene} scene
 * @returns {{node: HTMLElement, draw: () => void}}
 */
export function differenceOf(scene) {
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  const [first, second] = scene.values.map(numbers);
  const worst = numbers(scene.worst);
  /** @type {Heatmap[]} */
  const heatmaps = scene.heatmaps.map((heatmap) => new Heatmap(heatmap));
  const { layout } = heatmaps[0];
  const rest = "Point at an element.";
  status.textContent = rest;
  for (const heatmap of heatmaps) {
    heatmap.onpoint = (cell) => {
      for (const other of heatmaps) other.mark(cell ? [cell] : []);
      if (!cell) return (status.textContent = rest);
      const [panel, row, column] = cell;
      const at = (panel * layout.rows + row) * layout.columns + column;
      const values = `${scene.titles[0]} ${first[at]} · ${scene.titles[1]} ${second[at]}`;
      const equal = Object.is(first[at], second[at]) || first[at] === second[at];
      const apart = equal ? "equal" : `difference ${first[at] - second[at]}`;
      const worstOf = layout.down * layout.right > 1 ? ", the worst of its cell" : "";
      const element = `${scene.name}[${unravel(worst[at], layout.shape).join(", ")}]`;
      return (status.textContent = `${element}${worstOf} · ${values} · ${apart}`);
    };
  }
  const node = make(
    "div", { class: "tl-difference" },
    make("div", { class: "tl-title" }, scene.title),
    make("div", { class: "tl-row" }, ...heatmaps.map((heatmap) => heatmap.node)),
    status,
  );
  return { node, draw: () => heatmaps.forEach((heatmap) => heatmap.draw()) };
}
