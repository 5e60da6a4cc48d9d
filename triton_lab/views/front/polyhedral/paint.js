/** Painting what is pointed at or visited over an iteration domain. */

import { STYLE } from "../drawing/style.js";

/** @typedef {CanvasRenderingContext2D} Pen */
/** @typedef {import("./geometry.js").Spot} Spot */
/** @typedef {typeof STYLE.themes.light.domain} Look the colours of a theme */

const BORDER_NAME = 50 / 3; // pixels, of a border's name, as in `border_labels.py`
const SANS = "'DejaVu Sans', system-ui, sans-serif";

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
  Object.assign(pen, { strokeStyle: look.lit, lineWidth: 4 });
  pen.beginPath();
  pen.moveTo(a.x, a.y);
  pen.lineTo(b.x, b.y);
  pen.stroke();
  paintName(pen, plane, line, look.lit, look);
}

/**
 * The name of a border, cut out of what is below it.
 * @param {Pen} pen @param {import("./geometry.js").Plane} plane @param {import("../scenes.js").BorderLine} line
 * @param {string} colour @param {Look} look
 */
export function paintName(pen, plane, line, colour, look) {
  const at = plane.spot(line.at[0], line.at[1]);
  Object.assign(pen, { font: `${BORDER_NAME}px ${SANS}`, fillStyle: colour, textAlign: "center", textBaseline: "middle", lineWidth: 4, lineJoin: "round", strokeStyle: look.ground });
  pen.strokeText(line.label, at.x, at.y);
  pen.fillText(line.label, at.x, at.y);
}
