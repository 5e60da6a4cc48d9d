/** The words of a heatmap: indices along its sides, names of panels, and what stands in its cells. */

import { explanationOf, wordOf } from "./explained.js";
import { cornerOf, indexOf, ticksOf } from "./frame.js";
import { CHARACTER, inkOn, LINE } from "./labels.js";
import { boxOf, inSight, isWhole, panelCorner } from "./lens.js";
import { dimmed, rgbOf } from "./raster.js";
import { STYLE } from "./style.js";
import { countOf } from "./words.js";
import { nounAlone, tr } from "../localization.js";

/** @typedef {import("./heatmap.js").Heatmap} Heatmap */
/** @typedef {import("./lens.js").Window} Window */
/** @typedef {import("./frame.js").Layout} Layout */

export const LEFT = 46;
export const TOP = 18;
const LEAST_TOLD = 26; // pixels: what narrower cells hold is told by the pointer

/** @param {CanvasRenderingContext2D} context @param {Heatmap} heatmap */
export function drawWords(context, heatmap) {
  const { frame } = heatmap;
  const theme = STYLE.themes[heatmap.theme ?? "light"];
  context.font = `${STYLE.small}px ${getComputedStyle(heatmap.node).fontFamily}`;
  context.textBaseline = "middle";
  context.fillStyle = theme.faint;
  if (!frame.width || !frame.height) return context.fillText(tr("no elements"), LEFT, heatmap.top + 8);
  if (isWhole(heatmap.lens)) numberWhole(context, heatmap);
  else numberSeen(context, heatmap);
  context.save();
  context.beginPath();
  context.rect(LEFT, heatmap.top, frame.width, frame.height);
  if (!isWhole(heatmap.lens)) context.clip();
  if (!tellCells(context, heatmap)) tellRegions(context, heatmap);
  context.restore();
}

/**
 * What a step right and a step down mean, and that a line is wrapped: words that are explained.
 * @param {import("./heatmap.js").Dressed} scene @param {import("./frame.js").Frame} frame @param {number} top
 */
export function stepWords(scene, frame, top) {
  const axis = /[xyz]$/.test(scene.right) ? "axis" : "";
  const told = scene.layout.shape.length < 2 && scene.down ? explanationOf("cache") : explanationOf("down", axis);
  const at = (/** @type {number} */ left, /** @type {number} */ below) => ({ class: "tl-step-word", style: `left:${left}px;top:${below}px` });
  return [
    ...(scene.right ? [wordOf(scene.right, explanationOf("right", axis), at(LEFT + frame.width + 8, top + Math.min(8, frame.height / 2) - 8))] : []),
    ...(scene.down ? [wordOf(scene.down, told, at(LEFT, top + frame.height + 3))] : []),
  ];
}

/**
 * That a tensor of one dimension is cut into rows; "" where it is not.
 * @param {Layout} layout @param {string} one what its cells stand for
 */
export function wrappedWords({ shape, origin, rows, columns, right }, one = "element") {
  if (shape.length !== 1 || rows < 2) return "";
  const wide = columns * right;
  const next = (wide - origin[0]).toLocaleString("en-US");
  return tr("wrapped: {elements} a row; {element} {next} continues the 1st row", {
    elements: countOf(wide, one), element: nounAlone(one, `${one}s`, 1), next,
  });
}

/** Indices along the first panel, and the names of all. @param {CanvasRenderingContext2D} context @param {Heatmap} heatmap */
function numberWhole(context, heatmap) {
  const { layout, frame } = heatmap;
  numberColumns(context, heatmap, ticksOf(layout.columns, frame.cellWidth, columnRoom(layout)).map((column) =>
    [column * layout.right, LEFT + (frame.cellWidth >= 8 ? column + 0.5 : column) * frame.cellWidth]));
  numberRows(context, heatmap, ticksOf(layout.rows, frame.cellHeight, 18).map((row) =>
    [row * layout.down, heatmap.top + (frame.cellHeight >= 8 ? row + 0.5 : row) * frame.cellHeight]));
  context.textAlign = "left";
  for (const [name, x, y] of namesOf(frame, heatmap.scene.panelNames)) {
    context.fillText(name, LEFT + x, heatmap.top + y - 8 - (y === 0 ? TOP : 0));
  }
}

/**
 * The names of panels and where they begin, without those that would run into the one before.
 * @param {import("./frame.js").Frame} frame @param {string[]} names
 * @returns {[string, number, number][]}
 */
