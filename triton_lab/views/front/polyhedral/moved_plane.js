/** The pictures of an order that the reader makes: the plane of time, and what comes over the domain. As `plane_plot.py`. */

import { packedNumbers } from "../drawing/data.js";
import { wordsAt } from "../drawing/solid.js";
import { tr } from "../localization.js";
import { compared } from "./moved.js";

/** @typedef {import("../scenes.js").DrawingScene["items"][number]} Item */
/** @typedef {import("./moved.js").Unpacked} Unpacked */
/** @typedef {import("./moved.js").Timed} Timed */
/** @typedef {import("./moved.js").Checked} Checked */
/** @typedef {import("./moved.js").Change} Change */
/** @typedef {[number, number]} Spot */

const FRAME_SIZE = { across: 440, down: 466, unit: 56 }; // pixels at most; the unit is that of `polyhedral_style.py`
const MARGIN = { under: 58, before: 54, over: 10, after: 40, tip: 9, numbers: 14 }; // as in `plane_plot.py` and `plane_axes.py`
const POINTS = { dimension: 15, tick: 7.5 };
const ROOM = 0.42; // units from the middles of a tile's points to its outline, as in `outlines.py`
const MOST_AT_ONCE = 600; // visits for which instants are marked
const MOST_ARROWS = 3000;
const MOST_TILES = 400;

/** The corners of the convex hull of points, around it. @param {Spot[]} points @returns {Spot[]} */
export function hull(points) {
  const ordered = [...new Map(points.map((point) => [point.join(), point])).values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (ordered.length < 3) return ordered;
  const half = (/** @type {Spot[]} */ every) => {
    /** @type {Spot[]} */
    const chain = [];
    for (const [x, y] of every) {
      while (chain.length > 1) {
        const [[x1, y1], [x0, y0]] = [chain[chain.length - 1], chain[chain.length - 2]];
        if ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > 1e-9) break;
        chain.pop();
      }
      chain.push([x, y]);
    }
    return chain.slice(0, -1);
  };
  return [...half(ordered), ...half([...ordered].reverse())];
}

/** The dimensions of time that vary, in one or two halves; of many, those of loops that run at once go up. @param {Timed} timed @param {number} count */
function axesOf({ rows, fixed, wide }, count) {
  const column = (/** @type {Int32Array} */ from, /** @type {number} */ k) => Array.from({ length: count }, (_, at) => from[at * wide + k]);
  const varying = Array.from({ length: wide }, (_, k) => k).filter((k) => new Set(column(rows, k)).size > 1);
  const atOnce = varying.filter((k) => column(fixed, k).every((value) => value === 0) && column(rows, k).some((value) => value !== 0));
  if (varying.length > 2 && atOnce.length && atOnce.length < varying.length) return [atOnce, varying.filter((k) => !atOnce.includes(k))];
  const half = varying.length >> 1;
  return half ? [varying.slice(0, half), varying.slice(half)] : [varying];
}

/** Each place's coordinate on an axis: the time, or which of the axis's times it is. @param {Timed} timed @param {number[]} axis @param {number} count */
function alongAxis({ rows, wide }, axis, count) {
  const own = Int32Array.from({ length: count * axis.length }, (_, at) => rows[Math.floor(at / axis.length) * wide + axis[at % axis.length]]);
  if (axis.length === 1) return own;
  const ordered = [...Array(count).keys()].sort((a, b) => compared(own, axis.length, a, b));
  const found = new Int32Array(count);
  for (let k = 1; k < count; k++) found[ordered[k]] = found[ordered[k - 1]] + (compared(own, axis.length, ordered[k - 1], ordered[k]) ? 1 : 0);
  return found;
}

/** The distance between numbers in units: 1, 2, 5, 10, ... @param {number} unit */
const tickStep = (unit) => [1, 10, 100, 1000, 10000].flatMap((power) => [power, 2 * power, 5 * power]).find((step) => step * unit >= 14) ?? 100000;

/** About how wide a text is, in pixels. @param {string} text @param {number} size points */
const widthOf = (text, size) => text.length * size * 0.8;

/** @param {string} text @param {Spot} at @param {number} size @returns {Item} */
const spoken = (text, [x, y], size, colour = "ink") => wordsAt(text, x, y, size, colour);

