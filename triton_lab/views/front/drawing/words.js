/** Programs and counts in words, as Python's `words` has them. */

import { countedNoun, nounAlone, tr, trn } from "../localization.js";

/**
 * `program (3, 0, 0)`; with its number where that is another one: `program (2, 1, 0), number 5`.
 * @param {number} program
 * @param {number[]} grid
 */
export function callProgram(program, [x, y, z]) {
  const at = [program % x, Math.floor(program / x) % y, Math.floor(program / (x * y))];
  const coordinates = `(${at.join(", ")})`;
  return y > 1 || z > 1 ? tr("program {coordinates}, number {number}", { coordinates, number: program }) : tr("program {coordinates}", { coordinates });
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
 * `1 lane`, `4,096 lanes`; `many` where the plural has more than an s.
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export function countOf(number, one, many = `${one}s`) {
  return tr("{count} {noun}", { count: number.toLocaleString("en-US"), noun: countedNoun(one, many, number) });
}

/**
 * What no picture of the argument `name` has a cell for: lanes that are masked there, and lanes that touch other memory.
 * @param {[outside: number, masked: number]} lanes
 * @param {string} name
 */
export function elsewhereOf([outside, masked], name) {
  return [
    masked ? trn("{count} masked lane is outside {name}", "{count} masked lanes are outside {name}", masked, { count: masked.toLocaleString("en-US"), name }) : "",
    outside ? trn("{count} lane accesses memory outside {name}", "{count} lanes access memory outside {name}", outside, { count: outside.toLocaleString("en-US"), name }) : "",
  ].filter(Boolean);
}

/**
 * Things by their numbers, both ends included: `element 5`, `elements 5 to 9`.
 * @param {number} first
 * @param {number} last
 * @param {string} one
 */
export function numbered(first, last, one) {
  return first === last
    ? tr("{noun} {number}", { noun: nounAlone(one, `${one}s`, 1), number: first })
    : tr("{nouns} {first} to {last}", { nouns: nounAlone(one, `${one}s`, 2), first, last });
}

/**
 * `byte 5`, `bytes 4–7`: those of an element or of a stretch of storage.
 * @param {number} first
 * @param {number} length
 */
export function bytesFrom(first, length) {
  return length === 1 ? tr("byte {number}", { number: first }) : tr("bytes {first}–{last}", { first, last: first + length - 1 });
}

const MOST_RUNS = 16; // of programs that are listed

/**
 * `9 programs: numbers 0–7, 12`: runs of numbers, so many at most.
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
  const words = runs.slice(0, MOST_RUNS).map(([first, last]) => (first === last ? String(first) : `${first}–${last}`));
  if (runs.length > MOST_RUNS) words.push("…");
  return tr("{programs}: numbers {numbers}", { programs: countOf(programs.length, "program"), numbers: words.join(", ") });
}

/** A kind of access in the language of the page. @param {string} kind as scenes have it: `load`, `store`, `atomic` or another */
export function accessWord(kind) {
  const words = { load: tr("load"), store: tr("store"), atomic: tr("atomic") };
  return Object.hasOwn(words, kind) ? words[/** @type {keyof typeof words} */ (kind)] : kind;
}

/**
 * Three digits, or all before the point, as `messages.three_digits` has them: what lies between two goes to the even one.
 * @param {number} value
 */
export function threeDigits(value) {
  if (value >= 999.5) {
    const whole = Math.round(value);
    return (whole - value === 0.5 && whole % 2 ? whole - 1 : whole).toLocaleString("en-US");
  }
  const digits = value.toPrecision(60).replace(/^0\.0*|\.|e.*/g, ""); // all that there are
  const up = Number(value.toPrecision(3));
  if (!/^..[02468]50*$/.test(digits)) return String(up);
  return String(Number((up - 10 ** (Math.floor(Math.log10(value)) - 2)).toPrecision(3)));
}

/** Three digits and a prefix, before a unit: `1.5 T`. @param {number} value */
export function siOf(value) {
  const sizes = /** @type {const} */ ([["P", 1e15], ["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]]);
  const found = sizes.find(([, size]) => value >= size * 0.9995);
  return found ? `${threeDigits(value / found[1])} ${found[0]}` : `${threeDigits(value)} `;
}

/** `96 KiB`: three digits and a unit. @param {number} count */
export function sizeInWords(count) {
  const sizes = /** @type {const} */ ([["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]);
  const found = sizes.find(([, size]) => count >= size);
  return found ? `${threeDigits(count / found[1])} ${found[0]}` : countOf(count, "byte");
}
