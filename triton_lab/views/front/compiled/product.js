/** C = A @ B by tiles: drag a tile or its corner, and see what its program loads and what all of them move. */

import { make } from "../drawing/dom.js";
import { LEAST, svgOf } from "../drawing/drawing.js";
import { dragged, knobOf } from "../drawing/knob.js";
import { goesOn } from "../drawing/scroller.js";
import { CHARACTER } from "../drawing/labels.js";
import { STYLE } from "../drawing/style.js";
import { tableOf } from "../drawing/table.js";
import { themeOf } from "../drawing/theme.js";
import { sizeInWords, countOf, siOf, threeDigits } from "../drawing/words.js";
import { tr, withValues } from "../localization.js";

/** @typedef {import("../scenes.js").ProductScene} Scene */
/** @typedef {{tile: [number, number], program: [number, number]}} State the rows and columns of a tile; which tile */
/** @typedef {Scene["matrices"]["items"][number]} Item */

// As in `product_drawing.py`, `tiled_product_view.py` and `roofline.py`.
const RULES = { closest: 4, most: 64 };
const ROOF = { wide: 560, high: 240, left: 70, top: 18, mark: 9, step: 17 };
const APART = 14; // pixels of the page from the knob on a tile to the one at its corner

/**
 * What moves, in bytes, in tiles of so many rows and columns: loaded of A and B, and in all.
 * @param {Pick<Scene, "sizes" | "itemsize">} scene @param {[number, number]} tile
 */
export function movedBy({ sizes: [m, n, k], itemsize }, [rows, columns]) {
  const [a, b] = [Math.ceil(n / columns) * m * k * itemsize, Math.ceil(m / rows) * k * n * itemsize];
  return { a, b, total: a + b + m * n * itemsize };
}

/** The state with a tile of this size, at the element (top, left) as near as tiles can be. @param {Scene} scene @param {number[]} size @param {[number, number]} from @returns {State} */
export function resized({ heights, widths }, [rows, columns], [top, left]) {
  const tile = /** @type {[number, number]} */ ([nearest(heights, rows), nearest(widths, columns)]);
  return { tile, program: [Math.floor(top / tile[0]), Math.floor(left / tile[1])] };
}

/** Of powers of two, the one nearest by its exponent. @param {number[]} sides @param {number} wanted */
function nearest(sides, wanted) {
  const far = (/** @type {number} */ side) => Math.abs(Math.log2(side / Math.max(wanted, 0.5)));
  return sides.reduce((best, side) => (far(side) < far(best) ? side : best));
}

/** The state with another tile, held within C. @param {Scene} scene @param {State} state @param {number} row @param {number} column @returns {State} */
export function placed({ sizes: [m, n] }, { tile }, row, column) {
  const held = (/** @type {number} */ at, /** @type {number} */ size, /** @type {number} */ side) => Math.max(0, Math.min(Math.ceil(size / side) - 1, at));
  return { tile, program: [held(row, m, tile[0]), held(column, n, tile[1])] };
}

