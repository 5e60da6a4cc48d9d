/** Controls that pick a program or an iteration for every picture that shares the selection. */

import { make } from "../drawing/dom.js";
import { explain, explanationOf } from "../drawing/explained.js";
import { callProgram, countOf } from "../drawing/words.js";
import { notKept, programIn, programPaint, writtenProgram } from "./programs.js";
import { tr } from "../localization.js";

/** @typedef {{nodes: HTMLElement[], update: () => void}} Picker */

/**
 * A slider, a field to type in and the program in words: the one control for programs, whatever their number.
 * @param {number[]} grid
 * @param {import("../selection.js").Selection} selection
 * @returns {Picker}
 */
export function programPicker(grid, selection) {
  return programControl(grid, selection, null, null);
}

/**
 * For a picture that is always of one program.
 * @param {number[]} grid
 * @param {import("../selection.js").Selection} selection
 * @param {() => number} shown the program that is shown while none is picked
 * @param {number[] | null} kept the programs, ascending, that alone can be shown
 * @returns {Picker}
 */
export function oneProgramPicker(grid, selection, shown, kept = null) {
  return programControl(grid, selection, shown, kept);
}

/**
 * @param {number[]} grid
 * @param {import("../selection.js").Selection} selection
 * @param {(() => number) | null} shown
 * @param {number[] | null} kept
 * @returns {Picker}
 */
function programControl(grid, selection, shown, kept) {
  const count = grid[0] * grid[1] * grid[2];
  const steps = kept?.length ?? count;
  const picked = () => selection.get().program ?? shown?.() ?? null;
  const wrong = make("span", { class: "tl-wrong", role: "alert" });
  const swatch = make("span", { class: "tl-swatch tl-of-program", "aria-hidden": "true" });
  const told = make("output", { class: "tl-told" });
  const slider = make("input", {
    type: "range", min: shown ? 0 : -1, max: steps - 1, step: 1, "aria-label": tr("program"),
    oninput: () => {
      const at = Number(slider.value);
      selection.set({ program: at < 0 ? null : kept?.[at] ?? at });
      write(); // a wrong word in the field goes
    },
  });
  // Its own name distinguishes it from the slider.
  const field = make("input", {
    type: "text", class: "tl-count tl-typed", "aria-label": tr("number or place"), "aria-invalid": "false", autocomplete: "off", spellcheck: "false",
    placeholder: grid[1] > 1 || grid[2] > 1 ? tr("number or x, y, z") : tr("number"), title: tr("a number, such as 5, or a place, such as (3, 0, 0); then press Enter"),
    onchange: () => take(),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return; // the notebook's
      if (event.key === "Enter") take();
      else if (event.key === "Escape") write();
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
  });
  const complain = (/** @type {string} */ words) => {
    wrong.textContent = words;
    field.setAttribute("aria-invalid", String(words !== ""));
  };
  /** @type {number | null | undefined} the program that the field was written for */
  let seen;
  const write = () => {
    seen = picked();
    field.value = seen === null ? "" : writtenProgram(seen, grid);
    complain("");
  };
  const take = () => {
    const found = programIn(field.value, grid);
    if ("wrong" in found) return complain(found.wrong);
    if (found.program !== null && kept && !kept.includes(found.program)) return complain(notKept(found.program, grid, kept.length));
    selection.set({ program: found.program });
    write();
  };
  const update = () => {
    const program = picked();
    const at = program === null ? -1 : kept ? kept.indexOf(program) : program;
    slider.value = String(at);
    told.textContent = program === null ? tr("all {count}", { count: countOf(count, "program") }) : callProgram(program, grid);
    swatch.setAttribute("style", program === null ? "display:none" : `background:${programPaint(program, count)}`);
    if (program !== seen) write(); // what is being typed stays when something else is picked
  };
  const nodes = steps > 1 ? [make("label", { class: "tl-slide" }, `${tr("program")} `, slider), field, swatch, told, wrong] : [];
  return { nodes, update };
}

/**
 * @param {number} count
 * @param {import("../selection.js").Selection} selection
 * @returns {Picker}
 */
export function iterationPicker(count, selection) {
  return picker(
    count, selection,
    (iteration) => (iteration === null ? tr("all {count}", { count: countOf(count, "iteration") }) : tr("iteration {number}", { number: iteration })),
  );
}

/**
 * @param {number} count
 * @param {import("../selection.js").Selection} selection
 * @param {(number: number | null) => string} words
 * @returns {Picker}
 */
function picker(count, selection, words) {
  const slider = make("input", {
    type: "range", min: -1, max: count - 1, step: 1, "aria-label": tr("iteration"),
    oninput: () => selection.set({ iteration: Number(slider.value) < 0 ? null : Number(slider.value) }),
  });
  const told = make("output", { class: "tl-told" });
  const nodes = count > 1 ? [make("label", { class: "tl-slide" }, `${tr("iteration")} `, slider), told] : [];
  return {
    nodes,
    update() {
      const number = selection.get().iteration ?? null;
      slider.value = String(number ?? -1);
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

/** The name of a picture's layer in the language of the page. @param {string} name */
export function layerWord(name) {
  const words = {
    count: tr("count"), program: tr("program"), iteration: tr("iteration"), reuse: tr("reuse"), order: tr("order"), wave: tr("wave"),
    lanes: tr("lanes"), bytes: tr("bytes"), iterations: tr("iterations"), shared: tr("shared"), "bytes shared": tr("bytes shared"),
    loads: tr("loads"), stores: tr("stores"), both: tr("both"),
  };
  return Object.hasOwn(words, name) ? words[/** @type {keyof typeof words} */ (name)] : name;
}

/**
 * A radio button whose word is explained.
 * @param {string} group @param {string} name @param {boolean} checked @param {() => void} onchange
 */
export function radioOf(group, name, checked, onchange) {
  const radio = make("input", { type: "radio", name: group, checked, onchange, "aria-label": layerWord(name) });
  const label = make("label", { class: "tl-word" }, radio, layerWord(name));
  explain(label, explanationOf(name), radio);
  return label;
}
