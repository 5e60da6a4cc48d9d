/** Painting the still part of an iteration domain: grid, axes, points, polygon, borders, arrows. */

import { STYLE } from "../drawing/style.js";
import { hullOf, tickStep } from "./geometry.js";

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

/** @param {Pen} pen @param {string} words @param {number} x @param {number} y @param {number} size @param {string} colour @param {CanvasTextAlign} align */
export function paintWords(pen, words, x, y, size, colour, align = "center") {
  pen.font = `${size}px ${SANS}`;
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.textBaseline = "middle";
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
 * The plane with everything that does not move.
 * @param {Pen} pen @param {Scene} scene @param {import("./geometry.js").Plane} plane @param {Layer[]} layers @param {Look} look
 */
export function paintPlane(pen, scene, plane, layers, look) {
  const [left, bottom, right, top] = plane.box;
  const step = tickStep(plane.unit);
  pen.setLineDash([5, 4]);
  for (let x = Math.ceil(left / step) * step; x < right; x += step) paintLine(pen, plane.spot(x, bottom), plane.spot(x, top), look.grid, 1);
  for (let y = Math.ceil(bottom / step) * step; !plane.flat && y < top; y += step) paintLine(pen, plane.spot(left, y), plane.spot(right, y), look.grid, 1);
  pen.setLineDash([]);
  layers.forEach((layer, k) => {
    const fill = plane.rings ? look.statements[k % look.statements.length] : look.faint;
    const shift = plane.shift(k, layers.length);
    for (let p = 0; p < layer.points.length; p += scene.dims.length) {
      const at = plane.place(layer.points, p);
      paintCircle(pen, { x: at.x + shift.x, y: at.y + shift.y }, plane.radius, fill, look.ring);
    }
  });
  /** @type {Map<string, number[][]>} */
  const polygons = new Map();
  for (const layer of layers) for (const polygon of layer.polygons) polygons.set(JSON.stringify(polygon), polygon);
  pen.globalAlpha = STYLE.domain.opacity;
  for (const polygon of polygons.values()) {
    const outline = hullOf(polygon.map((corner) => plane.place(corner, 0)));
    trace(pen, outline);
    pen.closePath();
    pen.fillStyle = look.polygon;
    pen.fill();
    if (outline.length === 2) paintLine(pen, outline[0], outline[1], look.polygon, Math.max(2, plane.radius));
  }
  pen.globalAlpha = 1;
  paintAxes(pen, scene, plane, look);
  for (const tile of scene.tiles) {
    const outline = tile.map(([up, right]) => plane.spot(right, up));
    trace(pen, [...outline, outline[0]]);
    pen.strokeStyle = look.tile;
    pen.lineWidth = 1.4;
    pen.stroke();
  }
  for (const line of scene.lines) paintBorder(pen, plane, line, look, false);
}

/**
 * A line through spots, from the left.
 * @param {Pen} pen @param {Spot[]} spots @param {string} colour
 */
export function paintFront(pen, spots, colour) {
  trace(pen, [...spots].sort((a, b) => a.x - b.x || a.y - b.y));
  pen.globalAlpha = 0.75;
  pen.strokeStyle = colour;
  pen.lineWidth = 2.2;
  pen.stroke();
  pen.globalAlpha = 1;
}

/**
 * @param {Pen} pen @param {import("./geometry.js").Plane} plane @param {import("../scenes.js").BorderLine} line
 * @param {Look} look @param {boolean} lit
 */
export function paintBorder(pen, plane, line, look, lit) {
  const [a, b] = line.ends.map(([x, y]) => plane.spot(x, y));
  const colour = lit ? look.lit : look.border;
  paintLine(pen, a, b, colour, lit ? 4 : 1.6);
  const at = plane.spot(line.at[0], line.at[1]);
  paintWords(pen, line.label, at.x, at.y, 16, colour);
}

/** @param {Pen} pen @param {Scene} scene @param {import("./geometry.js").Plane} plane @param {Look} look */
function paintAxes(pen, scene, plane, look) {
  const { dims } = scene;
  const [left, bottom, right, top] = plane.box;
  const [x0, y0] = [Math.max(left, 0), Math.max(bottom, 0)];
  const corner = plane.spot(left, bottom);
  const far = plane.spot(right, top);
  const end = plane.spot(right, y0);
  paintArrow(pen, plane.spot(left, y0), { x: end.x + 9, y: end.y }, look.axis, 1, 9, 0);
  paintWords(pen, plane.flat ? dims[0] : dims[1], (corner.x + far.x) / 2, corner.y + 38, 19, look.ink);
  const step = tickStep(plane.unit) * (plane.unit > 24 ? 1 : 2);
  const named = (/** @type {Spot} */ at) =>
    scene.lines.some((line) => {
      const label = plane.spot(line.at[0], line.at[1]);
      return Math.abs(label.x - at.x) < line.label.length * 4.7 + 6 && Math.abs(label.y - at.y) < 13;
    });
  for (let x = Math.ceil(left / step) * step; x < right - 0.5; x += step) {
    const at = plane.spot(x, bottom);
    const origin = x === 0 && left === 0;
    at.y += 15;
    if (!named(at)) paintWords(pen, String(x), at.x - (origin ? 10 : 0), at.y, origin ? 19 : 10, origin ? look.ink : look.faint);
  }
  if (plane.flat) return;
  const up = plane.spot(x0, top);
  paintArrow(pen, plane.spot(x0, bottom), { x: up.x, y: up.y - 9 }, look.axis, 1, 9, 0);
  paintWords(pen, dims[0], corner.x - plane.aside, (corner.y + far.y) / 2, 19, look.ink);
  for (let y = Math.ceil(bottom / step) * step; y < top - 0.5; y += step) {
    const at = plane.spot(left, y);
    at.x -= 13;
    if ((y || bottom < 0) && !named(at)) paintWords(pen, String(y), at.x, at.y, 10, look.faint);
  }
}

/**
 * Space with everything that does not move.
 * @param {Pen} pen @param {Scene} scene @param {import("./geometry.js").Orthographic} space @param {Layer[]} layers @param {Look} look
 */
export function paintSpace(pen, scene, space, layers, look) {
  const { dims } = scene;
  const origin = space.place(space.low);
  dims.forEach((name, d) => {
    const end = [...space.low];
    end[d] = space.high[d];
    const tip = space.place(end);
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
  });
}