/** @type {import("../part.js").Draw<Scene>} */
export function productOf(scene) {
  const { sizes: [m, n, k], itemsize, says, boxes: [, , c], matrices } = scene;
  let state = placed(scene, { tile: scene.tile, program: [0, 0] }, ...scene.program);
  const title = make("div", { class: "tl-title" });
  const place = make("div", {});
  const roof = make("div", { class: "tl-roof tl-scroll", tabindex: 0, role: "group", "aria-label": scene.roof.label });
  const table = make("div", { class: "tl-scroll", tabindex: 0, role: "group", "aria-label": tr("what moves") });
  const told = make("div", { class: "tl-product-told", "aria-live": "polite" });
  /** The same element at the upper left corner, in other tiles. @param {number} rows @param {number} columns */
  const resize = (rows, columns, from = corner()) => go(resized(scene, [rows, columns], from));
  const corner = () => /** @type {[number, number]} */ ([state.program[0] * state.tile[0], state.program[1] * state.tile[1]]);
  const step = (/** @type {number[]} */ sides, /** @type {number} */ own, /** @type {number} */ by) => sides[Math.max(0, Math.min(sides.length - 1, sides.indexOf(own) + by))];

  const mover = knobOf("tl-knob tl-leans", tr("the tile: arrow keys move it"), { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [-Infinity, -Infinity], End: [Infinity, Infinity] }, ([down, across]) => {
    go(placed(scene, state, state.program[0] + down, state.program[1] + across));
  });
  const sizer = knobOf("tl-knob", tr("the size of the tile: arrow keys change it"), { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [-99, -99], End: [99, 99] }, ([down, across]) => {
    resize(step(scene.heights, state.tile[0], down), step(scene.widths, state.tile[1], across));
  });
  /** The element of C under the pointer. @param {MouseEvent} event */
  const under = (event) => {
    const box = place.getBoundingClientRect();
    const scale = matrices.width / Math.max(1, box.width);
    return [((event.clientY - box.top) * scale - c[1]) / c[3] * m, ((event.clientX - box.left) * scale - c[0]) / c[2] * n];
  };
  const pick = (/** @type {MouseEvent} */ event) => {
    const [row, column] = under(event);
    go(placed(scene, state, Math.floor(row / state.tile[0]), Math.floor(column / state.tile[1])));
  };
  dragged(mover, pick);
  let anchor = corner();
  dragged(sizer, (event) => {
    const [row, column] = under(event);
    resize(row - anchor[0], column - anchor[1], anchor);
  }, () => (anchor = corner()));
  const stage = make("div", { class: "tl-product-stage", onclick: (/** @type {MouseEvent} */ event) => {
    const [row, column] = under(event);
    if (row >= 0 && row < m && column >= 0 && column < n) pick(event);
  } }, place, make("div", { class: "tl-knobs" }, mover, sizer));
  stage.style.maxWidth = `${matrices.width}px`;
  const menu = (/** @type {string} */ name, /** @type {number[]} */ sides, /** @type {(side: number) => void} */ choose) =>
    make("select", { class: "tl-menu", "aria-label": name, onchange: (/** @type {Event} */ event) => choose(Number(/** @type {HTMLSelectElement} */ (event.target).value)) }, ...sides.map((side) => make("option", { value: side }, String(side))));
  const height = menu(tr("rows of a tile"), scene.heights, (side) => resize(side, state.tile[1]));
  const width = menu(tr("columns of a tile"), scene.widths, (side) => resize(state.tile[0], side));
  const controls = make("div", { class: "tl-controls" }, make("label", {}, tr("rows of a tile"), " ", height), make("label", {}, tr("columns of a tile"), " ", width));
  const node = make("div", { class: "tl-product" }, title, stage, controls, told, table, goesOn(table, tr("The table")), roof, goesOn(roof, tr("The drawing")), ...scene.notes.map((note) => make("div", { class: "tl-note" }, note)));

  function go(/** @type {State} */ next) {
    state = next;
    const { tile: [rows, columns], program: [row, column] } = state;
    const marks = marksOf(scene, state);
    title.textContent = withValues(says.title, { rows, columns });
    place.replaceChildren(svgOf({ ...matrices, items: [...matrices.items, ...marks.items] }, themeOf(node)));
    const [left, top, wide, tall] = marks.tile;
    const middle = [left + wide / 2, top + tall / 2];
    const apart = (APART * matrices.width) / (place.clientWidth || matrices.width);
    const end = [Math.max(left + wide, middle[0] + apart), Math.max(top + tall, middle[1] + apart)];
    for (const [knob, [x, y]] of /** @type {[HTMLElement, number[]][]} */ ([[mover, middle], [sizer, end]])) {
      Object.assign(knob.style, { left: `${(100 * x) / matrices.width}%`, top: `${(100 * y) / matrices.height}%` });
    }
    const across = Math.ceil(n / columns);
    const [under, beside] = [Math.min(rows, m - row * rows), Math.min(columns, n - column * columns)];
    const values = { row, column, top: row * rows, bottom: row * rows + under - 1, left: column * columns, right: column * columns + beside - 1, bytes: sizeInWords((under + beside) * k * itemsize) };
    const sentence = withValues(says.tile, values);
    mover.setAttribute("aria-valuenow", String(row * across + column));
    mover.setAttribute("aria-valuetext", sentence);
    sizer.setAttribute("aria-valuenow", String(rows * columns));
    sizer.setAttribute("aria-valuetext", withValues(says.tiles, { rows, columns }));
    [height.value, width.value] = [String(rows), String(columns)];
    const accumulator = rows * columns * Math.max(4, itemsize);
    const held = withValues(says.held, { bytes: sizeInWords(accumulator), room: sizeInWords(scene.registers) });
    told.replaceChildren(...[
      sentence, withValues(says.again, { across: countOf(across, "program"), down: countOf(Math.ceil(m / rows), "program") }),
      accumulator >= scene.registers ? `${held} ${says.full}` : held,
    ].map((line) => make("div", {}, line)));
    const compared = waysToMove(scene, state);
    table.replaceChildren(tableOf(scene.headings, compared.map(({ name, a, b, total, intensity, rate }) => [
      name, sizeInWords(a), sizeInWords(b), sizeInWords(total), threeDigits(intensity), withValues(says.rate, { rate: siOf(rate) }), rate < scene.peak ? says.memory : says.arithmetic,
    ])));
    const picture = svgOf({ ...scene.roof, items: [...scene.roof.items, ...underRoof(scene, compared)] }, themeOf(node));
    picture.style.minWidth = `${Math.round(scene.roof.width * LEAST)}px`;
    roof.replaceChildren(picture);
  }
  return { node, draw: () => go(state) };
}

