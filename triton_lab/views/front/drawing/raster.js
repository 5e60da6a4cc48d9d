/** A heatmap's pixels, by the rules of `raster.py`, pixel for pixel. */

import { STYLE } from "./style.js";

const NORMAL = 0;
const CHOSEN = 1;
const DIMMED = 2;
const PERIOD = 6;
const STRIPE = 7;
const STRIPE_GROUND = 4;
const OUTLINE = 2;
export const LINED_CELL = 8;

/** @typedef {import("./data.js").Numbers} Cells */

/**
 * @param {string} colour "#rrggbb"
 * @returns {[number, number, number]}
 */
export function rgbOf(colour) {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** @param {number} red @param {number} green @param {number} blue */
const pack = (red, green, blue) => (255 << 24) | (blue << 16) | (green << 8) | red;

/**
 * Every channel times `eighths` / 8, rounded down.
 * @param {number} colour
 * @param {number} eighths
 */
const shade = (colour, eighths) =>
  pack(((colour & 255) * eighths) >> 3, (((colour >> 8) & 255) * eighths) >> 3, (((colour >> 16) & 255) * eighths) >> 3);

/** @typedef {{cells: Cells, styles: Cells, groups: Cells | null, rules?: number[]}} Heat */
/**
 * The cell of each pixel along one side: its row or column, -1 for none, and how many pixels after its first it is.
 * @typedef {{cell: Int32Array, since: Uint8Array}} Side
 */
/**
 * What is painted: `first` is the place in `cells` of row 0, column 0, and `stride` from row to row. Patterns are laid
 * from `left` and `top`, rules from `before` columns further left; where the picture is `cut`, it goes on beyond its ends.
 * @typedef {{across: Side, down: Side, first: number, stride: number, lined: boolean, left: number, top: number, before: number, cut: boolean}} Area
 */

/**
 * One panel as a whole.
 * @param {Heat} heat
 * @param {import("./frame.js").Frame} frame
 * @param {number} panel
 * @param {Uint8Array | null} emphasis
 * @param {"light" | "dark"} theme
 * @returns {ImageData}
 */
export function paint(heat, frame, panel, emphasis, theme) {
  const { layout, cellWidth, cellHeight, panelWidth, panelHeight } = frame;
  const area = {
    across: evenly(panelWidth, cellWidth), down: evenly(panelHeight, cellHeight),
    first: panel * layout.rows * layout.columns, stride: layout.columns,
    lined: Math.min(cellWidth, cellHeight) >= LINED_CELL, left: 0, top: 0, before: 0, cut: false,
  };
  return paintArea(heat, area, emphasis, theme);
}

/** Cells of one size. @param {number} length @param {number} size @returns {Side} */
function evenly(length, size) {
  return {
    cell: Int32Array.from({ length }, (_, at) => Math.floor(at / size)),
    since: Uint8Array.from({ length }, (_, at) => Math.min(255, at % size)),
  };
}

/**
 * @param {Heat} heat
 * @param {Area} area
 * @param {Uint8Array | null} emphasis
 * @param {"light" | "dark"} theme
 * @returns {ImageData}
 */
export function paintArea(heat, { across, down, first, stride, lined, left: x0, top: y0, before, cut }, emphasis, theme) {
  const [width, height] = [across.cell.length, down.cell.length];
  const { cells: grid, styles } = heat;
  const [thin, strong] = heat.rules ?? [0, 0];
  const { plain, dimmed } = paintsOf(theme);
  const [colours, pale] = [plain.palette, dimmed.palette];
  const [sides, since] = [across.cell, across.since];
  const ruled = thin !== 0 || strong !== 0;
  const ink = pack(...rgbOf(STYLE.themes[theme].ink));
  const { stripes, hatch, dots, cross } = STYLE.pattern;
  const image = new ImageData(width, height);
  const pixels = new Int32Array(image.data.buffer);
  const groups = heat.groups;
  const inkParts = rgbOf(STYLE.themes[theme].ink);
  /** @param {number} x @param {number} y */
  const chosen = (x, y) => {
    if (cut) [x, y] = [Math.min(width - 1, Math.max(0, x)), Math.min(height - 1, Math.max(0, y))];
    else if (x < 0 || y < 0 || x >= width || y >= height) return false;
    const [row, column] = [down.cell[y], across.cell[x]];
    return emphasis !== null && row >= 0 && column >= 0 && emphasis[grid[first + row * stride + column]] === CHOSEN;
  };
  for (let y = 0; y < height; y++) {
    const row = down.cell[y];
    if (row < 0) continue;
    const top = down.since[y] === 0;
    for (let x = 0; x < width; x++) {
      const column = sides[x];
      if (column < 0) continue;
      const inCell = since[x];
      const cell = first + row * stride + column;
      const number = grid[cell];
      const left = inCell === 0;
      const look = 4 * number;
      const own = emphasis === null ? NORMAL : emphasis[number];
      const palette = own === DIMMED ? pale : colours;
      let colour = look < styles.length ? palette[styles[look]] : 0;
      const pattern = look < styles.length ? styles[look + 3] : 0;
      if (pattern !== 0) {
        const rising = x + x0 + y + y0;
        const falling = x + x0 - y - y0;
        if (pattern === stripes) {
          const at = rising % (2 * STRIPE);
          if (at % STRIPE >= STRIPE_GROUND) colour = palette[styles[look + (at < STRIPE ? 1 : 2)]];
        } else if (pattern === hatch) {
          if (falling % PERIOD === 0) colour = (own === DIMMED ? dimmed : plain).mark;
        } else if (pattern === dots) {
          if ((x + x0) % PERIOD === PERIOD / 2 && (y + y0) % PERIOD === PERIOD / 2) colour = (own === DIMMED ? dimmed : plain).mark;
        } else if (pattern === cross && (falling % PERIOD === 0 || rising % PERIOD === 0)) colour = (own === DIMMED ? dimmed : plain).ground;
      }
      if (number !== 0) {
        if (lined && (top || left)) colour = shade(colour, 7);
        if (groups !== null) {
          const group = groups[number];
          const edge =
            (top && row > 0 && groups[grid[cell - stride]] !== group) ||
            (left && column > 0 && groups[grid[cell - 1]] !== group);
          if (edge) colour = shade(colour, 5);
        }
        if (ruled && inCell < 2 && column + before > 0) {
          if (strong && (column + before) % strong === 0) colour = ink;
          else if (thin && inCell === 0 && (column + before) % thin === 0) {
            const [red, green, blue] = [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
            colour = pack((red + inkParts[0]) >> 1, (green + inkParts[1]) >> 1, (blue + inkParts[2]) >> 1);
          }
        }
        if (own === CHOSEN) {
          const inner =
            chosen(x - OUTLINE, y) && chosen(x + OUTLINE, y) && chosen(x, y - OUTLINE) && chosen(x, y + OUTLINE);
          if (!inner) colour = ink;
        }
      }
      pixels[y * width + x] = colour;
    }
  }
  return image;
}

/**
 * A colour of what is not chosen: halfway to the ground, as in `style.py`.
 * @param {number[]} parts @param {number[]} ground
 */
export const dimmed = (parts, ground) => parts.map((part, k) => (part + ground[k]) >> 1);

/** @typedef {{palette: Int32Array, mark: number, ground: number}} Paints */
/** @type {Map<string, {plain: Paints, dimmed: Paints}>} */
const PAINTS = new Map();

/**
 * A theme's colours as pixels have them: as they are, and dimmed. A picture may have a million classes, so nothing is
 * worked out for each.
 * @param {"light" | "dark"} theme
 */
function paintsOf(theme) {
  const known = PAINTS.get(theme);
  if (known) return known;
  const { palette, ground, mark } = STYLE.themes[theme];
  const groundParts = rgbOf(ground);
  const paints = (/** @type {boolean} */ isDimmed) => {
    const packed = (/** @type {number[]} */ parts) => {
      const [red, green, blue] = isDimmed ? dimmed(parts, groundParts) : parts;
      return pack(red, green, blue);
    };
    // A place for every number of a style: to read beyond an array's end takes long.
    const colours = new Int32Array(1 << 16);
    for (let k = 0; 3 * k < palette.length; k++) colours[k] = packed(palette.slice(3 * k, 3 * k + 3));
    return { palette: colours, mark: packed(rgbOf(mark)), ground: packed(groundParts) };
  };
  const found = { plain: paints(false), dimmed: paints(true) };
  PAINTS.set(theme, found);
  return found;
}

export const EMPHASIS = { normal: NORMAL, chosen: CHOSEN, dimmed: DIMMED };
