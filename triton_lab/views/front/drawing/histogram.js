/** How the values of a block are spread, as the drawing that `histogram_figure.py` makes of them. */

import { numberText } from "./labels.js";
import { STYLE } from "./style.js";
import { countOf } from "./words.js";
import { tr } from "../localization.js";

/** @typedef {import("../scenes.js").DrawingScene} Drawing */

const BINS = 32; // as in `value_histogram.py`
const ROOM_OF_BARS = { wide: 240, high: 120, before: 44, above: 26, below: 54 }; // pixels, as in `histogram_figure.py`

/** @param {ArrayLike<number>} values @returns {Drawing} */
export function barsOf(values) {
  const { counts, low, high, finite, odd } = counted(values);
  const { wide, high: tall, before, above, below } = ROOM_OF_BARS;
  const most = Math.max(1, ...counts);
  const [bottom, right] = [above + tall, before + wide];
  const words = [countOf(finite, "number"), ...odd].join(", ");
  /** @type {Drawing["items"]} */
  const items = counts.flatMap((count, k) => {
    const [start, end] = [k, k + 1].map((edge) => Math.round((edge * wide) / counts.length));
    const height = Math.max(1, (tall * count) / most);
    return count ? [{ what: "box", x: before + start, y: bottom - height, width: Math.max(1, end - start - 1), height, fill: "accent", edge: "none", opacity: 1, line: 0, radius: 0, dashed: false, tag: "" }] : [];
  });
  /** @param {string} text @param {number} x @param {number} y @param {"left" | "center" | "right"} align */
  const write = (text, x, y, align = "left", colour = "faint") => items.push({ what: "words", x, y, text, size: (STYLE.small * 3) / 4, colour, align, bold: false, mono: false });
  const [x, y] = [before - 0.5, bottom + 0.5];
  items.push({ what: "segments", ends: [[[x, above], [x, bottom]], [[x, y], [right, y]]], colour: "mark", width: 1, dashes: [] });
  if (finite) {
    write(tr("how many"), 0, 8);
    write(most.toLocaleString("en-US"), before - 6, above + 4, "right");
    write("0", before - 6, bottom - 3, "right");
    write(numberText(low), before, bottom + 11);
    write(tr("value"), before + wide / 2, bottom + 11, "center");
    write(numberText(high), right, bottom + 11, "right");
  }
  write(words, before, bottom + 30, "left", "ink");
  return { kind: "drawing", width: right, height: bottom + below, items, source: "", label: tr("histogram of {values}", { values: words }) };
}

/** How many values lie in each bin, and what lies in none; whole numbers in a small range get a bin each. @param {ArrayLike<number>} values */
function counted(values) {
  let [low, high, nan, plus, minus, finite] = [Infinity, -Infinity, 0, 0, 0, 0];
  let whole = true;
  for (let k = 0; k < values.length; k++) {
    const value = values[k];
    if (Number.isNaN(value)) nan++;
    else if (value === Infinity) plus++;
    else if (value === -Infinity) minus++;
    else {
      [low, high, finite] = [Math.min(low, value), Math.max(high, value), finite + 1];
      whole &&= Number.isInteger(value);
    }
  }
  const few = whole && high - low < BINS;
  const bins = !finite ? 0 : few ? high - low + 1 : high > low ? BINS : 1;
  /** @type {number[]} */
  const counts = new Array(bins).fill(0);
  for (let k = 0; k < values.length; k++) {
    if (!Number.isFinite(values[k])) continue;
    const place = few ? values[k] - low : high > low ? Math.floor(((values[k] - low) / (high - low)) * bins) : 0;
    counts[Math.min(bins - 1, place)]++;
  }
  const odd = Object.entries({ NaN: nan, "+∞": plus, "-∞": minus }).filter(([, count]) => count).map(([name, count]) => `${count.toLocaleString("en-US")} ${name}`);
  return { counts, low, high, finite, odd };
}
