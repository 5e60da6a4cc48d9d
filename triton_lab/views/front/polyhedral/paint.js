/** Painting an iteration domain in space, and what is pointed at or visited in the plane. */

import { STYLE } from "../drawing/style.js";
import { hullOf } from "./geometry.js";

/** @typedef {CanvasRenderingContext2D} Pen */
/** @typedef {import("./geometry.js").Spot} Spot */
/** @typedef {typeof STYLE.themes.light.domain} Look the colours of a theme */
/** @typedef {import("../scenes.js").PlaneScene} Scene */
/** @typedef {Omit<import("../scenes.js").DomainLayer, "points"> & {points: import("../drawing/data.js").Numbers}} Layer */

/** @type {{dashes: Record<string, number[]>, beside: Record<string, number>}} by the kind of a dependence */
const KINDS_OF_ARROWS = STYLE.domain;

/** What a kind of dependence is drawn in. @param {Look} look @param {string} kind */
const arrowColour = (look, kind) => /** @type {Record<string, string>} */ (look.arrows)[kind];

/** The dashes of a kind of dependence: drawn, left out. @param {string} kind */
const arrowDashes = (kind) => KINDS_OF_ARROWS.dashes[kind];

const BORDER_NAME = 50 / 3; // pixels, of a border's name, as in `plane_plot.py`
const SPACE_NAME = 44 / 3; // the same in space
const SANS = "'DejaVu Sans', system-ui, sans-serif";

