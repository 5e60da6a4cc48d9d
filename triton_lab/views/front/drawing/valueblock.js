/** A block of numbers painted in the browser: a ramp, and marks for NaN and infinities. */

import { numbers } from "./data.js";
import { indexOf } from "./frame.js";
import { Heatmap } from "./heatmap.js";
import { cellLabels, numberText } from "./labels.js";
import { tr } from "../localization.js";

/**
 * How the numbers of a block look: the class of each, and the styles of the classes.
 * @param {import("../scenes.js").Painting} painting
 * @param {[number, number]} ends of the ramp
 */
function looksOfNumbers({ sequential, diverging, marks, unknown }, [low, high]) {
  const signed = low < 0 && high > 0;
  const [start, levels] = signed ? diverging : sequential;
  const looks = [[0, 0, 0, 0]];
  for (let k = 0; k < levels; k++) looks.push([start + k, start + k, start + k, 0]);
  for (const [look] of marks) looks.push(look);
  looks.push(unknown);
  const half = Math.floor(levels / 2);
  const levelOf = (/** @type {number} */ value) => {
    if (Number.isNaN(value)) return levels;
    if (value === Infinity) return levels + 1;
    if (value === -Infinity) return levels + 2;
    if (signed) return half + Math.sign(value) * Math.ceil(Math.min(1, Math.abs(value) / high) * half);
    return Math.round(Math.min(1, Math.max(0, (value - low) / (high - low || 1))) * (levels - 1));
  };
  return {
    start, levels, styles: Uint16Array.from(looks.flat()),
    classOf: (/** @type {number} */ value, /** @type {boolean} */ there) => 1 + (there ? levelOf(value) : levels + marks.length),
  };
}

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
  const { start, levels, styles, classOf } = looksOfNumbers(painting, [low, high]);
  const first = numbers(picture.first);
  const cells = new Uint8Array(first.length);
  const seen = new Set();
  for (let cell = 0; cell < first.length; cell++) {
    if (!first[cell]) continue;
    cells[cell] = classOf(values[first[cell] - 1], !mask || Boolean(mask[first[cell] - 1]));
    seen.add(cells[cell] - 1 - levels);
  }
  const known = (/** @type {number} */ cell) => first[cell] && (!mask || mask[first[cell] - 1]);
  const labels = cellLabels(picture.layout, picture.room, (cell) => {
    const value = known(cell) ? values[first[cell] - 1] : NaN;
    return Number.isFinite(value) ? numberText(value) : "";
  });
  const legend = painting.marks.filter((_, k) => seen.has(k));
  if (seen.has(painting.marks.length)) legend.push([painting.unknown, tr("not touched")]);
  return {
    layout: picture.layout, room: picture.room, panelNames: picture.panelNames, title: "", labels, groups: null,
    right: "", down: "", rules: [0, 0], legend, rampName: "", ramp: low < high ? [start, levels, low, high] : null,
    cells: { type: "u1", bytes: cells },
    styles: { type: "u2", bytes: new Uint8Array(styles.buffer) },
  };
}

/**
 * What a lens draws of a window of a block whose cells stand for several numbers: all of them are here.
 * @param {import("../scenes.js").Painting} painting @param {ArrayLike<number>} values @param {[number, number]} ends
 * @param {ArrayLike<number> | null} mask @param {import("./lens.js").Window} window
 * @param {(panel: number, row: number, column: number) => number} positionOf where a number stands in the block
 * @returns {import("./magnified.js").Detail}
 */
export function blockDetail(painting, values, ends, mask, window, positionOf) {
  const { styles, classOf } = looksOfNumbers(painting, ends);
  const { panel, row, column, rows, columns } = window;
  const cells = Uint8Array.from({ length: rows * columns }, (_, k) => {
    const position = positionOf(panel, row + Math.floor(k / columns), column + (k % columns));
    return position < values.length ? classOf(values[position], !mask || Boolean(mask[position])) : 0;
  });
  return { window, cells, styles, emphasis: null, extra: null, marks: [], groups: null, rules: [0, 0] };
}

/**
 * A heatmap of one block; the pointer tells the element and its value, and so does a cell with room. Where cells stand
 * for several numbers, zooming in shows each.
 * @param {import("../scenes.js").BlockScene} picture @param {import("../scenes.js").Painting} painting @param {ArrayLike<number>} values @param {[number, number]} ends
 * @param {ArrayLike<number> | null} mask
 * @param {(index: number[] | null, position: number) => string | void} onpoint
 */
export function blockHeatmap(picture, painting, values, ends, mask, onpoint) {
  const heatmap = new Heatmap(blockScene(picture, painting, values, ends, mask));
  const { shape, panels } = picture.layout;
  const positionOf = (/** @type {number[]} */ index) => index.reduce((position, number, axis) => position * shape[axis] + number, 0);
  heatmap.onpoint = (cell) => {
    if (!cell) return onpoint(null, -1);
    const { index } = heatmap.indexAt(cell);
    return panels ? onpoint(index, positionOf(index)) : undefined;
  };
  heatmap.onword = (cell) => {
    const position = positionOf(heatmap.indexAt(cell).index);
    const value = heatmap.isSingle(cell) && (!mask || mask[position]) ? values[position] : NaN;
    return Number.isFinite(value) ? numberText(value) : "";
  };
  heatmap.zoom.offer((window, then) => {
    const { fine } = heatmap.lens;
    then(blockDetail(painting, values, ends, mask, window, (...at) => positionOf(indexOf(fine, ...at).index)));
  });
  return heatmap;
}

/** A number as it is told. @param {number} value */
export const tell = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(7))));
