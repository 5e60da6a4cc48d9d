/** Two programs step by step: the reader says who goes next; memory stands between them. */

import { make, passage } from "../drawing/dom.js";
import { tr, trn } from "../localization.js";
import { programPaint } from "./programs.js";

/** @typedef {import("../scenes.js").InterleavingScene} Scene */
/** @typedef {import("../scenes.js").InterleavedState} State */
/** @typedef {{which: number, accesses: import("../scenes.js").InterleavedAccess[], values: string[]}} Row */

const CANNOT = -1;
const ELSEWHERE = -2;

/**
 * The states that an order leads through from state 0, and where it stops: at its end, or before a step that the scene
 * does not have.
 * @param {Pick<Scene, "states">} scene @param {number[]} order
 * @returns {{state: number, rows: Row[]}}
 */
export function walked({ states }, order) {
  let state = 0;
  /** @type {Row[]} */
  const rows = [];
  for (const which of order) {
    const step = states[state].steps[which];
    if (!step || step.to < 0) break;
    state = step.to;
    rows.push({ which, accesses: step.accesses, values: states[state].values });
  }
  return { state, rows };
}

/** An access in words with its line. @param {import("../scenes.js").InterleavedAccess} access */
const toldOf = ({ line, words }) => (line ? tr("line {line}: {text}", { line, text: words }) : words);

/**
 * @param {Scene} scene
 * @param {import("../selection.js").Selection} _selection
 * @param {Partial<Pick<import("../part.js").Context, "ask" | "live" | "linked">>} context
 * @returns {import("../part.js").Part}
 */
