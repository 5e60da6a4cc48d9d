/** Timeline: which elements are touched when; the pointer tells the access and the elements under it. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { Heatmap } from "../drawing/heatmap.js";
import { countOf, listPrograms, numbered } from "../drawing/words.js";
import { detailOf, finerOf } from "./finer.js";
import { goToOne } from "../linked.js";
import { heldAt } from "./strides.js";
import { tr } from "../localization.js";

/** @typedef {{moments: string[], lines: number[][], columns: [number, number][], counts: ArrayLike<number>, owners: ArrayLike<number>[], values?: import("../scenes.js").Buffer}} Touched */

/** What a scene says of its cells. @param {import("../scenes.js").TimelineScene} scene @returns {Touched} */
function touchedOf({ moments, lines, columns, counts, owners, values }) {
  return { moments, lines: lines ?? [], columns, counts: numbers(counts), owners: (owners ?? []).map(numbers), values };
}

/**
 * @param {import("../scenes.js").TimelineScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {import("../part.js").Part}
 */
export function timelineOf(scene, selection, context) {
  const title = make("div", { class: "tl-title" }, scene.title);
  if (!scene.heatmap) return { node: make("div", {}, title, make("div", { class: "tl-note" }, scene.nobody ?? tr("No program accesses it."))), draw: () => {} };
  const whole = touchedOf(scene);
  const rest = tr("Point at the picture: time runs down, elements run across.");
  const status = make("div", { class: "tl-status", "aria-live": "polite" }, rest);
  const heatmap = new Heatmap(scene.heatmap);
  heatmap.zoom.offer(finerOf(context, scene.finer, (answer) => {
    if (answer.kind !== "timeline" || !answer.heatmap) return null;
    return detailOf(answer.window, answer.heatmap.cells, answer.heatmap, heatmap.rules, heatmap.layout.right, touchedOf(answer));
  }));
  /** What is known of a cell, and its row and column there. @param {import("../drawing/heatmap.js").Cell} cell */
  const touchedIn = ([panel, row, column, single]) => {
    const detail = single ? heatmap.detailAt([panel, row, column]) : null;
    const found = /** @type {Touched} */ (detail?.extra ?? whole);
    return { found, down: row - (detail?.window.row ?? 0), right: column - (detail?.window.column ?? 0) };
  };
  /** The lines of the accesses in a cell's row. @param {import("../drawing/heatmap.js").Cell} cell */
  const linesAt = (cell) => {
    const { found, down } = touchedIn(cell);
    return found.lines[down] ?? [];
  };
  heatmap.onpick = (cell) => goToOne(context.linked, linesAt(cell), selection);
  heatmap.onpoint = (cell) => {
    heatmap.mark(cell ? [cell] : []);
    context.linked?.point(cell ? linesAt(cell) : []);
    if (!cell) return (status.textContent = rest);
    const { found, down, right } = touchedIn(cell);
    const [first, last] = found.columns[right];
    const at = down * found.columns.length + right;
    const held = found.counts[at] ? heldAt(found, [found.moments.length, found.columns.length], [down, right]) : "";
    const parts = [found.moments[down], numbered(first, last, "element") + held, countOf(found.counts[at], "lane")];
    if (found.owners.length === 2 && found.owners[0][at] >= 0) {
      const [one, other] = found.owners.map((each) => each[at]);
      parts.push(one === other ? listPrograms([one], scene.grid ?? [one + 1, 1, 1]) : tr("several programs"));
    }
    return (status.textContent = parts.join(" · "));
  };
  const node = make("div", { class: "tl-timeline" }, title, heatmap.node, status);
  return { node, draw: () => heatmap.draw() };
}