/** @param {Pen} pen @param {Spot[]} spots */
function trace(pen, spots) {
  pen.beginPath();
  spots.forEach(({ x, y }, k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
}

/** @param {Pen} pen @param {Spot} a @param {Spot} b @param {string} colour @param {number} width */
export function paintLine(pen, a, b, colour, width) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  trace(pen, [a, b]);
  pen.stroke();
}

/**
 * An arrow that starts and ends `gap` before the spots it joins.
 * @param {Pen} pen @param {Spot} a @param {Spot} b @param {string} colour @param {number} width @param {number} head @param {number} gap
 */
export function paintArrow(pen, a, b, colour, width, head, gap) {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const u = { x: (b.x - a.x) / length, y: (b.y - a.y) / length };
  const tip = { x: b.x - u.x * gap, y: b.y - u.y * gap };
  const neck = { x: tip.x - u.x * head, y: tip.y - u.y * head };
  paintLine(pen, { x: a.x + u.x * gap, y: a.y + u.y * gap }, neck, colour, width);
  pen.fillStyle = colour;
  trace(pen, [
    tip,
    { x: neck.x - u.y * head * 0.42, y: neck.y + u.x * head * 0.42 },
    { x: neck.x + u.y * head * 0.42, y: neck.y - u.x * head * 0.42 },
  ]);
  pen.fill();
}

/**
 * An arrow of a dependence: its kind tells colour, dashes and on which side of the way it runs.
 * @param {Pen} pen @param {Look} look @param {{kind: string, violated: boolean}} arrows @param {Spot} a @param {Spot} b @param {number} head @param {number} gap
 */
export function paintDependence(pen, look, arrows, a, b, head, gap) {
  if (arrows.violated) return paintArrow(pen, a, b, look.violated, 2, head, gap);
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const beside = KINDS_OF_ARROWS.beside[arrows.kind] / length;
  const [dx, dy] = [-(b.y - a.y) * beside, (b.x - a.x) * beside];
  pen.setLineDash(arrowDashes(arrows.kind));
  paintArrow(pen, { x: a.x + dx, y: a.y + dy }, { x: b.x + dx, y: b.y + dy }, arrowColour(look, arrows.kind), 1.3, head, gap);
  pen.setLineDash([]);
}

/** @param {Pen} pen @param {string} words @param {number} x @param {number} y @param {number} size @param {string} colour @param {CanvasTextAlign} align @param {string} halo the colour around letters, "" for none */
export function paintWords(pen, words, x, y, size, colour, align = "center", halo = "") {
  pen.font = `${size}px ${SANS}`;
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.textBaseline = "middle";
  if (halo) {
    Object.assign(pen, { strokeStyle: halo, lineWidth: 4, lineJoin: "round" });
    pen.strokeText(words, x, y);
  }
  pen.fillText(words, x, y);
}

/** @param {Pen} pen @param {Spot} at @param {number} radius @param {string} fill @param {string} ring */
export function paintCircle(pen, at, radius, fill, ring) {
  pen.fillStyle = fill;
  if (radius < 2) {
    pen.fillRect(at.x - radius, at.y - radius, 2 * radius, 2 * radius);
    return;
  }
  pen.beginPath();
  pen.arc(at.x, at.y, radius, 0, 2 * Math.PI);
  pen.fill();
  pen.strokeStyle = ring;
  pen.lineWidth = Math.max(0.4, Math.min(1.5, radius / 4));
  pen.stroke();
}

/**
 * A border that is pointed at.
 * @param {Pen} pen @param {import("./geometry.js").Plane} plane @param {import("../scenes.js").BorderLine} line @param {Look} look
 */
export function paintLit(pen, plane, line, look) {
  const [a, b] = line.ends.map(([x, y]) => plane.spot(x, y));
  paintLine(pen, a, b, look.lit, 4);
  const at = plane.spot(line.at[0], line.at[1]);
  paintWords(pen, line.label, at.x, at.y, BORDER_NAME, look.lit);
}

/**
 * Space with everything that does not move.
 * @param {Pen} pen @param {Scene} scene @param {import("./geometry.js").Orthographic} space @param {Layer[]} layers @param {Look} look
 */
export function paintSpace(pen, scene, space, layers, look) {
  const { dims } = scene;
  const origin = space.place(space.low);
  const tips = dims.map((_, d) => space.place(space.low.map((low, k) => (k === d ? space.high[k] : low))));
  dims.forEach((name, d) => {
    const tip = tips[d];
    paintArrow(pen, origin, tip, look.axis, 1, 9, 0);
    const length = Math.hypot(tip.x - origin.x, tip.y - origin.y) || 1;
    if (length > 12) paintWords(pen, name, tip.x + ((tip.x - origin.x) / length) * 14, tip.y + ((tip.y - origin.y) / length) * 14, 17, look.ink);
  });
  const faces = layers.flatMap((layer) => layer.faces);
  for (const [, corners] of faces) {
    const outline = hullOf(corners.map((corner) => space.place(corner)));
    if (outline.length < 3) continue;
    trace(pen, [...outline, outline[0]]);
    pen.globalAlpha = STYLE.domain.opacity / 3;
    pen.fillStyle = look.polygon;
    pen.fill();
    pen.globalAlpha = 0.65;
    pen.strokeStyle = look.border;
    pen.lineWidth = 1;
    pen.stroke();
    pen.globalAlpha = 1;
  }
  layers.forEach((layer, k) => {
    const order = Array.from({ length: layer.points.length / 3 }, (_, p) => p);
    order.sort((a, b) => space.depth(layer.points, 3 * a) - space.depth(layer.points, 3 * b));
    const shift = space.shift(k, layers.length);
    for (const p of order) {
      const at = space.place(layer.points, 3 * p);
      paintCircle(pen, { x: at.x + shift.x, y: at.y + shift.y }, space.radius, look.statements[k % look.statements.length], look.ring);
    }
    paintNames(pen, space, layer.faces, tips.map((tip) => [origin, tip]), look);
  });
}

/**
 * The excluded side of each face, outside of the polyhedron, as in `space_plot.py`.
 * @param {Pen} pen @param {import("./geometry.js").Orthographic} space @param {Layer["faces"]} faces @param {Spot[][]} axes @param {Look} look
 */
function paintNames(pen, space, faces, axes, look) {
  const outline = hullOf(faces.flatMap(([, corners]) => corners.map((corner) => space.place(corner))));
  const middle = meanOf(outline);
  for (const [name, corners] of faces) {
    const { x, y } = meanOf(corners.map((corner) => space.place(corner)));
    const long = Math.hypot(x - middle.x, y - middle.y);
    if (long < 1) continue; // the face is seen from its middle
    const along = { x: (x - middle.x) / long, y: (y - middle.y) / long };
    const reach = Math.max(...outline.map((spot) => (spot.x - middle.x) * along.x + (spot.y - middle.y) * along.y));
    const half = { x: name.length * SPACE_NAME * 0.29, y: SPACE_NAME * 0.55 };
    const far = reach + space.radius + 12 + half.x * Math.abs(along.x);
    const at = besideAxes({ x: middle.x + along.x * far, y: middle.y + along.y * far }, half, axes);
    paintWords(pen, name, at.x, at.y, SPACE_NAME, look.border, "center", look.ground);
  }
}

/** Where a name of this half width and height is off the axis that it would cross. @param {Spot} at @param {Spot} half @param {Spot[][]} axes */
function besideAxes(at, half, axes) {
  for (const [start, end] of axes) {
    const long = Math.hypot(end.x - start.x, end.y - start.y) || 1;
    const way = { x: (end.x - start.x) / long, y: (end.y - start.y) / long };
    const away = (at.y - start.y) * way.x - (at.x - start.x) * way.y;
    const along = (at.x - start.x) * way.x + (at.y - start.y) * way.y;
    const need = Math.abs(way.y) * half.x + Math.abs(way.x) * half.y + 6;
    if (along < 0 || along > long + 30 || Math.abs(away) >= need) continue;
    const step = (away < 0 ? -need : need) - away;
    at = { x: at.x - way.y * step, y: at.y + way.x * step };
  }
  return at;
}

/** @param {Spot[]} spots @returns {Spot} */
function meanOf(spots) {
  const sum = spots.reduce((a, b) => ({ x: a.x + b.x, y: a.y + b.y }), { x: 0, y: 0 });
  return { x: sum.x / spots.length, y: sum.y / spots.length };
}
