/** The user's place in a card, so that the card that replaces it opens there. */

import { tr } from "./localization.js";

/**
 * `asked` is what the cell asked for by `--show`; `chosen` has, for each choice, the label and which it is of those
 * that differ in their lines alone; `said` is what the picked line
 * said, and which it was of the `alike` lines with its kinds of accesses. `source`: whether it stands open. `earlier`: it was left by a run before.
 * Of many launches, `launch` is shown, and `each` has their own. `keyboard` is the control that had it when the picture
 * was taken out: its name, and which it was of those called so.
 * `moved` is the order that was made of a nest's loops.
 * @typedef {{
 *   kernel?: string,
 *   asked?: string,
 *   tab?: string,
 *   chosen?: Record<string, {label: string, rank: number}>,
 *   layers?: Record<string, string>,
 *   picked?: import("./scenes.js").Picked,
 *   source?: boolean,
 *   said?: {text: string, kinds: string, rank: number, alike: number},
 *   earlier?: boolean,
 *   launch?: number,
 *   each?: Record<number, Place>,
 *   keyboard?: {name: string, rank: number},
 *   moved?: import("./polyhedral/moved.js").Change,
 * }} Place
 */
/** @typedef {import("./scenes.js").CardScene} CardScene */
/** @typedef {import("./selection.js").Picked} Picked */

/** @param {CardScene} scene */
export const kernelOf = ({ title }) => title.slice(0, title.lastIndexOf("["));

/** What a scene's place is kept by, beside its cell. @param {import("./scenes.js").Scene} scene */
export const placeName = (scene) => (scene.kind === "card" ? `card ${kernelOf(scene)}` : scene.kind);

/** Whether something is wrong with a launch that is to be seen first. @param {CardScene} scene */
export const isFaulty = (scene) => Boolean(scene.failure) || scene.findings.some(({ severity }) => severity === "error");

/** The place as the next run finds it. @param {Place} place @returns {Place} */
export function leftBehind(place) {
  place.earlier = true;
  for (const one of Object.values(place.each ?? {})) one.earlier = true;
  return place;
}

/** For another kernel, or where the cell asks for another picture, nothing is kept. @param {Place} place @param {CardScene} scene */
export function fitPlace(place, scene) {
  const kernel = kernelOf(scene);
  const asked = scene.show.join();
  if ((place.kernel ?? kernel) !== kernel) for (const key of /** @type {const} */ (["chosen", "layers", "picked", "said"])) delete place[key];
  if ((place.asked ?? asked) !== asked) delete place.tab;
  Object.assign(place, { kernel, asked });
}

/** What was picked, as far as the new launch has it. @param {Place} place @param {CardScene} scene @returns {Picked} */
export function pickedAgain({ picked = {}, said }, scene) {
  const { program, iteration, step } = picked;
  const programs = scene.grid[0] * scene.grid[1] * scene.grid[2];
  /** @type {Picked} */
  const found = {};
  if (program != null && program < programs) found.program = program;
  if (iteration != null) found.iteration = iteration;
  if (step != null && found.program !== undefined) found.step = step;
  const line = lineAgain(scene, picked.line ?? null, said);
  if (line !== null) found.line = line;
  return found;
}

/**
 * The line that says what the picked one said, the nearest of several: editing moves lines. Was it the line that was
 * edited, then the one that does the same, where as many do.
 * @param {CardScene} scene @param {number | null} line @param {Place["said"]} said
 */
function lineAgain({ source }, line, said) {
  if (line === null || said === undefined) return null;
  const same = source.lines.flatMap(([text], k) => (text.trim() === said.text ? [source.first + k] : []));
  const [nearest] = same.sort((a, b) => Math.abs(a - line) - Math.abs(b - line));
  if (nearest !== undefined) return nearest;
  const alike = linesWith(source, said.kinds);
  return alike.length === said.alike ? alike[said.rank] : null;
}

/** The lines with these kinds of accesses; none without any. @param {CardScene["source"]} source @param {string} kinds */
const linesWith = (source, kinds) => source.lines.flatMap((line, k) => (kinds && line[1].join() === kinds ? [source.first + k] : []));

/** Write down what is picked. @param {Place} place @param {CardScene} scene @param {Picked} now */
export function notePicked(place, { source }, { program, iteration, step, line }) {
  place.picked = { program, iteration, step, line };
  const said = line == null ? undefined : source.lines[line - source.first];
  if (line == null || !said) return void delete place.said;
  const alike = linesWith(source, said[1].join());
  place.said = { text: said[0].trim(), kinds: said[1].join(), rank: alike.indexOf(line), alike: alike.length };
}

/** A label without its line numbers, which editing changes. @param {string} label */
const stemOf = (label) => label.replace(/ \d+\b/g, "");

/**
 * Which of a choice's items was chosen; null where none was, or it is gone.
 * @param {Place} place @param {import("./scenes.js").ItemScene[]} items @returns {number | null}
 */
export function chosenAgain(place, items) {
  const chosen = place.chosen?.[choiceName(items)];
  if (!chosen) return null;
  const alike = items.flatMap((item, k) => (stemOf(item.label) === stemOf(chosen.label) ? [k] : []));
  return alike[Math.min(chosen.rank, alike.length - 1)] ?? null;
}

/** Write down which is chosen. @param {Place} place @param {import("./scenes.js").ItemScene[]} items @param {number} number */
export function noteChosen(place, items, number) {
  const { label } = items[number];
  const rank = items.slice(0, number).filter((item) => stemOf(item.label) === stemOf(label)).length;
  place.chosen = { ...place.chosen, [choiceName(items)]: { label, rank } };
}

/** @param {import("./scenes.js").ItemScene[]} items */
const choiceName = (items) => items[0].name.split("/")[0];

/**
 * Where that is, in words; "" if there is none.
 * @param {Place} place @param {CardScene} scene @param {(program: number, grid: number[]) => string} callProgram
 */
export function placeWords(place, scene, callProgram) {
  const { program, line } = pickedAgain(place, scene);
  const tab = place.tab === "findings" ? tr("Findings") : scene.tabs.find(({ name }) => name === place.tab)?.label;
  const first = place.tab === undefined ? undefined : place.chosen?.[place.tab]?.label;
  const told = [tab, first, program == null ? "" : callProgram(program, scene.grid), line == null ? "" : tr("line {number}", { number: line })];
  return told.filter(Boolean).join(" · ");
}
