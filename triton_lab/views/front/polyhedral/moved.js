/** An order that the reader makes of a nest's loops: when each instance runs, and which dependences that breaks. */

import { numbers } from "../drawing/data.js";
import { tr } from "../localization.js";

/**
 * A change of the order, as `LoopMove`: the loops from the outermost on; (loop, by, factor) of each skew, the first
 * first; the size of each loop's tiles, 0 for none.
 * @typedef {{order: number[], skews: [number, number, number][], sizes: number[]}} Change
 * @typedef {import("../scenes.js").MovesScene} Moves
 * @typedef {"reversed" | "tied" | "concurrent" | ""} How a pair is broken; "" where it is kept
 */

export const MOST_FACTOR = 8; // as in `loop_moves.py`

/** The loops with their numbers unpacked. @param {Moves} scene */
export function movesOf(scene) {
  const statement = numbers(scene.statement);
  const pairs = scene.pairs.map((group) => ({ ...group, pairs: numbers(group.pairs) }));
  return { ...scene, count: statement.length, statement, times: numbers(scene.times), rest: numbers(scene.rest), fixed: numbers(scene.fixed), points: numbers(scene.points), pairs };
}
/** @typedef {ReturnType<typeof movesOf>} Unpacked */

/** The change that the picture shows. @param {Moves | Unpacked} moves @returns {Change} */
export const shownChange = ({ loops, sizes }) => ({ order: loops.map((_, k) => k), skews: [], sizes: [...sizes] });

/** @param {Change} change */
export const keyOf = ({ order, skews, sizes }) => `${order.join(".")}/${skews.map((skew) => skew.join(".")).join(",")}/${sizes.join(".")}`;

/** The time of each loop after the skews, as a sum of the loops' own times: its factors. @param {Change} change @returns {number[][]} */
export function skewedRows({ order, skews }) {
  const rows = order.map((_, k) => order.map((_, c) => Number(k === c)));
  for (const [loop, by, factor] of skews) rows[loop] = rows[loop].map((value, c) => value + factor * rows[by][c]);
  return rows;
}

/**
 * The time of each place, row by row. `fixed`: the same, 0 where iterations run at once. Loops over tiles come first.
 * @param {Unpacked} moves @param {Change} change
 */
export function timesOf(moves, change) {
  const { loops, count, rest, fixed: calm } = moves;
  const tiled = change.order.filter((k) => change.sizes[k]);
  const names = [...tiled.map((k) => `${loops[k].name}o`), ...change.order.map((k) => (change.sizes[k] ? `${loops[k].name}i` : loops[k].name)), ...moves.names];
  const wide = names.length;
  const inner = moves.names.length;
  const skewed = skewedRows(change);
  const timeOf = (/** @type {number} */ place, /** @type {number} */ loop) => skewed[loop].reduce((sum, factor, c) => sum + factor * moves.times[place * loops.length + c], 0);
  const [rows, fixed] = [new Int32Array(count * wide), new Int32Array(count * wide)];
  for (let place = 0; place < count; place++) {
    let at = place * wide;
    const put = (/** @type {number} */ value, /** @type {number} */ still) => {
      rows[at] = value;
      fixed[at++] = still;
    };
    for (const k of tiled) {
      const tile = Math.floor(timeOf(place, k) / change.sizes[k]);
      put(tile, tile);
    }
    for (const k of change.order) {
      const time = timeOf(place, k);
      const size = change.sizes[k];
      const within = size ? time - size * Math.floor(time / size) : time;
      // A loop that is split is no longer one that runs at once: `loop_transforms.split`.
      put(within, loops[k].parallel && !size ? 0 : within);
    }
    for (let k = 0; k < inner; k++) put(rest[place * inner + k], calm[place * inner + k]);
  }
  return { names, wide, rows, fixed };
}
/** @typedef {ReturnType<typeof timesOf>} Timed */

/** Which of two rows is earlier: below 0, 0, or above. @param {ArrayLike<number>} rows @param {number} wide @param {number} a @param {number} b */
export function compared(rows, wide, a, b) {
  for (let k = 0; k < wide; k++) {
    const apart = rows[a * wide + k] - rows[b * wide + k];
    if (apart) return apart;
  }
  return 0;
}