/** The rows of the table: a program for each element, these tiles, and each byte once. @param {Scene} scene @param {State} state */
function waysToMove(scene, { tile }) {
  const { sizes: [m, n, k], says } = scene;
  return [
    { name: withValues(says.tiles, { rows: 1, columns: 1 }), ...movedBy(scene, [1, 1]) },
    { name: withValues(says.tiles, { rows: tile[0], columns: tile[1] }), ...movedBy(scene, tile) },
    { name: says.once, ...movedBy(scene, [m, n]) },
  ].map((row) => {
    const intensity = (2 * m * n * k) / row.total;
    return { ...row, intensity, rate: Math.min(scene.peak, intensity * scene.memory) };
  });
}

/** What a tile changes in the matrices, as `product_drawing.marked` has it, and its box. @param {Scene} scene @param {State} state */
export function marksOf({ sizes: [m, n], boxes: [a, b, c], hues }, { tile: [rows, columns], program: [row, column] }) {
  const [tall, wide] = [(rows * c[3]) / m, (columns * c[2]) / n];
  const [down, across] = [Math.ceil(m / rows), Math.ceil(n / columns)];
  /** @type {[[number, number], [number, number]][]} */
  const rules = [];
  if (tall >= RULES.closest && down <= RULES.most) for (let at = 1; at < down; at++) rules.push([[c[0], c[1] + at * tall], [c[0] + c[2], c[1] + at * tall]]);
  if (wide >= RULES.closest && across <= RULES.most) for (let at = 1; at < across; at++) rules.push([[c[0] + at * wide, c[1]], [c[0] + at * wide, c[1] + c[3]]]);
  const [top, left] = [row * tall, column * wide];
  const [height, width] = [Math.min(tall, c[3] - top), Math.min(wide, c[2] - left)];
  const spots = [[a[0], a[1] + top, a[2], height], [b[0] + left, b[1], width, b[3]], [c[0] + left, c[1] + top, width, height]];
  /** @type {Item[]} */
  const items = rules.length ? [{ what: "segments", ends: rules, colour: "line", width: 1, dashes: [] }] : [];
  spots.forEach(([x, y, w, h], at) => items.push({ what: "box", x, y, width: w, height: h, fill: hues[at] ?? "none", edge: "ink", opacity: 1, line: 1, radius: 0, dashed: false, tag: "ABC"[at] }));
  return { items, tile: spots[2] };
}

/** The marks under the roof and their labels, as `TiledProductView.under_roof` has them. @param {Scene} scene @param {ReturnType<typeof waysToMove>} compared @returns {Item[]} */
function underRoof({ axes: [from, to, low, high] }, compared) {
  const bottom = ROOF.top + ROOF.high;
  /** @type {Item[]} */
  const labels = [];
  const marks = compared.flatMap(({ name, intensity, rate }, at) => {
    const x = ROOF.left + ((Math.log10(intensity) - from) / (to - from)) * ROOF.wide;
    const y = ROOF.top + (1 - (Math.log10(rate) - low) / (high - low)) * ROOF.high;
    const begins = x + 7 + name.length * CHARACTER <= ROOF.left + ROOF.wide;
    labels.push({ what: "words", x: begins ? x + 7 : x - 7, y: bottom - ROOF.step * (at + 0.7), text: name, size: (STYLE.small * 3) / 4, colour: "error", align: begins ? "left" : "right", bold: at === 1, mono: false, halo: "ground" });
    return /** @type {Item[]} */ ([
      { what: "line", points: [[x, y + ROOF.mark / 2], [x, bottom]], colour: "error", width: 1, curved: false, dashed: false, arrow: false },
      { what: "box", x: x - ROOF.mark / 2, y: y - ROOF.mark / 2, width: ROOF.mark, height: ROOF.mark, fill: "none", edge: "error", opacity: 1, line: at === 1 ? 3 : 1.5, radius: 0, dashed: false, tag: "" },
    ]);
  });
  return [...marks, ...labels];
}
