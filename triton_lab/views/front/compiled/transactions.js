/** What each access asks of memory: a table to choose from, and the sectors or banks that warps ask for. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { explanationOf, wordOf } from "../drawing/explained.js";
import { Heatmap } from "../drawing/heatmap.js";
import { callProgram, countOf } from "../drawing/words.js";
import { heldAt } from "../launch/strides.js";
import { tr } from "../localization.js";

/**
 * @param {import("../scenes.js").TransactionsScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {import("../part.js").Part}
 */
export function transactionsOf(scene, selection, context) {
  const place = make("div");
  const status = make("div", { class: "tl-note", role: "status" });
  /** @type {Map<string, import("../scenes.js").TrafficScene>} */
  const known = new Map();
  scene.traffics.forEach((traffic, row) => traffic && known.set(nameOf(row), traffic));
  let chosen = scene.shown;
  let wanted = "";
  /** @type {import("../part.js").Part | null} */
  let part = null;

  /** The program that a row shows: rows of shared memory are alike in all. */
  function programOf() {
    return selection.get().program ?? scene.program;
  }

  /** @param {number} row @param {number} program */
  function nameOf(row, program = scene.program) {
    return `${scene.name}/${row}/${scene.programs[row] ? program : scene.program}`;
  }

  const show = (/** @type {import("../scenes.js").TrafficScene} */ traffic) => {
    part = trafficOf(traffic);
    place.replaceChildren(part.node);
    status.textContent = "";
    if (place.isConnected) part.draw();
  };

  const update = () => {
    const { line } = selection.get();
    // A line that was picked elsewhere opens its first row, unless one of its rows is open.
    if (line != null && scene.lines[chosen] !== line && scene.lines.includes(line)) chosen = scene.lines.indexOf(line);
    rows.forEach((row, k) => row.setAttribute("aria-selected", String(k === chosen)));
    field.value = String(programOf());
    told.textContent = callProgram(programOf(), scene.grid);
    const name = nameOf(chosen, programOf());
    if (!rows.length || name === wanted) return;
    wanted = name;
    const there = known.get(name);
    if (there) return show(there);
    status.textContent = "…";
    context.ask(name, (answer) => {
      if (wanted !== name) return;
      if (answer.kind === "traffic") {
        known.set(name, answer);
        return show(answer);
      }
      status.textContent = answer.kind === "words" ? answer.text : "";
    });
  };

  const choose = (/** @type {number} */ k) => {
    chosen = k;
    selection.set({ line: scene.lines[k] });
    update();
  };
  const rows = scene.table.map((words, k) =>
    make(
      "tr", { class: "tl-choice", "aria-selected": "false", onclick: () => choose(k) },
      ...words.map((word, column) =>
        column ? make("td", {}, word) : make("th", { scope: "row" }, make("button", { class: "tl-step", title: tr("show line {line}", { line: word }) }, word)),
      ),
    ),
  );
  const head = make("tr", {}, ...scene.headings.map((words) => make("th", { scope: "col" }, wordOf(words, explanationOf(words, "heading")))));
  const table = make("table", { class: "tl-table" }, make("thead", {}, head), make("tbody", {}, ...rows));
  const count = scene.grid[0] * scene.grid[1] * scene.grid[2];
  const told = make("output", { class: "tl-told" });
  const take = () => selection.set({ program: Math.min(count - 1, Math.max(0, Math.round(Number(field.value)) || 0)) });
  const field = make("input", {
    type: "number", class: "tl-count", min: 0, max: count - 1, "aria-label": tr("program"), onchange: take,
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter") return;
      take();
      event.preventDefault();
      event.stopPropagation(); // the notebook's
    },
  });
  selection.subscribe(update);
  const node = make(
    "div", { class: "tl-transactions" },
    make("div", { class: "tl-title" }, scene.title),
    ...(scene.worst ? [make("div", { class: "tl-worst" }, scene.worst)] : []),
    ...(rows.length ? [make("div", { class: "tl-scroll", tabindex: 0, role: "group", "aria-label": scene.title }, table)] : [make("div", { class: "tl-note" }, tr("The kernel accesses no memory."))]),
    ...scene.problems.map((problem) => make("div", { class: "tl-note" }, problem)),
    // Without a kernel behind it there is one program alone.
    ...(rows.length && context.live && count > 1 ? [make("div", { class: "tl-controls" }, make("label", {}, `${tr("program")} `, field), told)] : []),
    place, status,
  );
  return {
    node,
    draw: () => {
      update();
      part?.draw();
    },
  };
}

/**
 * @param {import("../scenes.js").TrafficScene} scene
 * @returns {import("../part.js").Part}
 */
export function trafficOf(scene) {
  const title = make("div", { class: "tl-title" }, scene.title);
  const note = make("div", { class: "tl-note" }, scene.note);
  if (!scene.heatmap) return { node: make("div", {}, title, note), draw: () => {} };
  const counts = numbers(scene.counts);
  const rest = tr("Point at the picture.");
  const status = make("div", { class: "tl-status", "aria-live": "polite" }, rest);
  const heatmap = new Heatmap(scene.heatmap);
  /** The first and the last element of a sector that are used, with their values. @param {number} column */
  const valuesAt = (column) => {
    const { ends } = scene;
    if (!ends?.[column]) return [];
    const [first, last] = ends[column].map((name, k) => name + heldAt(scene, [ends.length, 2], [column, k]));
    return [first === last ? first : tr("{first} to {last}", { first, last })];
  };
  heatmap.onpoint = (cell) => {
    heatmap.mark(cell ? [cell] : []);
    if (!cell) return (status.textContent = rest);
    const [, row, column] = cell;
    const count = counts[row * scene.columns.length + column];
    const told = scene.unit === "word" ? countOf(count, "word") : countOf(count, "byte");
    return (status.textContent = [scene.rows[row], scene.columns[column], told, ...valuesAt(column)].join(" · "));
  };
  return { node: make("div", {}, title, heatmap.node, status, note), draw: () => heatmap.draw() };
}
