/** Where positions fall on the canvas while a picture is zoomed: pure arithmetic, borders on whole pixels. */

import { STYLE } from "./style.js";

export const LARGEST = [72, 40]; // pixels, width and height of one position at most
const SNAPPED = 4; // from this size on a position is whole pixels wide and high
const STEP = 2; // of the buttons and keys

/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {import("../scenes.js").Layout} Layout */
/**
 * A stretch of single positions in one panel: `row` and `column` count positions, not cells.
 * @typedef {{panel: number, row: number, column: number, rows: number, columns: number}} Window
 * @typedef {[number, number, number]} Position panel, row, column, where every position has a row and column of its own
 */

/**
 * The picture through a lens: `width` and `height` of a position, and which pixel of the magnified sheet stands in the
 * upper left corner.
 * @typedef {{frame: Frame, fine: Layout, scale: number, width: number, height: number, left: number, top: number}} Lens
 */

/**
 * The same array with a cell for every position, as Python's `Layout.fine`.
 * @param {Layout} layout
 * @returns {Layout}
 */
export function fineOf(layout) {
  const { shape, panels, rows, columns, right } = layout;
  if (shape.length < 2) return { ...layout, rows, columns: columns * right, down: 1, right: 1 };
  const across = shape[shape.length - 1];
  const down = shape.slice(0, -1).reduce((product, size) => product * size, 1) / panels;
  return { ...layout, rows: down, columns: across, down: 1, right: 1 };
}

/**
 * The whole picture.
 * @param {Frame} frame
 * @returns {Lens}
 */
export function wholeLens(frame) {
  return lensAt(frame, 1, 0, 0);
}

/** @param {Frame} frame @param {number} scale @param {number} left @param {number} top @returns {Lens} */
function lensAt(frame, scale, left, top) {
  const { layout, cellWidth, cellHeight } = frame;
  const [widest, highest] = largestIn(frame);
  const size = (/** @type {number} */ whole, /** @type {number} */ largest) => {
    const grown = Math.min(Math.max(largest, whole), whole * scale);
    return grown >= SNAPPED && scale > 1 ? Math.round(grown) : grown;
  };
  const lens = {
    frame, fine: fineOf(layout), scale, left: 0, top: 0,
    width: size(cellWidth / layout.right, widest), height: size(cellHeight / layout.down, highest),
  };
  return panned(lens, left, top);
}

/** Whether nothing is magnified. @param {Lens} lens */
export const isWhole = (lens) => lens.scale <= 1;

/** Whether nothing can be magnified further. @param {Lens} lens */
export const isClosest = (lens) => lens.scale >= mostOf(lens.frame);

/** How large one position may be: no larger than the picture. @param {Frame} frame */
export const largestIn = ({ width, height }) => [Math.min(LARGEST[0], width), Math.min(LARGEST[1], height)];

/** @param {Frame} frame */
function mostOf(frame) {
  const { layout, cellWidth, cellHeight } = frame;
  const [widest, highest] = largestIn(frame);
  return Math.max(1, (widest * layout.right) / cellWidth, (highest * layout.down) / cellHeight);
}

/**
 * Magnified by a factor, so that what is at a point stays there.
 * @param {Lens} lens @param {number} factor @param {number} x @param {number} y on the canvas, from the cells' corner
 * @returns {Lens}
 */
export function zoomed(lens, factor, x, y) {
  const scale = Math.min(mostOf(lens.frame), Math.max(1, lens.scale * factor));
  if (scale <= 1) return wholeLens(lens.frame);
  const next = lensAt(lens.frame, scale, 0, 0);
  const [across, down] = [acrossAt(lens, x + lens.left), downAt(lens, y + lens.top)];
  const [right, below] = pitchesOf(next);
  const column = across.panel * right + across.place * next.width;
  const row = down.panel * below + down.place * next.height;
  return panned(next, Math.round(column - x), Math.round(row - y));
}

/** One step of a button or key, about a point; by itself the middle. @param {Lens} lens @param {number} steps @param {number} x @param {number} y */
export const stepped = (lens, steps, x = lens.frame.width / 2, y = lens.frame.height / 2) => zoomed(lens, STEP ** steps, x, y);

/**
 * Moved on the sheet, no further than it goes.
 * @param {Lens} lens @param {number} right @param {number} down pixels
 * @returns {Lens}
 */
export function panned(lens, right, down) {
  const { frame } = lens;
  const [across, below] = pitchesOf(lens);
  const wide = frame.layout.across * across - STYLE.gapRight;
  const high = stackedOf(lens) * below - STYLE.gapDown;
  const within = (/** @type {number} */ at, /** @type {number} */ room) => Math.round(Math.max(0, Math.min(at, room)));
  return { ...lens, left: within(lens.left + right, wide - frame.width), top: within(lens.top + down, high - frame.height) };
}

/**
 * Moved just so far that these positions are in sight, or their beginning if they are more than fit.
 * @param {Lens} lens @param {Window} stretch
 * @returns {Lens}
 */
export function showing(lens, stretch) {
  const { left, top, right, bottom } = boxOf(lens, stretch);
  const by = (/** @type {number} */ start, /** @type {number} */ end, /** @type {number} */ room) =>
    start < 0 || end - start > room ? start : Math.max(0, end - room);
  return panned(lens, by(left, Math.max(right, left + 1), lens.frame.width), by(top, Math.max(bottom, top + 1), lens.frame.height));
}

/**
 * The position under a point; null where there is none.
 * @param {Lens} lens @param {number} x @param {number} y on the canvas, from the cells' corner
 * @returns {Position | null}
 */
