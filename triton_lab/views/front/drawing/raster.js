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
 * @param {Looks} [looks] of the classes, where they are known: the same for all panels
 * @returns {ImageData}
 */
export function paint(heat, frame, panel, emphasis, theme, looks = undefined) {
  const { layout, cellWidth, cellHeight, panelWidth, panelHeight } = frame;
  const area = {
    across: evenly(panelWidth, cellWidth), down: evenly(panelHeight, cellHeight),
    first: panel * layout.rows * layout.columns, stride: layout.columns,
    lined: Math.min(cellWidth, cellHeight) >= LINED_CELL, left: 0, top: 0, before: 0, cut: false,
  };
  return paintArea(heat, area, emphasis, theme, looks);
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
 * @param {Looks} looks
 * @returns {ImageData}
 */
export function paintArea(heat, { across, down, first, stride, lined, left: x0, top: y0, before, cut }, emphasis, theme, looks = looksOf(heat.styles, emphasis, theme)) {
  const [width, height] = [across.cell.length, down.cell.length];
  const grid = heat.cells;
  const ink = pack(...rgbOf(STYLE.themes[theme].ink));
  const { stripes, hatch, dots, cross } = STYLE.pattern;
  const image = new ImageData(width, height);
  const pixels = new Int32Array(image.data.buffer);
  const groups = heat.groups;
  const [thin, strong] = heat.rules ?? [0, 0];
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
      const column = across.cell[x];
      if (column < 0) continue;
      const inCell = across.since[x];
      const cell = first + row * stride + column;
      const number = grid[cell];
      const left = inCell === 0;
      let colour = looks.first[number];
      const pattern = looks.pattern[number];
      if (pattern !== 0) {
        const rising = x + x0 + y + y0;
        const falling = x + x0 - y - y0;
        if (pattern === stripes) {
          const at = rising % (2 * STRIPE);
          if (at % STRIPE >= STRIPE_GROUND) colour = at < STRIPE ? looks.second[number] : looks.third[number];
        } else if (pattern === hatch) {
          if (falling % PERIOD === 0) colour = looks.mark[number];
        } else if (pattern === dots) {
          if ((x + x0) % PERIOD === PERIOD / 2 && (y + y0) % PERIOD === PERIOD / 2) colour = looks.mark[number];
        } else if (pattern === cross && (falling % PERIOD === 0 || rising % PERIOD === 0)) colour = looks.ground[number];
      }
      if (number !== 0) {
        if (lined && (top || left)) colour = shade(colour, 7);
        if (groups !== null) {
          const own = groups[number];
          const edge =
            (top && row > 0 && groups[grid[cell - stride]] !== own) ||
            (left && column > 0 && groups[grid[cell - 1]] !== own);
          if (edge) colour = shade(colour, 5);
        }
        if (column + before > 0 && inCell < 2) {
          if (strong && (column + before) % strong === 0) colour = ink;
          else if (thin && inCell === 0 && (column + before) % thin === 0) {
            const [red, green, blue] = [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
            colour = pack((red + inkParts[0]) >> 1, (green + inkParts[1]) >> 1, (blue + inkParts[2]) >> 1);
          }
        }
        if (emphasis !== null && emphasis[number] === CHOSEN) {
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

/** @typedef {{first: Int32Array, second: Int32Array, third: Int32Array, mark: Int32Array, ground: Int32Array, pattern: Uint8Array}} Looks */
/**
 * The colours of every class, dimmed where the emphasis says so.
 * @param {Cells} styles
 * @param {Uint8Array | null} emphasis
 * @param {"light" | "dark"} theme
 * @returns {Looks}
 */
export function looksOf(styles, emphasis, theme) {
  const count = styles.length / 4;
  const made = () => new Int32Array(count);
  /** @type {Looks} */
  const looks = { first: made(), second: made(), third: made(), mark: made(), ground: made(), pattern: new Uint8Array(count) };
  // There may be a million classes: of each colour it is worked out once what it is, and what it is dimmed.
  const [plain, dimmed] = [paintsOf(theme, false), paintsOf(theme, true)];
  for (let number = 0, at = 0; number < count; number++, at += 4) {
    const { palette, mark, ground } = emphasis !== null && emphasis[number] === DIMMED ? dimmed : plain;
    looks.first[number] = palette[styles[at]];
    looks.second[number] = palette[styles[at + 1]];
    looks.third[number] = palette[styles[at + 2]];
    looks.mark[number] = mark;
    looks.ground[number] = ground;
    looks.pattern[number] = styles[at + 3];
  }
  return looks;
}

/**
 * A theme's colours as pixels have them: as they are, or dimmed.
 * @param {"light" | "dark"} theme @param {boolean} dimmed
 */
function paintsOf(theme, dimmed) {
  const { palette, ground, mark } = STYLE.themes[theme];
  const groundParts = rgbOf(ground);
  /** @param {number[]} parts */
  const packed = (parts) => {
    const [red, green, blue] = dimmed ? parts.map((part, k) => (part + 3 * groundParts[k]) >> 2) : parts;
    return pack(red, green, blue);
  };
  const colours = Int32Array.from({ length: palette.length / 3 }, (_, k) => packed(palette.slice(3 * k, 3 * k + 3)));
  return { palette: colours, mark: packed(rgbOf(mark)), ground: packed(groundParts) };
}

export const EMPHASIS = { normal: NORMAL, chosen: CHOSEN, dimmed: DIMMED };
