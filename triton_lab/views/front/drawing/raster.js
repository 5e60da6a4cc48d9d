/** A heatmap's pixels, by the rules of `raster.py`, pixel for pixel. */

import { STYLE } from "./style.js";

const NORMAL = 0;
const CHOSEN = 1;
const DIMMED = 2;
const PERIOD = 6;
const STRIPE = 7;
const STRIPE_GROUND = 4;
const OUTLINE = 2;
const LINED_CELL = 8;

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

/**
 * @param {{cells: Cells, styles: Cells, groups: Cells | null, rules?: number[]}} heat
 * @param {import("./frame.js").Frame} frame
 * @param {number} panel
 * @param {Uint8Array | null} emphasis
 * @param {"light" | "dark"} theme
 * @returns {ImageData}
 */
export function paint(heat, frame, panel, emphasis, theme) {
  const { layout, cellWidth, cellHeight, panelWidth: width, panelHeight: height } = frame;
  const { rows, columns } = layout;
  const grid = heat.cells.subarray(panel * rows * columns, (panel + 1) * rows * columns);
  const looks = looksOf(heat.styles, emphasis, theme);
  const ink = pack(...rgbOf(STYLE.themes[theme].ink));
  const { stripes, hatch, dots, cross } = STYLE.pattern;
  const image = new ImageData(width, height);
  const pixels = new Int32Array(image.data.buffer);
  const lined = Math.min(cellWidth, cellHeight) >= LINED_CELL;
  const groups = heat.groups;
  const [thin, strong] = heat.rules ?? [0, 0];
  const inkParts = rgbOf(STYLE.themes[theme].ink);
  /** @param {number} x @param {number} y */
  const chosen = (x, y) =>
    x >= 0 && y >= 0 && x < width && y < height && emphasis !== null &&
    emphasis[grid[Math.floor(y / cellHeight) * columns + Math.floor(x / cellWidth)]] === CHOSEN;
  for (let y = 0; y < height; y++) {
    const row = Math.floor(y / cellHeight);
    const top = y % cellHeight === 0;
    for (let x = 0, column = 0, inCell = 0; x < width; x++) {
      const cell = row * columns + column;
      const number = grid[cell];
      const left = inCell === 0;
      let colour = looks.first[number];
      const pattern = looks.pattern[number];
      if (pattern !== 0) {
        const rising = x + y;
        if (pattern === stripes) {
          const at = rising % (2 * STRIPE);
          if (at % STRIPE >= STRIPE_GROUND) colour = at < STRIPE ? looks.second[number] : looks.third[number];
        } else if (pattern === hatch) {
          if ((x - y) % PERIOD === 0) colour = looks.mark[number];
        } else if (pattern === dots) {
          if (x % PERIOD === PERIOD / 2 && y % PERIOD === PERIOD / 2) colour = looks.mark[number];
        } else if (pattern === cross && ((x - y) % PERIOD === 0 || rising % PERIOD === 0)) colour = looks.ground[number];
      }
      if (number !== 0) {
        if (lined && (top || left)) colour = shade(colour, 7);
        if (groups !== null) {
          const own = groups[number];
          const edge =
            (top && row > 0 && groups[grid[cell - columns]] !== own) ||
            (left && column > 0 && groups[grid[cell - 1]] !== own);
          if (edge) colour = shade(colour, 5);
        }
        if (column > 0 && inCell < 2) {
          if (strong && column % strong === 0) colour = ink;
          else if (thin && inCell === 0 && column % thin === 0) {
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
      if (++inCell === cellWidth) {
        inCell = 0;
        column++;
      }
    }
  }
  return image;
}

/**
 * The colours of every class, dimmed where the emphasis says so.
 * @param {Cells} styles
 * @param {Uint8Array | null} emphasis
 * @param {"light" | "dark"} theme
 */
function looksOf(styles, emphasis, theme) {
  const { palette, ground, mark } = STYLE.themes[theme];
  const count = styles.length / 4;
  const groundParts = rgbOf(ground);
  /** @param {number[]} parts @param {number} number */
  const packed = ([red, green, blue], number) =>
    emphasis !== null && emphasis[number] === DIMMED
      ? pack((red + 3 * groundParts[0]) >> 2, (green + 3 * groundParts[1]) >> 2, (blue + 3 * groundParts[2]) >> 2)
      : pack(red, green, blue);
  /** @param {number} place */
  const colours = (place) => {
    const result = new Int32Array(count);
    for (let number = 0; number < count; number++) {
      const at = styles[4 * number + place] * 3;
      result[number] = packed([palette[at], palette[at + 1], palette[at + 2]], number);
    }
    return result;
  };
  /** @param {string} colour */
  const same = (colour) => Int32Array.from({ length: count }, (_, number) => packed(rgbOf(colour), number));
  const pattern = Uint8Array.from({ length: count }, (_, number) => styles[4 * number + 3]);
  return { first: colours(0), second: colours(1), third: colours(2), mark: same(mark), ground: same(ground), pattern };
}

export const EMPHASIS = { normal: NORMAL, chosen: CHOSEN, dimmed: DIMMED };
