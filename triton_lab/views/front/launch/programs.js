/** The programs of a launch: the colour of each in every picture, and a program chosen by its number or place as text. */

import { STYLE } from "../drawing/style.js";
import { callProgram, countOf } from "../drawing/words.js";
import { tr } from "../localization.js";

/**
 * The palette index of a program: as `program_colours` of `style.py` has it.
 * @param {number} program
 * @param {number} count how many programs the launch has
 */
export function programColour(program, count) {
  const { few, start, ramp, levels } = STYLE.programs;
  return count <= few ? start + program : ramp + Math.floor(((levels - 1) * program) / (count - 1));
}

/** `rgb(r, g, b)` of a program. @param {number} program @param {number} count */
export function programPaint(program, count) {
  const at = 3 * programColour(program, count);
  return `rgb(${STYLE.themes.light.palette.slice(at, at + 3).join(", ")})`; // the same in both themes
}

/**
 * As a program is written in the field: its number, or its place where the grid has several axes.
 * @param {number} program
 * @param {number[]} grid
 */
export function writtenProgram(program, [x, y, z]) {
  if (y === 1 && z === 1) return String(program);
  return `(${program % x}, ${Math.floor(program / x) % y}, ${Math.floor(program / (x * y))})`;
}

/**
 * The program that `5`, `(3, 0, 0)`, `3,0` or `program (3, 0, 0)` means, `null` for nothing and for `all`, or what is wrong.
 * @param {string} text
 * @param {number[]} grid
 * @returns {{program: number | null} | {wrong: string}}
 */
export function programIn(text, grid) {
  const words = text.trim().replace(/^programs?\s*/i, "").trim();
  if (words === "" || /^all\b/i.test(words)) return { program: null };
  const open = words.startsWith("(");
  const inner = open && words.endsWith(")") ? words.slice(1, -1) : words;
  const parts = inner.split(/\s*,\s*|\s+/).filter((part, k, all) => part !== "" || k < all.length - 1); // (3,) is a tuple of Python
  const several = grid[1] > 1 || grid[2] > 1;
  if (open !== words.endsWith(")") || !parts.length || parts.length > 3 || !parts.every((part) => /^-?\d{1,15}$/.test(part))) {
    return { wrong: tr("Write a program's number, such as {number}, or its place, such as (0, 0, 0).", { number: several ? 1 : 0 }) };
  }
  const at = parts.map(Number);
  if (at.length === 1 && !open) {
    const count = grid[0] * grid[1] * grid[2];
    if (at[0] >= 0 && at[0] < count) return { program: at[0] };
    return { wrong: tr("No program has number {number}: the grid {grid} has {programs}, counted from 0.", { number: at[0], grid: `(${grid.join(", ")})`, programs: countOf(count, "program") }) };
  }
  const place = [at[0], at[1] ?? 0, at[2] ?? 0];
  const axis = place.findIndex((value, k) => value < 0 || value >= grid[k]);
  if (axis >= 0) {
    const values = { coordinates: `(${place.join(", ")})`, axis: "xyz"[axis], last: grid[axis] - 1, grid: `(${grid.join(", ")})` };
    return { wrong: grid[axis] === 1
      ? tr("There is no program {coordinates}: {axis} is always 0 in the grid {grid}.", values)
      : tr("There is no program {coordinates}: {axis} goes from 0 to {last} in the grid {grid}.", values) };
  }
  return { program: place[0] + grid[0] * (place[1] + grid[1] * place[2]) };
}

/**
 * Why a program that there is cannot be shown.
 * @param {number} program
 * @param {number[]} grid
 * @param {number} kept how many are in the picture
 */
export function notKept(program, grid, kept) {
  return tr("This picture has {programs}, not {program}. Call values(..., programs=[{number}]).", {
    program: callProgram(program, grid), programs: countOf(kept, "program"), number: program,
  });
}
