/** A block of numbers painted in the browser: a ramp, marks for NaN and infinities, a histogram. */

import { numbers } from "./data.js";
import { make, penOf } from "./dom.js";
import { Heatmap } from "./heatmap.js";
import { cellLabels, numberText } from "./labels.js";
import { short } from "./legend.js";
import { countOf } from "./words.js";
import { STYLE } from "./style.js";

/**
 * The scene of a heatmap of one block.
 * @param {import("../scenes.js").BlockScene} picture
 * @param {import("../scenes.js").Painting} painting
 * @param {ArrayLike<number>} values in reading order
 * @param {[number, number]} ends of the ramp
 * @param {ArrayLike<number> | null} mask 0 where there is no number
 * @returns {import("../scenes.js").HeatmapScene}
 */
export function blockScene(picture, painting, values, [low, high], mask = null) {
  const diverging = low < 0 && high > 0;
  const [start, levels] = diverging ? painting.diverging : painting.sequential;
  const looks = [[0, 0, 0, 0]];
  for (let k = 0; k < levels; k++) looks.push([start + k, start + k, start + k, 0]);
  for (const [look] of painting.marks) looks.push(look);
  looks.push(painting.unknown);
  const first = numbers(picture.first);
  const cells = new Uint8Array(first.length);
  const seen = new Set();
  const half = Math.floor(levels / 2);
  for (let cell = 0; cell < first.length; cell++) {
    if (!first[cell]) continue;
    const value = values[first[cell] - 1];
    /** @type {number} */
    let level;
    if (mask && !mask[first[cell] - 1]) level = levels + painting.marks.length;
    else if (Number.isNaN(value)) level = levels;
    else if (value === Infinity) level = levels + 1;
    else if (value === -Infinity) level = levels + 2;
    else if (diverging) level = half + Math.sign(value) * Math.ceil(Math.min(1, Math.abs(value) / high) * half);
    else level = Math.round(Math.min(1, Math.max(0, (value - low) / (high - low || 1))) * (levels - 1));
    cells[cell] = 1 + level;
    seen.add(level - levels);
  }
  const known = (/** @type {number} */ cell) => first[cell] && (!mask || mask[first[cell] - 1]);
  const labels = cellLabels(picture.layout, picture.room, (cell) => {
    const value = known(cell) ? values[first[cell] - 1] : NaN;
    return Number.isFinite(value) ? numberText(value) : "";
  });
  const legend = painting.marks.filter((_, k) => seen.has(k));
  if (seen.has(painting.marks.length)) legend.push([painting.unknown, "not touched"]);
  return {
    layout: picture.layout, room: picture.room, panelNames: picture.panelNames, title: "", labels, groups: null,
    right: "", down: "", rules: [0, 0], legend, rampName: "", ramp: low < high ? [start, levels, low, high] : null,
    cells: { type: "u1", bytes: cells },
    styles: { type: "u2", bytes: new Uint8Array(Uint16Array.from(looks.flat()).buffer) },
  };
}

/**
 * A heatmap of one block; the pointer tells the element and its value.
 * @param {import("../scenes.js").BlockScene} picture @param {import("../scenes.js").Painting} painting @param {ArrayLike<number>} values @param {[number, number]} ends
 * @param {ArrayLike<number> | null} mask
 * @param {(index: number[] | null, position: number) => string | void} onpoint
 */
export function blockHeatmap(picture, painting, values, ends, mask, onpoint) {
  const heatmap = new Heatmap(blockScene(picture, painting, values, ends, mask));
  const first = numbers(picture.first);
  const { shape, panels, rows, columns } = picture.layout;
  heatmap.onpoint = (cell) => {
    if (!cell) return onpoint(null, -1);
    const position = first[(cell[0] * rows + cell[1]) * columns + cell[2]] - 1;
    const index = [];
    for (let axis = shape.length - 1, rest = position; axis >= 0; axis--) {
      index.unshift(rest % shape[axis]);
      rest = Math.floor(rest / shape[axis]);
    }
    return panels ? onpoint(index, position) : undefined;
  };
  return heatmap;
}

/** A number as it is told. @param {number} value */
export const tell = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(7))));

const BAR_BINS = 32;
const BARS = [240, 120];

/**
 * How the values are spread, as bars.
 * @param {ArrayLike<number>} values
 * @param {boolean} whole whether they are integers
 * @returns {{node: HTMLElement, draw: (theme: "light" | "dark") => void}}
 */
export function barsOf(values, whole) {
  let [low, high, nan, plus, minus, finite] = [Infinity, -Infinity, 0, 0, 0, 0];
  for (let k = 0; k < values.length; k++) {
    const value = values[k];
    if (Number.isNaN(value)) nan++;
    else if (value === Infinity) plus++;
    else if (value === -Infinity) minus++;
    else [low, high, finite] = [Math.min(low, value), Math.max(high, value), finite + 1];
  }
  const few = whole && high - low < BAR_BINS;
  const bins = !finite ? 0 : few ? high - low + 1 : high > low ? BAR_BINS : 1;
  /** @type {number[]} */
  const counts = new Array(bins).fill(0);
  for (let k = 0; k < values.length; k++) {
    if (!Number.isFinite(values[k])) continue;
    const place = few ? values[k] - low : high > low ? Math.floor(((values[k] - low) / (high - low)) * bins) : 0;
    counts[Math.min(bins - 1, place)]++;
  }
  const most = Math.max(1, ...counts);
  const [width, height] = BARS;
  const canvas = make("canvas", { width, height, class: "tl-bars", role: "img" });
  const odd = [[nan, "NaN"], [plus, "+∞"], [minus, "-∞"]].filter(([count]) => count).map(([count, name]) => `${count} ${name}`);
  const words = [countOf(finite, "number"), ...odd].join(", ");
  canvas.setAttribute("aria-label", `histogram of ${words}`);
  const node = make(
    "div", { class: "tl-histogram" },
    make("div", { class: "tl-note" }, finite ? `highest bar: ${most}` : ""),
    canvas,
    make("div", { class: "tl-ends" }, make("span", {}, finite ? short(low) : ""), make("span", {}, finite ? short(high) : "")),
    make("div", {}, words),
  );
  return {
    node,
    draw(theme) {
      const pen = penOf(canvas);
      pen.clearRect(0, 0, width, height);
      pen.fillStyle = STYLE.themes[theme].accent;
      counts.forEach((count, k) => {
        const [left, right] = [Math.round((k * width) / bins), Math.round(((k + 1) * width) / bins)];
        const tall = count ? Math.max(1, (height * count) / most) : 0;
        pen.fillRect(left, height - tall, Math.max(1, right - left - 1), tall);
      });
    },
  };
}
