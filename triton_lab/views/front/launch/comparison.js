/** Comparison: two results, their error over elements and over programs; the pointer is on one element in all of them. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { unravel } from "../drawing/frame.js";
import { Heatmap } from "../drawing/heatmap.js";
import { tabsOf } from "../drawing/tabs.js";
import { foldedTable, tableOf } from "../drawing/table.js";
import { callProgram, countOf } from "../drawing/words.js";
import { partOf } from "../part.js";
import { tr } from "../localization.js";

/**
 * @param {import("../scenes.js").ComparisonScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {import("../part.js").Part}
 */
export function comparisonOf(scene, selection, context) {
  const pictures = tabsOf(
    scene.arguments.map((argument) => ({ name: argument.name, make: () => comparedOf(argument, scene) })),
    "tl-names", scene.open,
  );
  const why = whyOf(scene, selection, context);
  const node = make(
    "div", {},
    make("div", { class: "tl-title" }, scene.title),
    make("div", { class: "tl-scroll" }, tableOf(scene.headings, scene.table)),
    scene.cause ? make("div", { class: "tl-cause" }, scene.cause) : "",
    ...scene.lines.map((line) => make("div", { class: "tl-note" }, line)),
    // What came of it stands in the lines above.
    ...(scene.causes.length ? [foldedTable(tr("What was tried: {experiments}", { experiments: countOf(scene.causes.length, "experiment") }), scene.tried, scene.causes)] : []),
    why?.node ?? "",
    pictures.node,
  );
  return { node, draw: () => pictures.draw(), stop: () => why?.stop() };
}

/**
 * The button that searches for causes: each experiment runs the launch once more.
 * @param {import("../scenes.js").ComparisonScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 */
function whyOf({ later }, selection, context) {
  if (!later) return null;
  if (!context.live && !context.has(later)) {
    const node = make("div", { class: "tl-note" }, tr("The cause was not searched for: this needs a running kernel."));
    return { node, stop: () => {} };
  }
  const part = partOf({ name: later }, selection, context);
  const ask = () => {
    node.replaceChildren(part.node);
    part.draw();
  };
  const button = make(
    "button", { type: "button", class: "tl-link", title: tr("run the launch again, with one thing changed each time"), onclick: ask },
    tr("find the cause"),
  );
  const node = make("div", {}, button);
  return { node, stop: () => part.stop?.() };
}

/**
 * What was tried, and what it says.
 * @param {import("../scenes.js").CausesScene} scene
 * @returns {import("../part.js").Part}
 */
export function causesOf(scene) {
  const node = make(
    "div", {},
    make("div", { class: "tl-note" }, scene.title),
    ...(scene.table.length ? [make("div", { class: "tl-scroll" }, tableOf(scene.headings, scene.table))] : []),
  );
  return { node, draw: () => {} };
}

/**
 * One argument.
 * @param {import("../scenes.js").ComparedScene} argument
 * @param {import("../scenes.js").ComparisonScene} scene
 */
function comparedOf(argument, scene) {
  const [first, second] = argument.values.map(numbers);
  const [errors, programs, worst] = [argument.errors, argument.programs, argument.worst].map(numbers);
  const heatmaps = argument.heatmaps.map((heatmap) => new Heatmap(heatmap));
  const grid = argument.by_program ? new Heatmap(argument.by_program) : null;
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  const { layout } = heatmaps[0];
  const rest = argument.told;
  status.textContent = rest;
  const wordsFor = (/** @type {number} */ at) => {
    const element = `${argument.name}[${unravel(worst[at], layout.shape).join(", ")}]`;
    const where = layout.down * layout.right > 1 ? tr("{element}, the worst of its cell", { element }) : element;
    const values = `${scene.titles[0]} ${first[at]} · ${scene.titles[1]} ${second[at]}`;
    const apart = errors[at] === 0 ? tr("no error") : tr("error {size}", { size: [errors[at], argument.unit].filter(Boolean).join(" ") });
    const who = programs[at] < 0 ? "" : tr("stored by {program}", { program: callProgram(programs[at], scene.grid) });
    return [where, values, apart, who].filter(Boolean).join(" · ");
  };
  for (const heatmap of heatmaps) {
    heatmap.onpoint = (cell) => {
      for (const other of heatmaps) other.mark(cell ? [cell] : []);
      if (!cell) return (status.textContent = rest);
      const [panel, row, column] = cell;
      return (status.textContent = wordsFor((panel * layout.rows + row) * layout.columns + column));
    };
  }
  const node = make(
    "div", {},
    make("div", { class: "tl-row" }, ...heatmaps.map((heatmap) => heatmap.node)),
    status,
    grid ? make("div", { class: "tl-row" }, grid.node) : "",
  );
  const draw = () => {
    heatmaps.forEach((heatmap) => heatmap.draw());
    grid?.draw();
  };
  return { node, draw };
}
