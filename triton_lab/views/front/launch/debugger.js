/** A program's steps with breakpoints, watched expressions and another program beside: pdb's letters are its keys. */

import { make } from "../drawing/dom.js";
import { tr } from "../localization.js";
import { stepsOf } from "./steps.js";

/**
 * The step that a letter of pdb goes to; null for another key. `back` is whether `r` was pressed before, as in `rn`.
 * @param {string} key @param {boolean} back @param {number} at @param {number[]} stops @param {number} last
 * @returns {number | null}
 */
export function goal(key, back, at, stops, last) {
  if (key === "n" || key === "s") return Math.min(last, Math.max(0, at + (back ? -1 : 1)));
  if (key !== "c") return null;
  return back ? (stops.filter((step) => step < at).at(-1) ?? 0) : (stops.find((step) => step > at) ?? last);
}

/** The value of a watched expression at a step. @param {import("../scenes.js").WatchScene} watch @param {number} at */
export function watchedAt({ steps, values }, at) {
  const k = steps.findLastIndex((step) => step <= at);
  return k < 0 ? "-" : values[k];
}

/** The step that last gave each variable its value. @param {import("../scenes.js").StepScene[]} steps @param {number} at */
export function assigned(steps, at) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (let k = 0; k <= at && k < steps.length; k++) if (steps[k].kind === "assign" && steps[k].name) found.set(/** @type {string} */ (steps[k].name), k);
  return found;
}

/**
 * @param {import("../scenes.js").DebuggerScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {Pick<import("../part.js").Context, "linked">} context
 * @returns {{node: HTMLElement, draw: () => void}}
 */
export function debuggerOf(scene, selection, context = {}) {
  const { steps, stops, lines, watches, beside } = scene;
  const last = steps.steps.length - 1;
  const view = stepsOf(steps, selection, context);
  // The lines at which it stops, in the source.
  view.node.querySelectorAll(".tl-source .tl-line").forEach((row, k) => {
    row.classList.toggle("tl-breakpoint", lines.includes(steps.source.first + k));
  });
  const at = () => Math.min(last, selection.get().step ?? steps.step);
  let back = false;
  /** @param {string} key @param {boolean} reverse */
  const go = (key, reverse) => {
    const step = goal(key, reverse, at(), stops, last);
    if (step !== null) selection.set({ step });
  };
  /** @param {string} words @param {string} key @param {boolean} reverse */
  const button = (words, key, reverse) => make(
    "button", { type: "button", class: "tl-step", onclick: () => go(key, reverse) }, words, " ", make("kbd", {}, (reverse ? "r" : "") + key),
  );
  const buttons = [button(tr("◀◀ breakpoint"), "c", true), button(tr("breakpoint ▶▶"), "c", false)];
  const here = make("output", { class: "tl-told" });
  /** A table with these heads and an empty body. @param {string[]} heads */
  const tableOf = (heads) => {
    const body = make("tbody");
    const head = make("thead", {}, make("tr", {}, ...heads.map((word) => make("th", { scope: "col" }, word))));
    return { body, node: make("table", { class: "tl-table" }, head, body) };
  };
  const watched = tableOf([tr("watched"), tr("value")]);
  const two = tableOf([tr("variable"), tr("here"), beside?.program ?? ""]);
  /** @param {HTMLElement} body @param {string[][]} rows each a name and values; those that differ are marked */
  const fill = (body, rows) => body.replaceChildren(...rows.map(([name, ...values]) => make(
    "tr", { class: new Set(values).size > 1 ? "tl-new" : "" }, make("th", { scope: "row" }, name), ...values.map((value) => make("td", {}, value)),
  )));
  const update = () => {
    const step = at();
    const k = stops.indexOf(step);
    here.textContent = k < 0 ? "" : tr("stop {number} of {count}, before line {line}", { number: k + 1, count: stops.length, line: lines[k] });
    fill(watched.body, watches.map((watch) => [watch.text, watchedAt(watch, step)]));
    if (beside) fill(two.body, [...assigned(steps.steps, step)].map(([name, k]) => [name, steps.steps[k].value, beside.values[k] || "-"]));
  };
  selection.subscribe(update);
  /** @param {KeyboardEvent} event */
  const onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const reverse = back;
    back = event.key === "r";
    if (!back && goal(event.key, reverse, at(), stops, last) === null) return;
    if (!back) go(event.key, reverse);
    event.preventDefault();
    event.stopPropagation();
  };
  const node = make(
    "div", { class: "tl-debugger", onkeydown, tabindex: 0 }, make("div", { class: "tl-controls" }, ...buttons, here), view.node,
    ...(watches.length ? [watched.node] : []), ...(beside ? [two.node] : []),
    make("div", { class: "tl-note" }, scene.note, " ", tr("The keys are pdb's: n goes a step on, c to the next breakpoint, and rn and rc back.")),
  );
  return {
    node,
    draw: () => {
      view.draw();
      update();
    },
  };
}