/** The places in the order in which they run, and the instant of each. @param {Timed} timed @param {number} count */
export function runOrder({ rows, fixed, wide }, count) {
  const places = [...Array(count).keys()].sort((a, b) => compared(fixed, wide, a, b) || compared(rows, wide, a, b) || a - b);
  const instants = new Uint32Array(count);
  for (let k = 1; k < count; k++) instants[k] = instants[k - 1] + (compared(fixed, wide, places[k - 1], places[k]) ? 1 : 0);
  return { places, instants };
}

/** How an order breaks a pair. @param {Timed} timed @param {number} source @param {number} target @returns {How} */
export function brokenHow({ rows, fixed, wide }, source, target) {
  for (let k = 0; k < wide; k++) {
    const [a, b] = [source * wide + k, target * wide + k];
    if (rows[a] === rows[b]) continue;
    if (fixed[a] === fixed[b]) return "concurrent";
    return rows[a] < rows[b] ? "" : "reversed";
  }
  return "tied";
}

/**
 * The pairs that are kept and broken, group by group, and the first that is broken.
 * @param {Unpacked} moves @param {Timed} timed
 */
export function checked({ pairs }, timed) {
  /** @type {{text: string, source: number, target: number, how: How}[]} */
  const first = [];
  const groups = pairs.map((group) => {
    /** @type {[number[], number[]]} */
    const found = [[], []];
    for (let k = 0; k + 1 < group.pairs.length; k += 2) {
      const [source, target] = [group.pairs[k], group.pairs[k + 1]];
      const how = brokenHow(timed, source, target);
      found[how ? 1 : 0].push(source, target);
      if (!how) continue;
      if (!first.length) first.push({ text: group.text, source, target, how });
    }
    return { group, kept: found[0], broken: found[1] };
  });
  return { groups, first: first[0] ?? null };
}
/** @typedef {ReturnType<typeof checked>} Checked */

/** An instance in words. @param {Unpacked} moves @param {number} place */
export function instanceOf({ statements, statement, points, count, bodies, loops, names }, place) {
  const wide = points.length / count;
  const own = statement[place];
  const size = bodies[own]?.[1].length ?? Math.min(wide, loops.length + names.filter(Boolean).length);
  return `${statements[own]}(${Array.from(points.slice(place * wide, place * wide + size)).join(", ")})`;
}

/** Why an order is illegal, by an instance; "" where it is legal. @param {Unpacked} moves @param {Checked} found */
export function reasonOf(moves, { first }) {
  if (!first) return "";
  const values = { source: instanceOf(moves, first.source), target: instanceOf(moves, first.target) };
  if (first.how === "tied") return tr("{source} must run before {target}, but both run at the same time", values);
  if (first.how === "concurrent") return tr("{source} must run before {target}, but both run at once", values);
  return tr("{source} must run before {target}, but runs after it", values);
}

/** The calls that make the change in Python, "" for none. @param {Unpacked} moves @param {Change} change */
export function callsOf({ loops }, { order, skews, sizes }) {
  const quoted = (/** @type {string[]} */ names) => names.map((name) => `"${name}"`).join(", ");
  const name = (/** @type {number} */ k) => loops[k].name;
  let calls = skews.map(([loop, by, factor]) => `.skew("${name(loop)}", "${name(by)}", ${factor})`).join("");
  if (order.some((k, at) => k !== at)) calls += `.reorder(${quoted(order.map(name))})`;
  const tiled = order.filter((k) => sizes[k]);
  if (tiled.length) calls += `.tile({${tiled.map((k) => `"${name(k)}": ${sizes[k]}`).join(", ")}})`;
  if (tiled.length && tiled.length < order.length) calls += `.reorder(${quoted([...tiled.map((k) => `${name(k)}o`), ...order.map((k) => (sizes[k] ? `${name(k)}i` : name(k)))])})`;
  return calls;
}
