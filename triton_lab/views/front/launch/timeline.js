/** Timeline: which elements are touched when; the pointer tells the access and the elements under it. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { Heatmap } from "../drawing/heatmap.js";
import { countOf, numbered } from "../drawing/words.js";

/**
 * @param {import("../scenes.js").TimelineScene} scene
 * @returns {import("../part.js").Part}
 */
export function timelineOf(scene) {
  const title = make("div", { class: "tl-title" }, scene.title);
  if (!scene.heatmap) return { node: make("div", {}, title, make("div", { class: "tl-note" }, scene.nobody ?? "nobody touches it")), draw: () => {} };
  const counts = numbers(scene.counts);
  const rest = "Point at the picture: time runs down, elements run across.";
  const status = make("div", { class: "tl-status", "aria-live": "polite" }, rest);
  const heatmap = new Heatmap(scene.heatmap);
  heatmap.onpoint = (cell) => {
    heatmap.mark(cell ? [cell] : []);
    if (!cell) return (status.textContent = rest);
    const [, row, column] = cell;
    const [first, last] = scene.columns[column];
    const lanes = counts[row * scene.columns.length + column];
    const elements = numbered(first, last, "element");
    return (status.textContent = `${scene.moments[row]} · ${elements} · ${countOf(lanes, "lane")}`);
  };
  return { node: make("div", { class: "tl-timeline" }, title, heatmap.node, status), draw: () => heatmap.draw() };
}
