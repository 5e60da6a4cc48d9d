/** What a step changed: cells that flash, a corner of each that stays, and words. */

import { LEFT } from "./axes.js";
import { numbers } from "./data.js";
import { make, penOf, ratioOf } from "./dom.js";
import { inkOn, numberText } from "./labels.js";
import { boxOf } from "./lens.js";
import { STYLE } from "./style.js";
import { themeOf } from "./theme.js";
import { countOf } from "./words.js";
import { tr } from "../localization.js";

/** @typedef {import("./heatmap.js").Heatmap} Heatmap */
/** @typedef {import("./heatmap.js").Cell} Cell */

const LEAST_CORNERED = 8; // pixels: smaller cells have no room for a mark in their corner

/**
 * What is another number than before.
 * @param {import("../scenes.js").BlockScene} picture
 * @param {ArrayLike<number>} values @param {ArrayLike<number>} before in reading order, both
 * @returns {{count: number, cells: Cell[]}} how many elements, and the cells that show them
 */
export function changesOf({ layout, first }, values, before) {
  // Two NaN are the same here: nothing happened.
  const other = (/** @type {number} */ k) => values[k] !== before[k] && !(Number.isNaN(values[k]) && Number.isNaN(before[k]));
  let count = 0;
  for (let k = 0; k < values.length; k++) if (other(k)) count++;
  const shown = numbers(first);
  /** @type {Cell[]} */
  const cells = [];
  for (let cell = 0; cell < shown.length; cell++) {
    const inner = cell % (layout.rows * layout.columns);
    if (shown[cell] && other(shown[cell] - 1)) {
      cells.push([Math.floor(cell / (layout.rows * layout.columns)), Math.floor(inner / layout.columns), inner % layout.columns]);
    }
  }
  return { count, cells };
}

/**
 * The changes in words, and marked in the heatmap; they flash if they are new to the eye.
 * @param {Heatmap} heatmap
 * @param {import("../scenes.js").BlockScene} picture
 * @param {ArrayLike<number>} values @param {ArrayLike<number>} before
 * @param {string} since @param {boolean} flashes
 */
export function showChanges(heatmap, picture, values, before, since, flashes) {
  const { count, cells } = changesOf(picture, values, before);
  heatmap.changed = cells;
  if (flashes) flash(heatmap);
  const told = values.length === 1
    ? tr("it was {value} in {since}", { value: numberText(before[0]), since })
    : tr("{count} of {elements} changed since {since}", { count, elements: countOf(values.length, "element"), since });
  const sign = cells.length && cornered(heatmap.frame) ? " ◥" : "";
  return make("div", { class: "tl-changed" }, count || values.length > 1 ? told + sign : tr("the same as in {since}", { since }));
}

/** Whether a cell has room for a mark in its corner. @param {import("./frame.js").Frame} frame */
const cornered = ({ cellWidth, cellHeight }) => Math.min(cellWidth, cellHeight) >= LEAST_CORNERED;

/** A corner of each cell that changed, which stays. @param {CanvasRenderingContext2D} context @param {Heatmap} heatmap */
export function markChanges(context, heatmap) {
  if (!cornered(heatmap.frame)) return;
  const { palette } = STYLE.themes[heatmap.theme ?? "light"];
  for (const cell of heatmap.changed) {
    const { left, right, top, bottom } = boxOf(heatmap.lens, heatmap.stretchOf(cell));
    const { width, height } = heatmap.frame;
    if (right <= 0 || right > width || top < 0 || top >= height) continue; // out of sight
    const side = Math.min(7, Math.floor(Math.min(right - left, bottom - top) / 3));
    const [x, y] = [LEFT + right, heatmap.top + top];
    context.fillStyle = inkOn(palette, 3 * heatmap.styles[4 * heatmap.classAt(cell)]);
    context.beginPath();
    context.moveTo(x - side, y);
    context.lineTo(x, y);
    context.lineTo(x, y + side);
    context.fill();
  }
}

/** Highlights the changed cells for a moment, unless the user prefers no motion (`view.css`). @param {Heatmap} heatmap */
function flash(heatmap) {
  if (!heatmap.changed.length) return;
  const sheet = heatmap.sheet({ class: "tl-flash", "aria-hidden": "true", onanimationend: () => sheet.remove() });
  const ratio = ratioOf(heatmap.width, heatmap.height);
  const context = penOf(sheet);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = STYLE.themes[themeOf(heatmap.node)].accent;
  context.beginPath();
  context.rect(LEFT, heatmap.top, heatmap.frame.width, heatmap.frame.height);
  context.clip();
  for (const cell of heatmap.changed) {
    const { left, right, top, bottom } = boxOf(heatmap.lens, heatmap.stretchOf(cell));
    context.fillRect(LEFT + left, heatmap.top + top, right - left, bottom - top);
  }
  heatmap.overlay.before(sheet);
}
