/** What a lens shows, as pixels: the cells of the whole picture, and over them the single positions that are known. */

import { boxOf, edge, inSight, numberAt, panelCorner } from "./lens.js";
import { LINED_CELL, paintArea } from "./raster.js";

/** @typedef {import("./lens.js").Lens} Lens */
/** @typedef {import("./lens.js").Window} Window */
/**
 * Single positions of a stretch: their classes in reading order, and how those look. `extra` is the picture's own.
 * @typedef {import("./raster.js").Heat & {window: Window, emphasis: Uint8Array | null, extra: unknown, marks: import("../scenes.js").Dress["marks"]}} Detail
 */

/**
 * Draw all that is in sight.
 * @param {CanvasRenderingContext2D} pen
 * @param {[number, number]} corner of the cells on the canvas
 * @param {Lens} lens
 * @param {import("./raster.js").Heat} whole
 * @param {Uint8Array | null} emphasis of the whole picture's classes
 * @param {Iterable<Detail>} details
 * @param {"light" | "dark"} theme
 */
export function drawMagnified(pen, [x, y], lens, whole, emphasis, details, theme) {
  const { layout } = lens.frame;
  for (const seen of inSight(lens)) {
    const first = seen.panel * layout.rows * layout.columns;
    const place = { row: 0, column: 0, down: layout.down, right: layout.right };
    put(pen, [x, y], lens, seen, whole, { ...place, first, stride: layout.columns }, emphasis, theme);
    for (const detail of details) {
      const both = meeting(seen, detail.window);
      if (!both) continue;
      const { row, column, columns } = detail.window;
      put(pen, [x, y], lens, both, detail, { row, column, down: 1, right: 1, first: 0, stride: columns }, detail.emphasis, theme);
    }
  }
}

/**
 * @param {CanvasRenderingContext2D} pen @param {[number, number]} corner @param {Lens} lens @param {Window} seen
 * @param {import("./raster.js").Heat} heat
 * @param {{row: number, column: number, down: number, right: number, first: number, stride: number}} cells the position
 *   that the first cell begins at, how many positions a cell has, and where cells stand in `heat`
 * @param {Uint8Array | null} emphasis @param {"light" | "dark"} theme
 */
function put(pen, [x, y], lens, seen, heat, { row, column, down, right, first, stride }, emphasis, theme) {
  const { frame, fine } = lens;
  const box = boxOf(lens, seen);
  const [left, top] = [Math.max(0, box.left), Math.max(0, box.top)];
  const [wide, high] = [Math.min(frame.width, box.right) - left, Math.min(frame.height, box.bottom) - top];
  if (wide <= 0 || high <= 0) return;
  const [panelLeft, panelTop] = panelCorner(lens, seen.panel);
  const area = {
    across: sideOf(left - panelLeft, wide, lens.width, fine.columns, column, right),
    down: sideOf(top - panelTop, high, lens.height, fine.rows, row, down),
    first, stride, left: left - panelLeft, top: top - panelTop, before: column, cut: true,
    lined: Math.min(lens.width * right, lens.height * down) >= LINED_CELL,
  };
  const sheet = new OffscreenCanvas(wide, high);
  const own = /** @type {OffscreenCanvasRenderingContext2D} */ (sheet.getContext("2d"));
  own.putImageData(paintArea(heat, area, emphasis, theme), 0, 0);
  pen.drawImage(sheet, x + left, y + top, wide, high);
  sheet.width = sheet.height = 0; // memory that is given back at once
}

/**
 * @param {number} start the panel's pixel at which to begin @param {number} length @param {number} size of a position
 * @param {number} count positions there are @param {number} origin the first cell's @param {number} each positions in a cell
 * @returns {import("./raster.js").Side}
 */
function sideOf(start, length, size, count, origin, each) {
  const cell = new Int32Array(length);
  const since = new Uint8Array(length);
  for (let at = 0; at < length; at++) {
    const position = numberAt(start + at, size);
    cell[at] = position < count ? Math.floor((position - origin) / each) : -1;
    since[at] = Math.min(255, start + at - edge(cell[at] * each + origin, size));
  }
  return { cell, since };
}

/** What two stretches have in common. @param {Window} one @param {Window} other @returns {Window | null} */
export function meeting(one, other) {
  if (one.panel !== other.panel) return null;
  const [row, column] = [Math.max(one.row, other.row), Math.max(one.column, other.column)];
  const rows = Math.min(one.row + one.rows, other.row + other.rows) - row;
  const columns = Math.min(one.column + one.columns, other.column + other.columns) - column;
  return rows > 0 && columns > 0 ? { panel: one.panel, row, column, rows, columns } : null;
}
