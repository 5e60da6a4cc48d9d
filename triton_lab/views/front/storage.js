/** Storage: tensors in memory; point at an element and see the arithmetic and every place it shares. */

import { make } from "./dom.js";
import { cellOf, indexOf } from "./frame.js";
import { Heatmap } from "./heatmap.js";

/** @typedef {{name: string, shape: number[], strides: number[], offset: number, itemsize: number, memory: number, start: number}} Tensor */

/**
 * The indices of up to `limit` elements of a tensor at an offset counted from its element 0.
 * @param {Tensor} tensor
 * @param {number} offset
 * @param {number} limit
 * @returns {number[][]}
 */
export function elementsAt({ shape, strides }, offset, limit) {
  /** @type {number[][]} */
  const found = [];
  if (shape.includes(0)) return found;
  const order = shape.map((_, axis) => axis).sort((a, b) => strides[b] - strides[a]);
  const reach = order.map((_, k) => order.slice(k).reduce((sum, axis) => sum + (shape[axis] - 1) * strides[axis], 0));
  const index = new Array(shape.length).fill(0);
  /** @param {number} k @param {number} rest */
  const search = (k, rest) => {
    if (found.length === limit) return;
    if (k === order.length) {
      if (rest === 0) found.push([...index]);
      return;
    }
    const axis = order[k];
    const stride = strides[axis];
    const below = reach[k + 1] ?? 0;
    const first = stride ? Math.max(0, Math.ceil((rest - below) / stride)) : 0;
    const last = Math.min(shape[axis] - 1, stride ? Math.floor(rest / stride) : shape[axis] - 1);
    for (index[axis] = first; index[axis] <= last; index[axis]++) search(k + 1, rest - index[axis] * stride);
    index[axis] = 0;
  };
  search(0, offset);
  return found.sort((a, b) => {
    const axis = a.findIndex((value, k) => value !== b[k]);
    return a[axis] - b[axis];
  });
}

const MOST_MARKED = 64;

/**
 * @param {any} scene
 * @returns {{node: HTMLElement, draw: () => void}}
 */
export function storageOf(scene) {
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  const strips = scene.strips.map((/** @type {any} */ strip) => new Heatmap(strip));
  const grids = scene.grids.map((/** @type {any} */ grid) => new Heatmap(grid));
  const all = [...strips, ...grids];

  /**
   * Mark a stretch of bytes of a memory everywhere, and tell what lies there.
   * @param {number} memory @param {number} byte @param {number} length @param {Heatmap | null} source @param {string} lead
   */
  const point = (memory, byte, length, source, lead) => {
    const words = [lead];
    const { unit } = scene.memories[memory];
    strips.forEach((/** @type {Heatmap} */ strip, /** @type {number} */ k) => {
      if (strip === source) return;
      const first = Math.floor(byte / unit);
      const places = Array.from({ length: Math.max(1, Math.min(MOST_MARKED, Math.floor(length / unit))) }, (_, n) => first + n);
      strip.mark(k === memory ? present(places.map((place) => cellOf(strip.layout, [place]))) : []);
    });
    scene.tensors.forEach((/** @type {Tensor} */ tensor, /** @type {number} */ k) => {
      const marked = [];
      if (tensor.memory === memory) {
        const base = tensor.start + tensor.offset * tensor.itemsize;
        const low = Math.floor((byte - base) / tensor.itemsize);
        const high = Math.floor((byte + length - 1 - base) / tensor.itemsize);
        for (let offset = low; offset <= high && marked.length < MOST_MARKED; offset++) {
          marked.push(...elementsAt(tensor, offset, MOST_MARKED - marked.length));
        }
        if (marked.length && grids[k] !== source) words.push(sentence(tensor, marked));
      }
      if (grids[k] !== source) grids[k].mark(present(marked.map((index) => cellOf(grids[k].layout, index))));
    });
    status.textContent = words.filter(Boolean).join(" · ");
  };
  const clear = () => {
    for (const heatmap of all) heatmap.mark([]);
    status.textContent = "Point at an element or at a place in storage.";
  };

  strips.forEach((/** @type {Heatmap} */ strip, /** @type {number} */ memory) => {
    const { letter, unit } = scene.memories[memory];
    strip.onpoint = (cell) => {
      if (!cell) return clear();
      const { index, right } = indexOf(strip.layout, ...cell);
      point(memory, index[0] * unit, unit * right, strip, `storage ${letter}, ${stretch(index[0] * unit, unit * right)}`);
    };
  });
  grids.forEach((/** @type {Heatmap} */ grid, /** @type {number} */ k) => {
    /** @type {Tensor} */
    const tensor = scene.tensors[k];
    grid.onpoint = (cell) => {
      if (!cell) return clear();
      const { index } = indexOf(grid.layout, ...cell);
      const offset = index.reduce((sum, value, axis) => sum + value * tensor.strides[axis], tensor.offset);
      const byte = tensor.start + offset * tensor.itemsize;
      const where = `storage ${scene.memories[tensor.memory].letter}, ${stretch(byte, tensor.itemsize)}`;
      point(tensor.memory, byte, tensor.itemsize, grid, `${arithmeticOf(tensor, index)} · ${where}`);
    };
  });
  clear();
  const node = make(
    "div", { class: "tl-storage" },
    tableOf(scene.headings, scene.table),
    ...scene.overlaps.slice(0, 4).map((/** @type {string} */ words) => make("div", { class: "tl-note" }, words)),
    ...strips.map((/** @type {Heatmap} */ strip) => strip.node),
    make("div", { class: "tl-row" }, ...grids.map((/** @type {Heatmap} */ grid) => grid.node)),
    status,
  );
  return { node, draw: () => all.forEach((heatmap) => heatmap.draw()) };
}

/** @param {(import("./heatmap.js").Cell | null)[]} cells */
const present = (cells) => /** @type {import("./heatmap.js").Cell[]} */ (cells.filter((cell) => cell !== null));

/** @param {number} byte @param {number} length */
const stretch = (byte, length) => (length === 1 ? `byte ${byte}` : `bytes ${byte}–${byte + length - 1}`);

/**
 * `x[1, 3] is at 2 + 1·6 + 3·1 = 11`
 * @param {Tensor} tensor
 * @param {number[]} index
 */
export function arithmeticOf(tensor, index) {
  const terms = [tensor.offset, ...index.map((value, axis) => `${value}·${tensor.strides[axis]}`)];
  const total = index.reduce((sum, value, axis) => sum + value * tensor.strides[axis], tensor.offset);
  return `${tensor.name}[${index.join(", ")}] is at ${terms.join(" + ")} = ${total}`;
}

/** @param {Tensor} tensor @param {number[][]} marked */
function sentence(tensor, marked) {
  if (marked.length === 1) return arithmeticOf(tensor, marked[0]);
  const some = marked.slice(0, 3).map((index) => `[${index.join(", ")}]`);
  const more = marked.length > 3 ? " …" : "";
  return `${tensor.name} ${some.join(", ")}${more} (${marked.length}${marked.length === MOST_MARKED ? " or more" : ""} elements)`;
}

/**
 * @param {string[]} headings
 * @param {string[][]} rows
 */
export function tableOf(headings, rows) {
  const head = make("tr", {}, ...headings.map((words) => make("th", { scope: "col" }, words)));
  const body = rows.map((row) =>
    make("tr", {}, ...row.map((words, k) => (k ? make("td", {}, words) : make("th", { scope: "row" }, words)))),
  );
  return make("table", { class: "tl-table" }, make("thead", {}, head), make("tbody", {}, ...body));
}
