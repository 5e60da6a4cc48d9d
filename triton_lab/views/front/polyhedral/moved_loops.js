/**
 * The loops of an order without Python: for one polyhedron with numbers for its parameters. Bounds come from eliminating
 * inner loops (Fourier and Motzkin); those that bound nothing here are left out. Where Python answers, isl writes the loops.
 */

/** @typedef {import("./moved.js").Change} Change */
/** @typedef {import("./moved.js").Unpacked} Unpacked */
/** @typedef {number[]} Row coefficients of the loops and a constant; their sum is at least 0 */
/** @typedef {{name: string, low: Row[], high: Row[]}} Bounded a loop; bounds have a coefficient for itself, too */

const MOST_ROWS = 4000;
const MOST_STEPS = 200_000;

/** @param {number} a @param {number} b @returns {number} */
const gcd = (a, b) => (b ? gcd(b, a % b) : Math.abs(a));

/** Divided by what its coefficients share; the constant is rounded towards the integer points. @param {Row} row */
function reduced(row) {
  const shared = row.slice(0, -1).reduce(gcd, 0);
  return shared > 1 ? row.map((value, k) => (k === row.length - 1 ? Math.floor(value / shared) : value / shared)) : row;
}

/** Without rows that others make needless: of equal coefficients, the tightest. @param {Row[]} rows */
function tightest(rows) {
  /** @type {Map<string, Row>} */
  const found = new Map();
  for (const row of rows.map(reduced)) {
    const key = row.slice(0, -1).join();
    const known = found.get(key);
    if (!known || row[row.length - 1] < known[known.length - 1]) found.set(key, row);
  }
  return [...found.values()];
}

/** The rows without loop `k`: each lower bound with each upper bound. @param {Row[]} rows @param {number} k @returns {Row[] | null} */
function without(rows, k) {
  const made = rows.filter((row) => row[k] === 0);
  const [low, high] = [rows.filter((row) => row[k] > 0), rows.filter((row) => row[k] < 0)];
  for (const a of low) for (const b of high) made.push(a.map((value, at) => value * -b[k] + b[at] * a[k]));
  return made.length > MOST_ROWS ? null : tightest(made);
}

/** The value of a row at the loops' values, without loop `k`. @param {Row} row @param {number[]} at @param {number} k */
const restOf = (row, at, k) => at.reduce((sum, value, c) => (c < k ? sum + row[c] * value : sum), row[row.length - 1]);

/** @param {Row} row @param {number[]} at @param {number} k */
export const leastOf = (row, at, k) => Math.ceil(-restOf(row, at, k) / row[k]) + 0;
/** @param {Row} row @param {number[]} at @param {number} k */
export const greatestOf = (row, at, k) => Math.floor(restOf(row, at, k) / -row[k]) + 0;

/** The bounds that decide somewhere: fewest, one by one. @param {Row[]} rows @param {number[][]} prefixes @param {(row: Row, at: number[]) => number} value @param {(...values: number[]) => number} best */
function deciding(rows, prefixes, value, best) {
  const wanted = prefixes.map((at) => best(...rows.map((row) => value(row, at))));
  let left = rows;
  for (const row of rows) {
    const fewer = left.filter((one) => one !== row);
    if (fewer.length && prefixes.every((at, p) => best(...fewer.map((one) => value(one, at))) === wanted[p])) left = fewer;
  }
  return left;
}

/**
 * The loops of a change, outermost first; null where they cannot be written here.
 * @param {Unpacked} moves @param {Change} change @returns {{loops: Bounded[], values: Row[]} | null} and each base loop's time in them
 */
export function boundsOf({ loops, rows }, { order, skews, sizes }) {
  if (!rows.length) return null;
  const tiled = order.filter((k) => sizes[k]);
  const names = [...tiled.map((k) => `${loops[k].name}o`), ...order.map((k) => (sizes[k] ? `${loops[k].name}i` : loops[k].name))];
  const wide = names.length + 1;
  const zero = () => /** @type {Row} */ (Array(wide).fill(0));
  // The skewed time of each loop, then, skew by skew from the last on, its own.
  const values = loops.map((_, k) => {
    const row = zero();
    row[tiled.length + order.indexOf(k)] = 1;
    if (sizes[k]) row[tiled.indexOf(k)] = sizes[k];
    return row;
  });
  for (const [loop, by, factor] of [...skews].reverse()) values[loop] = values[loop].map((value, c) => value - factor * values[by][c]);
  /** @type {Row[] | null} */
  let every = rows.map((row) => {
    const made = zero();
    row.forEach((factor, k) => (k === loops.length ? (made[wide - 1] += factor) : values[k].forEach((value, c) => (made[c] += factor * value))));
    return made;
  });
  for (const k of tiled) {
    const [low, high] = [zero(), zero()];
    low[tiled.length + order.indexOf(k)] = 1;
    high[tiled.length + order.indexOf(k)] = -1;
    high[wide - 1] = sizes[k] - 1;
    every.push(low, high);
  }
  every = tightest(every);
  /** @type {Bounded[]} */
  const found = [];
  for (let k = names.length - 1; k >= 0; k--) {
    /** @type {Row[]} */
    const here = /** @type {Row[]} */ (every);
    found.unshift({ name: names[k], low: here.filter((row) => row[k] > 0), high: here.filter((row) => row[k] < 0) });
    if (!found[0].low.length || !found[0].high.length) return null;
    every = without(here, k);
    if (!every) return null;
  }
  return trimmed(found) ? { loops: found, values } : null;
}