export function interleavingOf(scene, _selection, { ask, live, linked } = {}) {
  const { programs, cells, grid, numbers, outcomes } = scene;
  const count = grid[0] * grid[1] * grid[2];
  let shown = scene; // the scene whose states are walked: another one once Python has been asked
  /** @type {Row[]} */
  let earlier = []; // the steps to its first state
  /** @type {number[]} */
  let order = [];
  /** @type {number[]} */
  let again = []; // steps that were taken back
  const swatch = (/** @type {number} */ which) => make("span", { class: "tl-of-program tl-swatch", style: `background: ${programPaint(numbers[which], count)}` });
  const body = make("tbody");
  const status = make("div", { class: "tl-status", role: "status", "aria-live": "polite" });
  const buttons = [0, 1].map((which) => make("button", { type: "button", class: "tl-step tl-turn", onclick: () => go(which) }));
  const back = make("button", { type: "button", class: "tl-step", onclick: () => undo() }, tr("◀ take back"));
  const restart = make("button", { type: "button", class: "tl-step", onclick: () => stand([]) }, tr("start again"));
  const lines = scene.source.lines.map((text, k) => {
    const marks = [0, 1].map((which) => {
      const mark = swatch(which);
      mark.style.visibility = "hidden";
      return mark;
    });
    const node = make("div", { class: "tl-line" }, make("span", { class: "tl-number" }, String(scene.source.first + k)), make("span", { class: "tl-marks tl-turns" }, ...marks), make("span", { class: "tl-code" }, text));
    return { node, marks };
  });

  /** Stand at another order, of all steps from the start. @param {number[]} wanted */
  function stand(wanted) {
    again = [];
    shown = scene;
    earlier = [];
    order = wanted;
    update();
  }
  function undo() {
    if (!order.length && !earlier.length) return;
    if (!order.length) return stand(earlier.slice(0, -1).map((row) => row.which));
    again.push(/** @type {number} */ (order.at(-1)));
    order = order.slice(0, -1);
    update();
  }
  /** Let a program go on. @param {number} which */
  function go(which) {
    const { state, rows } = walked(shown, order);
    const { to } = shown.states[state].steps[which];
    if (to === CANNOT) return;
    if (to === ELSEWHERE) {
      if (!live || !ask) return;
      const before = [...earlier, ...rows];
      const path = before.map((row) => row.which).join("");
      status.textContent = tr("Asking the kernel …");
      ask(`interleaving@${path}`, (found) => {
        if (found.kind !== "interleaving") {
          status.textContent = found.kind === "words" ? found.text : "";
          return;
        }
        shown = found;
        earlier = before;
        order = [];
        if (found.states[0].steps[which].to >= 0) order = [which];
        update();
      });
      return;
    }
    again = [];
    order = [...order, which];
    update();
  }

  /** @param {Row} row @param {string[]} before @param {number} number */
  function rowOf({ which, accesses, values }, before, number) {
    const told = make("td", {}, ...accesses.map((access) => make("div", { class: access.own ? "tl-note" : "" }, toldOf(access))));
    const kind = accesses[0]?.words ?? "";
    const memory = values.map((value, k) => make("td", { class: value === before[k] ? "tl-cell" : "tl-cell tl-cell-new" }, value));
    return make("tr", { "data-which": which, title: kind }, make("td", { class: "tl-note" }, String(number)), which === 0 ? told : make("td"), ...memory, which === 1 ? told : make("td"));
  }

  function update() {
    const { state, rows } = walked(shown, order);
    const here = shown.states[state];
    const all = [...earlier, ...rows];
    const begin = scene.states[0].values;
    body.replaceChildren(
      make("tr", {}, make("td", { class: "tl-note" }, ""), make("td", { class: "tl-note" }, tr("at the start")), ...begin.map((value) => make("td", { class: "tl-cell" }, value)), make("td")),
      ...all.map((row, k) => rowOf(row, k ? all[k - 1].values : begin, k + 1)),
    );
    buttons.forEach((button, which) => {
      const { to } = here.steps[which];
      const cannot = to === CANNOT || (to === ELSEWHERE && !live);
      button.disabled = cannot;
      const key = which ? "→" : "←";
      button.replaceChildren(swatch(which), " ", make("kbd", {}, key), " ", make("b", {}, programs[which]), ": ", here.told[which]);
    });
    back.disabled = !all.length;
    restart.disabled = !all.length;
    const ended = here.steps.every(({ to }) => to === CANNOT);
    const missing = !live && here.steps.some(({ to }) => to === ELSEWHERE);
    const result = cells.map((name, k) => `${name} = ${here.values[k]}`).join(", ");
    status.textContent = ended
      ? tr("The end: {result}.", { result })
      : missing
        ? tr("This page keeps {count} states. Run the cell to go on from here.", { count: scene.states.length })
        : trn("{count} step taken. Who goes next?", "{count} steps taken. Who goes next?", all.length, { count: all.length });
    for (const { node, marks } of lines) {
      node.classList.remove("tl-here");
      for (const mark of marks) mark.style.visibility = "hidden";
    }
    here.lines.forEach((line, which) => {
      const place = lines[line - scene.source.first];
      if (!line || !place || here.steps[which].to === CANNOT) return;
      place.marks[which].style.visibility = "visible";
      place.node.classList.add("tl-here");
    });
    linked?.point(here.lines.filter((line, which) => line && here.steps[which].to !== CANNOT));
  }

  /** @param {KeyboardEvent} event */
  const onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { ArrowLeft: () => go(0), ArrowRight: () => go(1), Backspace: undo, ArrowUp: undo, ArrowDown: () => again.length && redo(), Home: () => stand([]) }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  };
  function redo() {
    const which = /** @type {number} */ (again.pop());
    const rest = again;
    go(which);
    again = rest;
  }
  const head = make(
    "thead", {}, make(
      "tr", {}, make("th", { scope: "col" }, ""), make("th", { scope: "col" }, swatch(0), " ", programs[0]),
      ...cells.map((name) => make("th", { scope: "col", class: "tl-cell" }, name)), make("th", { scope: "col" }, swatch(1), " ", programs[1]),
    ),
  );
  const results = outcomes.length
    ? make(
      "table", { class: "tl-table" },
      make("thead", {}, make("tr", {}, ...[tr("result"), tr("one order"), ""].map((word) => make("th", { scope: "col" }, word)))),
      make("tbody", {}, ...outcomes.map(({ values, order: one, problem }) => make(
        "tr", {},
        make("td", {}, cells.map((name, k) => `${name} = ${values[k]}`).join(", ") + (problem ? `: ${problem}` : "")),
        make("td", { class: "tl-turns" }, ...one.slice(0, 40).map((which) => {
          const dot = swatch(which);
          dot.title = programs[which];
          return dot;
        }), one.length > 40 ? "…" : ""),
        make("td", {}, make("button", { type: "button", class: "tl-link", onclick: () => stand([...one]) }, tr("show"))),
      ))),
    )
    : make("div");
  const own = scene.begin.length ? [make("div", { class: "tl-note" }, tr("Before their first steps: {accesses}", { accesses: scene.begin.map(toldOf).join("; ") }))] : [];
  const node = make(
    "div", { class: "tl-interleaving", tabindex: 0, role: "group", "aria-label": scene.title, onkeydown },
    make("div", { class: "tl-title" }, scene.title),
    make("div", { class: "tl-controls" }, ...buttons),
    make("div", { class: "tl-controls" }, back, restart, status),
    make(
      "div", { class: "tl-row" }, passage({ class: "tl-source tl-beside" }, tr("The source"), ...lines.map((line) => line.node)),
      make("div", { class: "tl-scroll" }, make("table", { class: "tl-table tl-turns-table" }, head, body), ...(scene.more ? [make("div", { class: "tl-note" }, scene.more)] : [])),
    ),
    ...own,
    make("details", { class: "tl-section tl-results" }, make("summary", {}, tr("All orders")), make("div", {}, scene.summary), results),
    make("div", { class: "tl-note" }, tr("The keys ← and → let a program go, ↑ takes a step back."), " ", scene.note),
  );
  return { node, draw: update };
}