export function positionAt(lens, x, y) {
  const { frame } = lens;
  const { layout } = frame;
  if (x < 0 || y < 0 || x >= frame.width || y >= frame.height) return null;
  const [across, down] = [acrossAt(lens, Math.floor(x) + lens.left), downAt(lens, Math.floor(y) + lens.top)];
  const panel = down.panel * layout.across + across.panel;
  if (panel >= layout.panels || !across.there || !down.there) return null;
  return [panel, down.number, across.number];
}

/**
 * Where positions are on the canvas, from the cells' corner; it may be out of sight.
 * @param {Lens} lens @param {Window} stretch
 */
export function boxOf(lens, { panel, row, column, rows, columns }) {
  const [x, y] = panelCorner(lens, panel);
  return {
    left: x + edge(column, lens.width), right: x + edge(column + columns, lens.width),
    top: y + edge(row, lens.height), bottom: y + edge(row + rows, lens.height),
  };
}

/** @param {Lens} lens @param {number} panel @returns {[number, number]} */
export function panelCorner(lens, panel) {
  const { across } = lens.frame.layout;
  const [right, below] = pitchesOf(lens);
  return [(panel % across) * right - lens.left, Math.floor(panel / across) * below - lens.top];
}

/**
 * The positions in sight, panel by panel.
 * @param {Lens} lens
 * @returns {Window[]}
 */
export function inSight(lens) {
  const { frame, fine } = lens;
  /** @type {Window[]} */
  const found = [];
  for (let panel = 0; panel < frame.layout.panels; panel++) {
    const [x, y] = panelCorner(lens, panel);
    const [column, columns] = stretchOf(-x, frame.width - x, lens.width, fine.columns);
    const [row, rows] = stretchOf(-y, frame.height - y, lens.height, fine.rows);
    if (columns > 0 && rows > 0) found.push({ panel, row, column, rows, columns });
  }
  return found;
}

/**
 * What of the positions in sight is to be fetched, with as much again around it; nothing while there are too many.
 * @param {Lens} lens @param {number} most positions
 * @returns {Window[]}
 */
export function wantedOf(lens, most) {
  const seen = inSight(lens);
  const count = seen.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
  if (count > most) return [];
  const { fine } = lens;
  const grow = Math.min(0.5, (Math.sqrt(most / Math.max(1, count)) - 1) / 2);
  return seen.map(({ panel, row, column, rows, columns }) => {
    const [down, right] = [Math.floor(rows * grow), Math.floor(columns * grow)];
    const [top, left] = [Math.max(0, row - down), Math.max(0, column - right)];
    return {
      panel, row: top, column: left,
      rows: Math.min(fine.rows, row + rows + down) - top, columns: Math.min(fine.columns, column + columns + right) - left,
    };
  });
}

/** Whether one stretch has all of another in it. @param {Window} outer @param {Window} inner */
export const covers = (outer, inner) =>
  outer.panel === inner.panel && outer.row <= inner.row && outer.column <= inner.column &&
  outer.row + outer.rows >= inner.row + inner.rows && outer.column + outer.columns >= inner.column + inner.columns;

/** @param {Lens} lens */
const stackedOf = ({ frame: { layout } }) => Math.max(1, Math.ceil(layout.panels / layout.across));

/** The pixel at which a position begins. @param {number} number @param {number} size */
export const edge = (number, size) => Math.round(number * size);

/** From one panel to the next, across and down. The last cell of a panel is as large as the others. @param {Lens} lens */
const pitchesOf = ({ frame: { layout }, width, height }) => [
  edge(layout.columns * layout.right, width) + STYLE.gapRight, edge(layout.rows * layout.down, height) + STYLE.gapDown,
];

/** The last position that begins at a pixel of its panel or before. @param {number} pixel @param {number} size */
export const numberAt = (pixel, size) => Math.ceil((pixel + 0.5) / size) - 1;

/** @param {Lens} lens @param {number} at a pixel of the sheet */
const acrossAt = (lens, at) => {
  const { layout } = lens.frame;
  return along(at, pitchesOf(lens)[0], layout.across, lens.width, lens.fine.columns, layout.columns * layout.right);
};

/** @param {Lens} lens @param {number} at a pixel of the sheet */
const downAt = (lens, at) => {
  const { layout } = lens.frame;
  return along(at, pitchesOf(lens)[1], stackedOf(lens), lens.height, lens.fine.rows, layout.rows * layout.down);
};

/**
 * Along one side of the sheet: the panel at a place, and which of its positions; `there` tells whether any is.
 * @param {number} at @param {number} pitch @param {number} panels @param {number} size of a position
 * @param {number} count positions there are @param {number} nominal and that the cells have room for
 */
function along(at, pitch, panels, size, count, nominal) {
  const panel = Math.max(0, Math.min(panels - 1, Math.floor(at / pitch)));
  const rest = at - panel * pitch;
  const number = numberAt(Math.floor(rest), size);
  return {
    panel, number: Math.min(number, count - 1), place: Math.max(0, Math.min(count, rest / size)),
    there: number >= 0 && number < nominal && (number < count || size < 1),
  };
}

/**
 * Which positions have a pixel between two of their panel's: the first, and how many.
 * @param {number} from @param {number} to @param {number} size @param {number} count
 * @returns {[number, number]}
 */
function stretchOf(from, to, size, count) {
  // Of positions that share a pixel, all.
  const first = Math.max(0, size < 1 ? numberAt(from - 1, size) + 1 : numberAt(from, size));
  const last = Math.min(count - 1, numberAt(to - 1, size));
  return [first, last - first + 1];
}
