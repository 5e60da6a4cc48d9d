/** A drawing in space while a reader turns it: what `solid.py` makes of it from one angle. */

import { numbers, packedNumbers } from "./data.js";

/** @typedef {[number, number]} Spot pixels */
/** @typedef {import("../scenes.js").DrawingScene} Drawing */
/** @typedef {import("../scenes.js").SolidScene["items"][number]} Item */
/** @typedef {Extract<Item, {what: "axes"}>} Axes */

const BESIDE_TIP = 14; // pixels, as are these: see `solid.py`
const CLEAR_OF_AXES = 6;
const PAST_TIP = 30;
const NUMBER = 8.5; // points
const BESIDE_AXIS = 18;
const LEAST_APART = 15;

/** An orthographic view: the first coordinate goes up, the second to the right, the third towards the reader. */
export class Orthographic {
  /** @param {number[]} middle what is seen at the pixel `centre` @param {Spot} centre @param {number} unit pixels */
  constructor(middle, centre, unit) {
    this.middle = middle;
    this.centre = centre;
    this.unit = unit;
    this.azimuth = 0;
    this.elevation = 0;
    /** To the right, up and towards the reader. @type {number[][]} */
    this.rows = [];
    this.turn(28, 22);
  }

  /** @param {number} azimuth @param {number} elevation degrees */
  turn(azimuth, elevation) {
    this.azimuth = azimuth;
    this.elevation = Math.max(-89, Math.min(89, elevation));
    const [a, e] = [this.azimuth, this.elevation].map((degrees) => (degrees * Math.PI) / 180);
    this.rows = [
      [0, Math.cos(a), -Math.sin(a)],
      [Math.cos(e), -Math.sin(e) * Math.sin(a), -Math.sin(e) * Math.cos(a)],
      [Math.sin(e), Math.cos(e) * Math.sin(a), Math.cos(e) * Math.cos(a)],
    ];
  }

  /** @param {ArrayLike<number>} places @param {number} [at] where the place starts @returns {Spot} */
  spot(places, at = 0) {
    const [right, up] = this.rows.map((row) => row.reduce((sum, part, k) => sum + part * (places[at + k] - this.middle[k]), 0));
    return [this.centre[0] + right * this.unit, this.centre[1] - up * this.unit];
  }

  /** @param {ArrayLike<number>} places @param {number} at */
  place(places, at) {
    const [x, y] = this.spot(places, at);
    return { x, y };
  }

  /** How near to the reader a place is. @param {ArrayLike<number>} places @param {number} at */
  depth(places, at) {
    return this.rows[2].reduce((sum, part, k) => sum + part * places[at + k], 0);
  }
}

/**
 * What is seen of a solid.
 * @param {import("../scenes.js").SolidScene} solid @param {Orthographic} view
 * @returns {Drawing}
 */
export function seenOf({ width, height, items }, view) {
  const axes = items.find((item) => item.what === "axes");
  return { kind: "drawing", width, height, items: items.flatMap((item) => itemsSeen(item, view, axes)), source: "", label: "" };
}

/** @param {Item} item @param {Orthographic} view @param {Axes | undefined} axes @returns {Drawing["items"]} */
function itemsSeen(item, view, axes) {
  if (item.what === "axes") {
    const ends = axisEnds(item, view);
    const { colour, size } = item;
    const named = item.names.flatMap((text, k) => {
      const [start, tip] = ends[k];
      const long = Math.hypot(tip[0] - start[0], tip[1] - start[1]);
      const [x, y] = [0, 1].map((c) => tip[c] + ((tip[c] - start[c]) / long) * BESIDE_TIP);
      return long > BESIDE_TIP ? [wordsAt(text, x, y, size, "ink")] : [];
    });
    return [{ what: "arrows", ends: floatsOf(ends.flat(2)), colour, width: 1, head: 9, gap: 0, dashes: [], beside: 0 }, ...named, ...numbersOf(item, view)];
  }
  if (item.what === "face") {
    const { fill, opacity, edge, edgeOpacity } = item;
    const corners = [item.corners.map((corner) => view.spot(corner))];
    return [{ what: "polygons", corners, fill, opacity, edge: "none", line: 0 }, { what: "polygons", corners, fill: "none", opacity: edgeOpacity, edge, line: 1 }];
  }
  if (item.what === "circles") {
    const { radius, ring, line, shift, piled } = item;
    const places = numbers(item.places);
    const depths = Float64Array.from({ length: places.length / 3 }, (_, k) => view.depth(places, 3 * k));
    const order = [...depths.keys()].sort((a, b) => depths[a] - depths[b]);
    const centres = order.flatMap((k) => movedSpot(view.spot(places, 3 * k), shift));
    return [{ what: "circles", centres: floatsOf(centres), radius, fills: [item.fill], which: { type: "u1", bytes: new Uint8Array() }, ring, line, piled }];
  }
  if (item.what === "arrows") {
    const { what, shifts, ...look } = item;
    const places = numbers(item.ends);
    const ends = Array.from({ length: places.length / 3 }, (_, k) => movedSpot(view.spot(places, 3 * k), shifts[k % 2]));
    return [{ ...look, what, ends: floatsOf(ends.flat()) }];
  }
  return namesSeen(item, view, axes ? axisEnds(axes, view) : []);
}