function namesOf(frame, names) {
  let [end, line] = [0, 0];
  return names.flatMap((name, panel) => {
    const [x, y] = cornerOf(frame, panel);
    if (y === line && x < end) return [];
    [end, line] = [x + name.length * CHARACTER, y];
    return [/** @type {[string, number, number]} */ ([name, x, y])];
  });
}

/** How wide a picture is with the names of its panels. @param {import("./frame.js").Frame} frame @param {string[]} names */
export const widthWithNames = (frame, names) =>
  namesOf(frame, names).reduce((width, [name, x]) => Math.max(width, x + name.length * CHARACTER), frame.width);

/** Indices of what the lens shows, along the uppermost and the leftmost panels. @param {CanvasRenderingContext2D} context @param {Heatmap} heatmap */
function numberSeen(context, heatmap) {
  const { lens, frame, layout } = heatmap;
  const seen = inSight(lens);
  /** @param {number} first @param {number} count @param {number} size @param {number} room */
  const ticks = (first, count, size, room) => {
    const step = ticksOf(2, size, room)[1] ?? 1 << Math.ceil(Math.log2(room / size));
    const from = Math.ceil(first / step) * step;
    return Array.from({ length: Math.max(0, Math.ceil((first + count - from) / step)) }, (_, k) => from + k * step);
  };
  const [upper, leftmost] = [Math.min(...seen.map(({ panel }) => Math.floor(panel / layout.across))), Math.min(...seen.map(({ panel }) => panel % layout.across))];
  for (const stretch of seen) {
    const { panel, row, column, rows, columns } = stretch;
    const [across, down] = [panel % layout.across, Math.floor(panel / layout.across)];
    const middle = (/** @type {number} */ start, /** @type {number} */ end, /** @type {number} */ size) => (size >= 8 ? (start + end) / 2 : start);
    if (down === upper) {
      const places = ticks(column, columns, lens.width, columnRoom(layout)).map((at) => {
        const box = boxOf(lens, { panel, row, column: at, rows: 1, columns: 1 });
        return /** @type {[number, number]} */ ([at, middle(box.left, box.right, lens.width)]);
      });
      numberColumns(context, heatmap, places.filter(([, x]) => x >= 0 && x <= frame.width).map(([at, x]) => [at, LEFT + x]));
    }
    if (across === leftmost) {
      const places = ticks(row, rows, lens.height, 18).map((at) => {
        const box = boxOf(lens, { panel, row: at, column, rows: 1, columns: 1 });
        return /** @type {[number, number]} */ ([at, middle(box.top, box.bottom, lens.height)]);
      });
      numberRows(context, heatmap, places.filter(([, y]) => y >= 0 && y <= frame.height).map(([at, y]) => [at, heatmap.top + y]));
    }
    const name = heatmap.scene.panelNames[panel];
    if (!name) continue;
    const [x, y] = panelCorner(lens, panel);
    context.textAlign = "left";
    context.fillText(name, LEFT + Math.max(0, x), y > 8 ? heatmap.top + y - 8 : heatmap.top - 8 - TOP);
  }
}

/** How far numbers of columns stand apart. @param {import("../scenes.js").Layout} layout */
const columnRoom = (layout) => 18 + 6 * String(layout.columns * layout.right).length;

/** @param {CanvasRenderingContext2D} context @param {Heatmap} heatmap @param {[number, number][]} places positions, and where */
function numberColumns(context, { layout, top, scene }, places) {
  const wrapped = layout.shape.length < 2 && layout.rows > 1;
  const start = wrapped ? 0 : layout.origin.at(-1) ?? 0;
  const [times, each] = scene.counted ?? [1, 1];
  context.textAlign = "center";
  for (const [column, x] of places) {
    const number = ((column - start) * times) / each;
    if (Number.isInteger(number)) context.fillText(String(number), x, top - 9);
  }
}

/** @param {CanvasRenderingContext2D} context @param {Heatmap} heatmap @param {[number, number][]} places positions, and where */
function numberRows(context, { layout }, places) {
  const wrapped = layout.shape.length < 2;
  const [each, start] = wrapped ? [layout.columns * layout.right, layout.origin[0] ?? 0] : [1, layout.origin[layout.origin.length - 2]];
  context.textAlign = "right";
  for (const [row, y] of places) context.fillText(String(row * each - start), LEFT - 6, y);
}

