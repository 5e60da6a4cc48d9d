/** Where cells fall on the canvas: the formulas of `frame.py`. */

import { STYLE } from "./style.js";

/**
 * @typedef {import("../scenes.js").Layout} Layout
 * @typedef {{
 *   layout: Layout, cellWidth: number, cellHeight: number,
 *   panelWidth: number, panelHeight: number, width: number, height: number,
 * }} Frame
 */

/**
 * @param {Layout} layout
 * @param {[number, number]} room width and height
 * @returns {Frame}
 */
export function frameOf(layout, [width, height]) {
  const stacked = Math.max(1, Math.ceil(layout.panels / layout.across));
  const columns = Math.max(1, layout.columns);
  const rows = Math.max(1, layout.rows);
  let across = (width - STYLE.gapRight * (layout.across - 1)) / layout.across / columns;
  let down = (height - STYLE.gapDown * (stacked - 1)) / stacked / rows;
  across = Math.min(STYLE.largestCell, across);
  down = Math.min(STYLE.largestCell, down);
  const side = Math.min(across, down);
  const cellWidth = Math.max(1, Math.floor(Math.max(side, Math.min(across, 160 / columns))));
  const cellHeight = Math.max(1, Math.floor(Math.max(side, Math.min(down, 60 / rows))));
  const panelWidth = layout.columns * cellWidth;
  const panelHeight = layout.rows * cellHeight;
  return {
    layout,
    cellWidth,
    cellHeight,
    panelWidth,
    panelHeight,
    width: layout.across * panelWidth + (layout.across - 1) * STYLE.gapRight,
    height: stacked * panelHeight + (stacked - 1) * STYLE.gapDown,
  };
}

/**
 * The upper left corner of a panel.
 * @param {Frame} frame
 * @param {number} panel
 * @returns {[number, number]}
 */
export function cornerOf(frame, panel) {
  const { across } = frame.layout;
  return [
    (panel % across) * (frame.panelWidth + STYLE.gapRight),
    Math.floor(panel / across) * (frame.panelHeight + STYLE.gapDown),
  ];
}

/**
 * The cell under a point, as [panel, row, column]; null between cells.
 * @param {Frame} frame
 * @param {number} x
 * @param {number} y
 * @returns {[number, number, number] | null}
 */
export function cellAt(frame, x, y) {
  const { layout } = frame;
  const across = Math.floor(x / (frame.panelWidth + STYLE.gapRight));
  const stacked = Math.floor(y / (frame.panelHeight + STYLE.gapDown));
  if (x < 0 || y < 0 || across >= layout.across) return null;
  const panel = stacked * layout.across + across;
  const [left, top] = cornerOf(frame, panel);
  const column = Math.floor((x - left) / frame.cellWidth);
  const row = Math.floor((y - top) / frame.cellHeight);
  if (panel >= layout.panels || column >= layout.columns || row >= layout.rows) return null;
  return [panel, row, column];
}

/**
 * Which of `count` rows or columns bear a number: every 1st, 2nd, 4th ..., `room` pixels apart at least.
 * @param {number} count
 * @param {number} cell
 * @param {number} room
 * @returns {number[]}
 */
export function ticksOf(count, cell, room) {
  let step = 1;
  while (step * cell < room) step *= 2;
  return Array.from({ length: Math.ceil(count / step) }, (_, k) => k * step);
}

/**
 * The first index of each dimension in a cell, and how many positions the cell has along the last two.
 * @param {Layout} layout
 * @param {number} panel
 * @param {number} row
 * @param {number} column
 * @returns {{index: number[], down: number, right: number}}
 */
export function indexOf(layout, panel, row, column) {
  const { shape, origin } = layout;
  if (shape.length < 2) {
    const first = (row * layout.columns + column) * layout.right;
    const total = shape.length ? shape[0] : 1;
    return { index: shape.length ? [first - origin[0]] : [], down: 1, right: Math.min(layout.right, total - first) };
  }
  const last = shape.length - 1;
  /** @type {number[]} */
  const index = new Array(shape.length);
  index[last] = column * layout.right;
  let rest = row * layout.down;
  let from = last - 1;
  if (layout.panels > 1 || shape.length === 2) {
    index[last - 1] = rest;
    rest = panel;
    from = last - 2;
  }
  for (let axis = from; axis >= 0; axis--) {
    index[axis] = rest % shape[axis];
    rest = Math.floor(rest / shape[axis]);
  }
  const rows = layout.panels > 1 || shape.length === 2 ? shape[last - 1] : layout.rows * layout.down;
  return {
    index: index.map((value, axis) => value - origin[axis]),
    down: Math.min(layout.down, rows - row * layout.down),
    right: Math.min(layout.right, shape[last] - column * layout.right),
  };
}

/**
 * The cell of an element; null where it is not drawn.
 * @param {Layout} layout
 * @param {number[]} index
 * @returns {[number, number, number] | null}
 */
export function cellOf(layout, index) {
  const { shape, origin } = layout;
  const at = index.map((value, axis) => value + origin[axis]);
  if (at.some((value, axis) => value < 0 || value >= shape[axis])) return null;
  if (shape.length < 2) {
    const cell = Math.floor((at[0] ?? 0) / layout.right);
    return [0, Math.floor(cell / layout.columns), cell % layout.columns];
  }
  const last = shape.length - 1;
  const leading = at.slice(0, last - 1).reduce((total, value, axis) => total * shape[axis] + value, 0);
  const column = Math.floor(at[last] / layout.right);
  if (layout.panels > 1 || shape.length === 2) return [leading, Math.floor(at[last - 1] / layout.down), column];
  return [0, Math.floor((leading * shape[last - 1] + at[last - 1]) / layout.down), column];
}

/**
 * The index of an element that is counted in reading order.
 * @param {number} element
 * @param {number[]} shape
 * @returns {number[]}
 */
export function unravel(element, shape) {
  const index = [];
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index.unshift(element % shape[axis]);
    element = Math.floor(element / shape[axis]);
  }
  return index;
}