/** @param {number[]} values @param {number} start */
const reach = (values, start) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [start, start]);

/**
 * The plane of time. `colours` of the grid, axes and statements are names with a colour for each theme.
 * @param {Unpacked} moves @param {Timed} timed @param {{places: number[], instants: Uint32Array}} order @param {string[]} shared the statements of the domain, first
 * @param {{grid: string, axis: string, ring: string, statements: string[]}} colours @param {boolean} tiled
 * @returns {import("../scenes.js").PlaneScene}
 */
export function timePlane(moves, timed, order, shared, colours, tiled) {
  const { count, statements, statement } = moves;
  const axes = axesOf(timed, count);
  const coordinates = axes.map((axis) => alongAxis(timed, axis, count));
  const dims = axes.map((axis) => axis.map((k) => timed.names[k] || tr("sequence")).join(", ") || tr("time"));
  const flat = axes.length === 1;
  const [lowX, highX] = reach([...coordinates[axes.length - 1]], coordinates[axes.length - 1][0]);
  const [lowY, highY] = flat ? [0, 0] : reach([...coordinates[0]], coordinates[0][0]);
  const edge = tiled ? 0.5 : 0;
  const [left0, right0, bottom0, top0] = [Math.min(0, lowX), Math.max(highX, 1), Math.min(0, lowY), flat ? 0 : Math.max(highY, 1)];
  const pad = Math.max(1, Math.max(right0 - left0, top0 - bottom0) / 10);
  const [left, right] = [left0 - (left0 < 0 ? 0.6 * pad : edge), right0 + 1.75 * pad];
  const bottom = flat ? -edge : bottom0 - (bottom0 < 0 ? 0.6 * pad : edge);
  const top = flat ? 1 : top0 + 1.75 * pad + 0.4;
  const unit = Math.min(FRAME_SIZE.unit, (FRAME_SIZE.across - MARGIN.before) / (right - left), (FRAME_SIZE.down - MARGIN.under) / (top - bottom));
  const aside = Math.max(40, MARGIN.numbers + 8 + widthOf(dims[0], POINTS.dimension) / 2);
  const before = flat ? MARGIN.before : Math.max(MARGIN.before, aside + widthOf(dims[0], POINTS.dimension) / 2 + 3);
  const spot = (/** @type {number} */ x, /** @type {number} */ y) => /** @type {Spot} */ ([before + (x - left) * unit, MARGIN.over + (top - y) * unit]);
  const rings = unit >= 5;
  const names = [...shared, ...statements.filter((name) => !shared.includes(name))];
  const radius = Math.max(0.35, unit * (rings ? 0.15 * (names.length > 1 ? 0.75 : 1) : 0.4));
  /** @type {Item[]} */
  const items = [];
  const step = tickStep(unit);
  const ticks = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ by) => {
    const found = [];
    for (let at = Math.ceil(from / by) * by; at < to; at += by) found.push(at + 0);
    return found;
  };
  /** @type {[Spot, Spot][]} */
  const rules = [...ticks(left, right, step).map((x) => /** @type {[Spot, Spot]} */ ([spot(x, bottom), spot(x, top)])), ...(flat ? [] : ticks(bottom, top, step).map((y) => /** @type {[Spot, Spot]} */ ([spot(left, y), spot(right, y)])))];
  items.push({ what: "segments", ends: rules, colour: colours.grid, width: 1, dashes: [4, 3] });
  const [x0, y0] = [Math.max(left, 0), Math.max(bottom, 0)];
  const lines = [...spot(left, y0), spot(right, y0)[0] + MARGIN.tip, spot(right, y0)[1]];
  if (!flat) lines.push(...spot(x0, bottom), spot(x0, top)[0], spot(x0, top)[1] - MARGIN.tip);
  items.push({ what: "arrows", ends: packedNumbers(Float32Array.from(lines)), colour: colours.axis, width: 1, head: MARGIN.tip, gap: 0, dashes: [], beside: 0 });
  const [x, y] = spot(left, bottom);
  const [endX, endY] = spot(right, top);
  items.push(spoken(dims[dims.length - 1], [(x + endX) / 2, y + 42], POINTS.dimension));
  if (!flat) items.push(spoken(dims[0], [x - aside, (y + endY) / 2], POINTS.dimension));
  const apart = step * (unit > 24 ? 1 : 2);
  for (const at of ticks(left, right - 0.5, apart)) items.push(spoken(String(at), [spot(at, bottom)[0] - (at === 0 && left === 0 ? 10 : 0), y + 16], at === 0 && left === 0 ? 15 : POINTS.tick, at === 0 && left === 0 ? "ink" : "faint"));
  if (!flat) for (const at of ticks(bottom, top - 0.5, apart)) if (at || bottom < 0) items.push(spoken(String(at), [x - MARGIN.numbers, spot(left, at)[1]], POINTS.tick, "faint"));
  const size = axes.length;
  const position = new Uint32Array(count);
  const layers = names.map((name, k) => {
    const own = [...Array(count).keys()].filter((place) => statements[statement[place]] === name);
    own.forEach((place, at) => (position[place] = at));
    const shift = (k - (names.length - 1) / 2) * unit * (names.length > 1 ? 0.16 : 0);
    const points = Float32Array.from(own.flatMap((place) => coordinates.map((axis) => axis[place])));
    const centres = own.flatMap((place) => {
      const [cx, cy] = spot(coordinates[size - 1][place], flat ? 0 : coordinates[0][place]);
      return [cx + shift, cy - shift];
    });
    items.push({ what: "circles", centres: packedNumbers(Float32Array.from(centres)), radius, fills: [rings ? colours.statements[k % colours.statements.length] : "faint"], which: { type: "u1", bytes: new Uint8Array() }, ring: colours.ring, line: rings ? Math.max(0.3, Math.min(1.5, radius / 4)) : 0 });
    return { name, points: packedNumbers(points), shift: /** @type {Spot} */ ([shift, -shift]) };
  });
  const number = names.map((name) => statements.indexOf(name));
  const visits = Uint32Array.from(order.places.flatMap((place) => [number.indexOf(statement[place]), position[place]]));
  const [originX, originY] = spot(0, 0);
  const instants = order.instants;
  return {
    name: tr("Time"), dims, still: sheetOf(before + MARGIN.after + (right - left) * unit, MARGIN.over + (top - bottom) * unit + MARGIN.under, items), over: null, solid: null, middle: [],
    frame: [originX, originY, unit, radius], layers, lines: [], visits: packedNumbers(visits), places: packedNumbers(Uint32Array.from(order.places)), instants: packedNumbers(instants),
    fronts: new Set(instants).size < count && count <= MOST_AT_ONCE,
  };
}