/** Leave out the bounds that never decide; whether that took few steps. @param {Bounded[]} loops */
function trimmed(loops) {
  /** @type {number[][]} */
  let prefixes = [[]];
  for (const [k, loop] of loops.entries()) {
    loop.low = deciding(loop.low, prefixes, (row, at) => leastOf(row, at, k), Math.max);
    loop.high = deciding(loop.high, prefixes, (row, at) => greatestOf(row, at, k), Math.min);
    prefixes = prefixes.flatMap((at) => valuesOf(loop, at, k).map((value) => [...at, value]));
    if (prefixes.length > MOST_STEPS) return false;
  }
  return true;
}

/** The values of loop `k` inside others. @param {Bounded} loop @param {number[]} at @param {number} k */
export function valuesOf({ low, high }, at, k) {
  const from = Math.max(...low.map((row) => leastOf(row, at, k)));
  const to = Math.min(...high.map((row) => greatestOf(row, at, k)));
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, value) => from + value);
}

/** A sum in words. @param {Row} row @param {string[]} names */
export function sumOf(row, names) {
  const parts = names.flatMap((name, k) => (row[k] ? [{ factor: row[k], name }] : []));
  /** @type {string[]} */
  const told = [];
  for (const { factor, name } of parts.sort((a, b) => Number(b.factor > 0) - Number(a.factor > 0))) {
    const size = Math.abs(factor) === 1 ? name : `${Math.abs(factor)} * ${name}`;
    told.push(told.length ? `${factor < 0 ? "-" : "+"} ${size}` : factor < 0 ? `-${size}` : size);
  }
  const constant = row[row.length - 1];
  if (constant || !told.length) told.push(told.length ? `${constant < 0 ? "-" : "+"} ${Math.abs(constant)}` : String(constant));
  return told.join(" ");
}

/** How a language writes quotients, rounded up and down, and a loop. @type {Record<string, {up: (sum: string, by: number) => string, down: (sum: string, by: number) => string, loop: (name: string, from: string, to: string, mark: boolean) => string}>} */
const WRITTEN_IN = {
  c: {
    up: (sum, by) => `ceild(${sum}, ${by})`, down: (sum, by) => `floord(${sum}, ${by})`,
    loop: (name, from, to, mark) => `${mark ? "parallel " : ""}for (int ${name} = ${from}; ${name} <= ${to}; ${name}++)`,
  },
  python: {
    up: (sum, by) => `-((${sum}) // -${by})`, down: (sum, by) => `(${sum}) // ${by}`,
    loop: (name, from, to, mark) => `for ${name} in ` + `range(${from}, ${to} + 1):${mark ? "  # parallel" : ""}`,
  },
};

/** A bound in words: the value that a row allows for loop `k`. @param {Row} row @param {number} k @param {string[]} names @param {(sum: string, by: number) => string} rounded */
function boundOf(row, k, names, rounded) {
  const by = Math.abs(row[k]);
  const sum = sumOf(row.map((value, c) => (c === k ? 0 : row[k] > 0 ? 0 - value : value)), names);
  return by === 1 ? sum : rounded(sum, by);
}

/** A statement with sums in place of its iterators, in brackets where its neighbours bind tighter. @param {string} text @param {Map<string, string>} values */
export function substituted(text, values) {
  return text.replace(/[A-Za-z_]\w*/g, (name, /** @type {number} */ at) => {
    const sum = values.get(name);
    const after = text.slice(at + name.length).trimStart();
    if (sum === undefined || sum === name || /^[[(]/.test(after)) return name;
    const bare = /^\w+$/.test(sum) || (/(^|[[(,=+])$/.test(text.slice(0, at).trimEnd()) && /^([\]),;+-]|$)/.test(after));
    return bare ? sum : `(${sum})`;
  });
}

/** @param {string} best @param {string[]} bounds */
const bestOf = (best, bounds) => (bounds.length === 1 ? bounds[0] : `${best}(${bounds.join(", ")})`);

/** The loops of a change and the statement of each line, null where they cannot be written here. @param {Unpacked} moves @param {Change} change */
export function loopsOf(moves, change) {
  const found = boundsOf(moves, change);
  if (!found) return null;
  const { loops, values } = found;
  const names = loops.map(({ name }) => name);
  const { up, down, loop: written } = WRITTEN_IN[moves.language];
  const indent = moves.language === "c" ? "  " : "    ";
  const lines = loops.map(({ name, low, high }, k) => {
    const mark = moves.loops.some((loop) => loop.name === name && loop.parallel);
    const [from, to] = [bestOf("max", low.map((row) => boundOf(row, k, names, up))), bestOf("min", high.map((row) => boundOf(row, k, names, down)))];
    return indent.repeat(k) + written(name, from, to, mark);
  });
  const several = moves.bodies.length > 1 && moves.language === "c";
  if (several) lines[lines.length - 1] += " {";
  const runs = lines.map(() => "");
  moves.bodies.forEach(([text, iterators], k) => {
    const sums = iterators.map(([name, row]) => {
      const made = Array(names.length + 1).fill(0);
      row.forEach((factor, at) => (at === moves.loops.length ? (made[names.length] += factor) : values[at].forEach((value, c) => (made[c] += factor * value))));
      return /** @type {[string, string]} */ ([name, sumOf(made, names)]);
    });
    runs.push(moves.statements[k]);
    lines.push(indent.repeat(names.length) + substituted(text, new Map(sums)) + (moves.language === "c" ? ";" : ""));
  });
  if (several) lines.push(`${indent.repeat(names.length - 1)}}`);
  return { program: lines.join("\n"), runs };
}
