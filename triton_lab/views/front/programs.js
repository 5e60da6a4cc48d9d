/** Programs in words. */

/**
 * @param {number} program
 * @param {number[]} grid
 */
function coordinates(program, [x, y, z]) {
  const all = [program % x, Math.floor(program / x) % y, Math.floor(program / (x * y))];
  return z > 1 ? all : all.slice(0, y > 1 ? 2 : 1);
}

/**
 * `program 3`, or `program 5 (1, 2)` in a grid of several dimensions.
 * @param {number} program
 * @param {number[]} grid
 */
export function callProgram(program, grid) {
  const at = coordinates(program, grid);
  return at.length > 1 ? `program ${program} (${at.join(", ")})` : `program ${program}`;
}

/**
 * `programs 0–7, 12 (9)`: runs of numbers, at most six of them.
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
  return `${programs.length} programs: ${words.join(", ")}`;
}