/** @param {number} width @param {number} height @param {Item[]} items @returns {import("../scenes.js").DrawingScene} */
export const sheetOf = (width, height, items) => ({ kind: "drawing", width, height, items, source: "", label: "" });

/**
 * The tiles, instants and arrows of an order over a picture of it.
 * @param {import("./stage.js").DomainStage} stage @param {Unpacked} moves @param {Change} change @param {Timed} timed @param {Checked} found @param {string} axis the colour of instants
 * @returns {Item[]}
 */
export function overOf(stage, moves, change, timed, found, axis) {
  if (stage.space) return [];
  const spots = new Map([...stage.turns].map(([place, v]) => [place, stage.centre(stage.visits[2 * v], stage.visits[2 * v + 1])]));
  const unit = stage.scene.frame[2];
  return [...tilesOf(spots, moves, change, timed, unit), ...instantsOf(stage, axis), ...arrowsOf(spots, moves, found, unit, stage.radius)];
}
/** @typedef {Map<number, {x: number, y: number}>} Spots */

/** @param {Spots} spots @param {Unpacked} moves @param {Change} change @param {Timed} timed @param {number} unit @returns {Item[]} */
function tilesOf(spots, { tile }, { sizes }, { rows, wide }, unit) {
  const tiled = sizes.filter(Boolean).length;
  if (!tiled) return [];
  /** @type {Map<string, Spot[]>} */
  const groups = new Map();
  for (const [place, { x, y }] of spots) {
    const key = rows.subarray(place * wide, place * wide + tiled).join();
    const known = groups.get(key) ?? [];
    for (const dx of [-ROOM, ROOM]) for (const dy of [-ROOM, ROOM]) known.push([x + dx * unit, y + dy * unit]);
    groups.set(key, known);
  }
  return groups.size > MOST_TILES ? [] : [{ what: "polygons", corners: [...groups.values()].map(hull), fill: "none", opacity: 1, edge: tile, line: 1.4 }];
}

