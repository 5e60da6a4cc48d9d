/** Programs and counts in words, as Python's `words` has them. */

/**
 * `program (3, 0, 0)`; with its number where that is another one: `program (2, 1, 0), number 5`.
 * @param {number} program
 * @param {number[]} grid
 */
export function callProgram(program, [x, y, z]) {
  const at = [program % x, Math.floor(program / x) % y, Math.floor(program / (x * y))];
  return `program (${at.join(", ")})${y > 1 || z > 1 ? `, number ${program}` : ""}`;
}

/**
 * The shortest that tells a program apart: `3`, or `1,2` in a grid of two axes.
 * @param {number} program
 * @param {number[]} grid
 */
export function markOf(program, [x, y, z]) {
  if (y === 1 && z === 1) return String(program);
  const at = [program % x, Math.floor(program / x) % y, Math.floor(program / (x * y))];
  return at.slice(0, z === 1 ? 2 : 3).join(",");
}

/**
 * What stands in a cell for its programs: `3`, or how many share it.
 * @param {number[]} programs
 * @param {number[]} grid
 */
export const programsMark = (programs, grid) =>
  programs.length > 1 ? `×${programs.length}` : programs.length ? markOf(programs[0], grid) : "";

/**
 * `1 lane`, `4,096 lanes`.
 * @param {number} number
 * @param {string} one
 */
export function countOf(number, one) {
  return `${number.toLocaleString("en-US")} ${one}${number === 1 ? "" : "s"}`;
}

/**
 * `9 programs: numbers 0–7, 12`: runs of numbers, at most six of them.
 * @param {number[]} programs ascending
 * @param {number[]} grid
 */
export function listPrograms(programs, grid) {
  if (programs.length === 1) return callProgram(programs[0], grid);
  /** @type {[number, number][]} */
  const runs = [];
  for (const program of programs) {
    const last = runs[runs.length - 1];
    if (last && last[1] === program - 1) last[1] = program;
    else runs.push([program, program]);
  }
  const words = runs.slice(0, 6).map(([first, last]) => (first === last ? String(first) : `${first}–${last}`));
  if (runs.length > 6) words.push("…");
  return `${countOf(programs.length, "program")}: numbers ${words.join(", ")}`;
}
