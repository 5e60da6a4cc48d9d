/** Sliders that pick a program or an iteration for every picture that shares the selection. */

import { make } from "../drawing/dom.js";
import { explain, explanationOf } from "../drawing/explained.js";
import { callProgram, countOf } from "../drawing/words.js";

/** @typedef {{nodes: HTMLElement[], update: () => void}} Picker */

/**
 * @param {number[]} grid
 * @param {import("../selection.js").Selection} selection
 * @returns {Picker}
 */
export function programPicker(grid, selection) {
  const programs = grid[0] * grid[1] * grid[2];
  return picker(
    "program", programs, selection, (program) => (program === null ? `all ${countOf(programs, "program")}` : callProgram(program, grid)),
  );
}

/**
 * For a picture that is always of one program.
 * @param {number[]} grid
 * @param {import("../selection.js").Selection} selection
 * @param {() => number} shown the program that is shown while none is picked
 * @returns {Picker}
 */
export function oneProgramPicker(grid, selection, shown) {
  const words = (/** @type {number | null} */ program) => callProgram(program ?? shown(), grid);
  return picker("program", grid[0] * grid[1] * grid[2], selection, words, shown);
}

/**
 * @param {number} count
 * @param {import("../selection.js").Selection} selection
 * @returns {Picker}
 */
export function iterationPicker(count, selection) {
  return picker(
    "iteration", count, selection,
    (iteration) => (iteration === null ? `all ${countOf(count, "iteration")}` : `iteration ${iteration}`),
  );
}

/**
 * @param {"program" | "iteration"} name
 * @param {number} count
 * @param {import("../selection.js").Selection} selection
 * @param {(number: number | null) => string} words
 * @param {(() => number) | null} one where the slider stands if nothing is picked; null: before the first, for all
 * @returns {Picker}
 */
function picker(name, count, selection, words, one = null) {
  /** @type {HTMLInputElement} */
  const slider = make("input", {
    type: "range", min: one ? 0 : -1, max: count - 1, step: 1, "aria-label": name,
    oninput: () => selection.set({ [name]: Number(slider.value) < 0 ? null : Number(slider.value) }),
  });
  const told = make("output", { class: "tl-told" });
  const nodes = count > 1 ? [make("label", { class: "tl-slide" }, `${name} `, slider), told] : [];
  return {
    nodes,
    update() {
      const number = selection.get()[name] ?? null;
      slider.value = String(number ?? one?.() ?? -1);
      told.textContent = words(number);
    },
  };
}

/**
 * Radio buttons for the layers of a picture; nothing where there is one alone.
 * @param {string[]} names
 * @param {string} shown
 * @param {(name: string) => void} onchange
 * @returns {HTMLElement[]}
 */
export function layerPicker(names, shown, onchange) {
  if (names.length < 2) return [];
  const group = `tl-${Math.random().toString(36).slice(2)}`;
  return names.map((name) => {
    return radioOf(group, name, name === shown, () => onchange(name));
  });
}

/**
 * A radio button whose word is explained.
 * @param {string} group @param {string} name @param {boolean} checked @param {() => void} onchange
 */
export function radioOf(group, name, checked, onchange) {
  const radio = make("input", { type: "radio", name: group, checked, onchange, "aria-label": name });
  const label = make("label", { class: "tl-word" }, radio, name);
  explain(label, explanationOf(name), radio);
  return label;
}