/** One mark for each instant of several visits; for the first alone where marks would lie on each other. @param {import("./stage.js").DomainStage} stage @param {string} colour @returns {Item[]} */
function instantsOf(stage, colour) {
  if (stage.count > MOST_AT_ONCE) return [];
  /** @type {Map<number, Spot[]>} */
  const groups = new Map();
  for (let v = 0; v < stage.count; v++) {
    const { x, y } = stage.centre(stage.visits[2 * v], stage.visits[2 * v + 1]);
    groups.set(stage.instants[v], [...(groups.get(stage.instants[v]) ?? []), [x, y]]);
  }
  const fronts = [...groups.values()].filter((points) => points.length > 1).map(hull);
  const shown = fronts.some((corners) => corners.length > 2) ? fronts.slice(0, 1) : fronts;
  return shown.map((points) => ({ what: "line", points: points.length > 2 ? [...points, points[0]] : points, colour, width: 2.2, curved: false, dashed: false, arrow: false, opacity: 0.75 }));
}

/** @param {Spots} spots @param {Unpacked} moves @param {Checked} found @param {number} unit @param {number} radius @returns {Item[]} */
function arrowsOf(spots, { violated }, { groups }, unit, radius) {
  const look = { what: /** @type {const} */ ("arrows"), head: Math.max(3, Math.min(9, unit * 0.17)), gap: radius + 1 };
  const ends = (/** @type {number[]} */ pairs) => {
    /** @type {Map<string, number[]>} */
    const known = new Map();
    for (let k = 0; k + 1 < pairs.length && known.size < MOST_ARROWS; k += 2) {
      const [from, to] = [spots.get(pairs[k]), spots.get(pairs[k + 1])];
      if (!from || !to || (from.x === to.x && from.y === to.y)) continue;
      const way = [from.x, from.y, to.x, to.y];
      known.set(way.join(), way);
    }
    return [...known.values()].flat();
  };
  const kept = groups.flatMap(({ group, kept: pairs }) => {
    const found = group.drawn ? ends(pairs) : [];
    return found.length ? [{ ...look, ends: packedNumbers(Float32Array.from(found)), colour: group.colour, width: 1.3, dashes: group.dashes, beside: group.beside }] : [];
  });
  const red = ends(groups.flatMap(({ broken }) => broken));
  return [...kept, ...(red.length ? [{ ...look, ends: packedNumbers(Float32Array.from(red)), colour: violated, width: 2, dashes: [], beside: 0 }] : [])];
}

/** The arrows in space. @param {import("./stage.js").DomainStage} stage @param {Unpacked} moves @param {Checked} found @returns {import("../scenes.js").SolidScene["items"]} */
export function solidArrows(stage, { violated }, { groups }) {
  const head = Math.max(3, Math.min(9, stage.scene.frame[2] * 0.17));
  const placed = (/** @type {number[]} */ pairs) => {
    /** @type {number[]} */
    const found = [];
    for (let k = 0; k + 1 < pairs.length; k += 2) {
      const visits = [stage.turns.get(pairs[k]), stage.turns.get(pairs[k + 1])];
      const both = visits.flatMap((v) => (v === undefined ? [] : Array.from(stage.layers[stage.visits[2 * v]].points.slice(3 * stage.visits[2 * v + 1], 3 * stage.visits[2 * v + 1] + 3))));
      if (both.length === 6 && both.slice(0, 3).join() !== both.slice(3).join()) found.push(...both);
    }
    return packedNumbers(Float32Array.from(found));
  };
  const look = { what: /** @type {const} */ ("arrows"), shifts: /** @type {[Spot, Spot]} */ ([[0, 0], [0, 0]]), head, gap: stage.radius + 1 };
  return [
    ...groups.filter(({ group }) => group.drawn).map(({ group, kept }) => ({ ...look, ends: placed(kept), colour: group.colour, width: 1.3, dashes: group.dashes, beside: group.beside })),
    { ...look, ends: placed(groups.flatMap(({ broken }) => broken)), colour: violated, width: 2, dashes: [], beside: 0 },
  ];
}
