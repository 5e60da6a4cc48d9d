/** Words in cells and in regions of equal cells, where they have room: by the rules of `regions.py`. */

import { frameOf } from "./frame.js";
import { STYLE } from "./style.js";

const MOST_WORDS = 400; // words in one picture
export const CHARACTER = 0.64 * STYLE.small;
export const LINE = STYLE.small + 3;
const LEAST_REGION = 6; // pixels, on average
const LEAST_FITTED = 3; // pixels: narrower cells are another picture

/** @typedef {import("../scenes.js").Dress["labels"][number]} Label panel, row, column, rows, columns, words */
/** @typedef {import("./frame.js").Layout} Layout */
/** @typedef {import("./data.js").Numbers} Numbers */

/**
 * A number in at most four digits after the first, integers in full: Python's `.4g`.
 * @param {number} value
 */
export function numberText(value) {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  const [digits, power] = value.toExponential(3).split("e").map(Number);
  if (power >= -4 && power < 4) return String(Number(value.toPrecision(4)));
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/**
 * Words for single cells, where cells are few and wide enough for them all; "" for none.
 * @param {Layout} layout
 * @param {[number, number]} room
 * @param {(cell: number) => string} word
 * @returns {Label[]}
 */
export function cellLabels(layout, room, word) {
  const { cellWidth, cellHeight } = frameOf(layout, room);
  const { panels, rows, columns } = layout;
  const count = panels * rows * columns;
  if (layout.down * layout.right > 1 || count > MOST_WORDS || cellHeight < LINE) return [];
  const words = Array.from({ length: count }, (_, cell) => word(cell));
  if (words.some((text) => text.length * CHARACTER + 2 > cellWidth)) return [];
  return words.flatMap((text, cell) => {
    const inner = cell % (rows * columns);
    /** @type {Label} */
    const label = [Math.floor(cell / (rows * columns)), Math.floor(inner / columns), inner % columns, 1, 1, text];
    return text ? [label] : [];
  });
}

/**
 * A word for each region of each panel, in the middle of a rectangle that has room for it.
 * @param {Layout} layout
 * @param {[number, number]} room
 * @param {Numbers} cells the region of each cell, 0 for none
 * @param {(region: number) => string} word
 * @returns {Label[]}
 */
export function regionLabels(layout, room, cells, word) {
  const { cellWidth, cellHeight } = frameOf(layout, room);
  const size = layout.rows * layout.columns;
  const smallest = (LINE * CHARACTER) / (cellWidth * cellHeight);
  /** @type {Label[]} */
  const found = [];
  for (let panel = 0; panel < layout.panels; panel++) {
    const grid = cells.subarray(panel * size, (panel + 1) * size);
    const large = [...boxesOf(grid, layout.columns)].filter(([, { count }]) => count >= smallest).sort(([a], [b]) => a - b);
    if (found.length + large.length > MOST_WORDS) return [];
    for (const [region, { top, left, bottom, right }] of large) {
      const text = word(region);
      if (!text) continue;
      const need = Math.min(Math.ceil(LINE / cellHeight), bottom - top);
      if (need * cellHeight < LINE) continue;
      // All of the height, or where a line is wrapped, as many rows as words need: in the middle, at the top, below.
      const places = [[top, bottom - top], [Math.floor((top + bottom - need) / 2), need], [top, need], [bottom - need, need]];
      for (const [first, high] of places) {
        const whole = (/** @type {number} */ column) => {
          for (let row = first; row < first + high; row++) if (grid[row * layout.columns + column] !== region) return false;
          return true;
        };
        const [start, end] = longestRun(left, right, whole);
        if ((end - start) * cellWidth < text.length * CHARACTER + 3) continue;
        found.push([panel, first, start, high, end - start, text]);
        break;
      }
    }
  }
  return found;
}

/**
 * How many cells each region of one panel has, and the box around them, ends exclusive.
 * @param {Numbers} grid @param {number} columns
 */
function boxesOf(grid, columns) {
  /** @type {Map<number, {count: number, top: number, left: number, bottom: number, right: number}>} */
  const boxes = new Map();
  for (let cell = 0; cell < grid.length; cell++) {
    if (!grid[cell]) continue;
    const [row, column] = [Math.floor(cell / columns), cell % columns];
    const box = boxes.get(grid[cell]);
    if (!box) boxes.set(grid[cell], { count: 1, top: row, left: column, bottom: row + 1, right: column + 1 });
    else {
      box.count++;
      box.bottom = row + 1;
      box.left = Math.min(box.left, column);
      box.right = Math.max(box.right, column + 1);
    }
  }
  return boxes;
}

/**
 * The first longest stretch of places where it holds; ends exclusive.
 * @param {number} from @param {number} to @param {(place: number) => boolean} holds
 * @returns {[number, number]}
 */
function longestRun(from, to, holds) {
  /** @type {[number, number]} */
  let best = [from, from];
  for (let place = from, start = from; place < to; place++) {
    if (!holds(place)) start = place + 1;
    else if (place + 1 - start > best[1] - best[0]) best = [start, place + 1];
  }
  return best;
}

/**
 * Whether regions are too small, across or down, to be told apart by lines.
 * @param {Layout} layout
 * @param {[number, number]} room
 * @param {Numbers} cells the region of each cell
 */
export function crowded(layout, room, cells) {
  const { rows, columns, panels } = layout;
  const { cellWidth, cellHeight } = frameOf(layout, room);
  let [down, across] = [panels * columns, panels * rows];
  for (let cell = 0; cell < cells.length; cell++) {
    if (cell % columns && cells[cell] !== cells[cell - 1]) across++;
    if (cell % (rows * columns) >= columns && cells[cell] !== cells[cell - columns]) down++;
  }
  return cells.length * cellHeight < LEAST_REGION * down || cells.length * cellWidth < LEAST_REGION * across;
}

/**
 * The same picture in less width, where its cells can still be told apart and a word in each has room; else as it is.
 * Words of regions that then have no room are left out.
 * @param {import("./frame.js").Frame} frame @param {[number, number]} room @param {Label[]} labels @param {number} wide
 */
export function fitted(frame, room, labels, wide) {
  if (frame.width <= wide) return frame;
  const less = frameOf(frame.layout, [wide, room[1]]);
  const roomy = labels.every(([, , , rows, columns, text]) => rows * columns > 1 ||
    columns * less.cellWidth >= text.length * CHARACTER + 2 && rows * less.cellHeight >= LINE);
  return less.width <= wide && less.cellWidth >= LEAST_FITTED && roomy ? less : frame;
}

/**
 * Black or white, whichever can be read on a colour of the palette.
 * @param {number[]} palette @param {number} at where its red stands
 */
export function inkOn(palette, at) {
  return luminanceOf(palette.slice(at, at + 3)) >= STYLE.darkestUnderInk ? STYLE.darkLabel : STYLE.lightLabel;
}

/**
 * WCAG's relative luminance, 0 to 1.
 * @param {number[]} colour red, green and blue from 0 to 255
 */
function luminanceOf(colour) {
  const linear = (/** @type {number} */ part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = colour.map((part) => linear(part / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