/**
 * Where positions are drawn singly and large: the index of each and what it holds. Returns whether it did.
 * @param {CanvasRenderingContext2D} context @param {Heatmap} heatmap
 */
function tellCells(context, heatmap) {
  const { lens } = heatmap;
  if (isWhole(lens) || lens.width < LEAST_TOLD || lens.height < LINE) return false;
  let told = false;
  for (const { panel, row, column, rows, columns } of inSight(lens)) {
    for (let k = 0; k < rows * columns; k++) {
      const position = /** @type {import("./lens.js").Position} */ ([panel, row + Math.floor(k / columns), column + (k % columns)]);
      const cell = heatmap.cellOver(position);
      if (!heatmap.isSingle(cell) || heatmap.classAt(cell) === 0) continue;
      told = true;
      const { left, top, right, bottom } = boxOf(lens, { panel, row: position[1], column: position[2], rows: 1, columns: 1 });
      const index = `[${indexOf(lens.fine, ...position).index.join(", ")}]`;
      const words = [index, heatmap.onword(cell)].filter((word) => word && word.length * CHARACTER + 3 <= right - left);
      const lines = bottom - top >= 2 * LINE ? words : words.slice(-1);
      context.textAlign = "center";
      lines.forEach((line, number) => {
        const y = (top + bottom) / 2 + (number - (lines.length - 1) / 2) * LINE + 0.5;
        write(context, heatmap, cell, line, LEFT + (left + right) / 2, heatmap.top + y, right - left);
      });
    }
  }
  return told;
}

/** The words of regions, in the middle of what is seen of them. @param {CanvasRenderingContext2D} context @param {Heatmap} heatmap */
function tellRegions(context, heatmap) {
  const { lens, layout, frame } = heatmap;
  const { down, right } = layout;
  const chosen = isWhole(lens) && frame === heatmap.largest; // for which Python chose words that have room
  context.textAlign = "center";
  for (const [panel, row, column, rows, columns, text] of heatmap.scene.labels) {
    const box = boxOf(lens, { panel, row: row * down, column: column * right, rows: rows * down, columns: columns * right });
    const [x0, x1] = [Math.max(0, box.left), Math.min(frame.width, box.right)];
    const [y0, y1] = [Math.max(0, box.top), Math.min(frame.height, box.bottom)];
    if (!chosen && (x1 - x0 < text.length * CHARACTER + 3 || y1 - y0 < LINE)) continue;
    write(context, heatmap, [panel, row, column], text, LEFT + (x0 + x1) / 2, heatmap.top + (y0 + y1) / 2 + 0.5, x1 - x0);
  }
}

/**
 * Words on a cell's colour, in the middle of a place that is so wide.
 * @param {CanvasRenderingContext2D} context @param {Heatmap} heatmap @param {import("./heatmap.js").Cell} cell
 * @param {string} text @param {number} x @param {number} y @param {number} room
 */
function write(context, heatmap, cell, text, x, y, room) {
  const { ink, ground, patterned } = heatmap.inkAt(cell);
  if (patterned) {
    // No word could be read on lines (dots are few). The rules of words leave room for them; their ground may take some more.
    const wide = Math.min(text.length * CHARACTER + 8, room - 2);
    context.fillStyle = ground;
    context.fillRect(x - wide / 2, y - 7.5, wide, 14);
  } else if (heatmap.isMarked) {
    // Cut out of an outline that passes below.
    Object.assign(context, { lineWidth: 3, lineJoin: "round", strokeStyle: ground });
    context.strokeText(text, x, y);
  }
  context.fillStyle = ink;
  context.fillText(text, x, y);
}

/**
 * What is read on a style, and on which colour: by the rules of `style.py`.
 * @param {import("./data.js").Numbers} styles @param {number} number the class @param {"light" | "dark"} theme
 * @param {boolean} isDimmed
 */
export function inkOf(styles, number, theme, isDimmed) {
  const { palette, ground } = STYLE.themes[theme];
  const at = 3 * styles[4 * number];
  const own = palette.slice(at, at + 3);
  const [pattern, { plain, dots }] = [styles[4 * number + 3], STYLE.pattern];
  const seen = isDimmed ? dimmed(own, rgbOf(ground)) : own;
  return { ink: inkOn(seen, 0), ground: `rgb(${seen.join(",")})`, patterned: pattern !== plain && pattern !== dots };
}