/** Names outside of a body. @param {Extract<Item, {what: "names"}>} item @param {Orthographic} view @param {[Spot, Spot][]} axes */
function namesSeen({ names, corners, size, colour, room }, view, axes) {
  const body = corners.map((corner) => view.spot(corner));
  const middle = [0, 1].map((c) => body.reduce((sum, spot) => sum + spot[c], 0) / body.length);
  return names.flatMap(([text, place, wide]) => {
    const away = view.spot(place).map((v, c) => v - middle[c]);
    const long = Math.hypot(...away);
    if (long < 1) return []; // the place is seen in the middle of the body
    const along = away.map((v) => v / long);
    const reach = Math.max(...body.map((spot) => (spot[0] - middle[0]) * along[0] + (spot[1] - middle[1]) * along[1]));
    const far = reach + room + wide * Math.abs(along[0]);
    const [x, y] = besideAxes(middle.map((v, c) => v + along[c] * far), [wide, size * 0.7], axes);
    return [{ ...wordsAt(text, x, y, size, colour), halo: "ground" }];
  });
}

/** Where a name of this half width and height is off the axes that it crosses. @param {number[]} at @param {number[]} half @param {[Spot, Spot][]} axes */
function besideAxes(at, half, axes) {
  for (const [start, end] of axes) {
    const long = Math.hypot(end[0] - start[0], end[1] - start[1]) || 1e-9;
    const way = [0, 1].map((c) => (end[c] - start[c]) / long);
    const from = at.map((v, c) => v - start[c]);
    const [along, away] = [from[0] * way[0] + from[1] * way[1], from[1] * way[0] - from[0] * way[1]];
    const need = Math.abs(way[1]) * half[0] + Math.abs(way[0]) * half[1] + CLEAR_OF_AXES;
    if (along <= 0 || along >= long + PAST_TIP || Math.abs(away) >= need) continue;
    const step = (away < 0 ? -need : need) - away;
    at = [at[0] - way[1] * step, at[1] + way[0] * step];
  }
  return at;
}

/** The numbers along the axes: `SolidAxes.numbers`. @param {Axes} axes @param {Orthographic} view @returns {Drawing["items"]} */
function numbersOf(axes, view) {
  const { low, high } = axes;
  const middle = view.spot(low.map((from, k) => (from + high[k]) / 2));
  return axisEnds(axes, view).flatMap(([start, tip], axis) => {
    const long = Math.hypot(tip[0] - start[0], tip[1] - start[1]);
    const apart = long / (high[axis] - low[axis]);
    const steps = [1, 10, 100, 1000, 10000].flatMap((power) => [power, 2 * power, 5 * power]);
    const step = steps.find((s) => s * apart >= LEAST_APART);
    if (!step || apart * 10000 < LEAST_APART) return []; // the axis points at the reader
    const way = [(tip[0] - start[0]) / long, (tip[1] - start[1]) / long];
    const off = -way[1] * (middle[0] - start[0]) + way[0] * (middle[1] - start[1]) > 0 ? -BESIDE_AXIS : BESIDE_AXIS;
    /** @type {Drawing["items"]} */
    const found = [];
    let first = Math.ceil(low[axis] / step) * step;
    if (axis && first === low[axis] && first === low[0]) first += step; // one number is enough
    for (let number = first; number < Math.ceil(high[axis]); number += step) {
      const along = apart * (number - low[axis]);
      const [x, y] = [start[0] + way[0] * along - way[1] * off, start[1] + way[1] * along + way[0] * off];
      found.push({ ...wordsAt(String(number), x, y, NUMBER, "faint"), halo: "ground" });
    }
    return found;
  });
}

/** From the lowest place to the tip of each axis. @param {Axes} axes @param {Orthographic} view @returns {[Spot, Spot][]} */
const axisEnds = ({ low, high }, view) => low.map((_, d) => [view.spot(low), view.spot(low.map((v, k) => (k === d ? high[k] : v)))]);

/** @param {string} text @param {number} x @param {number} y @param {number} size @param {string} colour */
export const wordsAt = (text, x, y, size, colour) => ({ what: /** @type {const} */ ("words"), x, y, text, size, colour, align: /** @type {const} */ ("center"), bold: false, mono: false });

/** @param {Spot} spot @param {Spot} shift @returns {Spot} */
const movedSpot = (spot, shift) => [spot[0] + shift[0], spot[1] + shift[1]];

/** @param {number[]} places */
const floatsOf = (places) => packedNumbers(Float32Array.from(places));
