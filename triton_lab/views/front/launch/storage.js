/** Storage: tensors in memory; point at an element and see the arithmetic and every place it shares. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { Heatmap } from "../drawing/heatmap.js";
import { Touched } from "./accesses.js";
import { iterationPicker, programPicker } from "./pickers.js";
import { tableOf } from "../drawing/table.js";
import { bytesFrom, countOf, listPrograms, programsMark } from "../drawing/words.js";
import { detailOf, finerOf } from "./finer.js";
import { elementsAt } from "./strides.js";
import { goToOne } from "../linked.js";
import { lineOf } from "../selection.js";
import { tr } from "../localization.js";

/** @typedef {import("./strides.js").Tensor} Tensor */

const MOST_MARKED = 64;
const MOST_OFFSETS = 1024; // elements under one place that are looked for

/**
 * @param {import("../scenes.js").StorageScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {{node: HTMLElement, draw: () => void}}
 */
export function storageOf(scene, selection, context) {
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  const grid = scene.launchGrid ?? [1, 1, 1];
  const strips = scene.strips.map((strip) => new Heatmap(strip));
  const grids = scene.grids.map((grid) => new Heatmap(grid));
  const all = [...strips, ...grids];
  const touches = [...scene.strips, ...scene.grids].map(({ touched }) => (touched ? new TouchedCells(touched, grid) : null));
  /** Who touches a cell, or the single position in it that is known. @param {number} k @param {import("../drawing/heatmap.js").Cell} cell */
  const touchesAt = (k, cell) => {
    const detail = cell[3] ? all[k].detailAt([cell[0], cell[1], cell[2]]) : null;
    return detail ? (detail.extra instanceof TouchedCells ? detail.extra : null) : touches[k];
  };
  const emphasisOf = (/** @type {TouchedCells | null} */ touched) => {
    const { program, iteration } = selection.get();
    return touched?.emphasis(program ?? null, iteration ?? null, lineOf(selection)) ?? null;
  };
  [...scene.strips, ...scene.grids].forEach(({ finer }, k) => {
    const heatmap = all[k];
    heatmap.zoom.offer(finerOf(context, finer, (answer) => {
      if (answer.kind !== "window") return null;
      const { window: at, cells, touched } = answer.heatmap;
      const own = touched ? new TouchedCells(touched, grid) : null;
      const detail = detailOf(at, cells, answer.heatmap, heatmap.rules, heatmap.layout.right, own);
      if (detail) detail.emphasis = emphasisOf(own);
      return detail;
    }));
  });
  /** @type {import("./pickers.js").Picker[]} */
  const pickers = [];
  if (scene.launchGrid) {
    const iterations = Math.max(0, ...touches.map((touched) => touched?.iterations ?? 0));
    pickers.push(programPicker(scene.launchGrid, selection), iterationPicker(iterations, selection));
  }

  /**
   * Mark a stretch of bytes of a memory everywhere, and tell what lies there.
   * @param {number} memory @param {number} byte @param {number} length @param {Heatmap | null} source
   * @param {string} lead @param {string} trail
   */
  const point = (memory, byte, length, source, lead, trail) => {
    const words = [lead];
    const { unit } = scene.memories[memory];
    strips.forEach((strip, k) => {
      if (strip === source) return;
      const first = Math.floor(byte / unit);
      const places = Array.from({ length: Math.max(1, Math.min(MOST_MARKED, Math.floor(length / unit))) }, (_, n) => first + n);
      strip.mark(k === memory ? present(places.map((place) => strip.cellAt([place]))) : []);
    });
    scene.tensors.forEach((tensor, k) => {
      const marked = [];
      if (tensor.memory === memory) {
        const base = tensor.start + tensor.offset * tensor.itemsize;
        const low = Math.floor((byte - base) / tensor.itemsize);
        const high = Math.floor((byte + length - 1 - base) / tensor.itemsize);
        // Counted from 0: one more than a number beyond 2^53 may be that number.
        const count = Math.min(high - low, MOST_OFFSETS) + 1;
        for (let k = 0; k < count && marked.length < MOST_MARKED; k++) {
          marked.push(...elementsAt(tensor, low + k, MOST_MARKED - marked.length));
        }
        if (marked.length && grids[k] !== source) words.push(sentence(tensor, marked));
      }
      if (grids[k] !== source) grids[k].mark(present(marked.map((index) => grids[k].cellAt(index))));
    });
    return (status.textContent = [...words, trail].filter(Boolean).join(" · "));
  };
  const clear = () => {
    for (const heatmap of all) heatmap.mark([]);
    context.linked?.point([]);
    return (status.textContent = scene.launchGrid
      ? tr("Point at an element or at a place in storage; click it to pick its program.")
      : tr("Point at an element or at a place in storage."));
  };
  all.forEach((heatmap, k) => {
    heatmap.onpick = (/** @type {import("../drawing/heatmap.js").Cell} */ cell) => {
      const there = touchesAt(k, cell)?.programsAt(heatmap.classAt(cell)) ?? [];
      goToOne(context.linked, linesAt(heatmap, cell), selection);
      // Clicking again goes on to the next program on the same element.
      const next = there[there.indexOf(selection.get().program ?? -1) + 1] ?? null;
      if (there.length) selection.set({ program: next });
    };
    heatmap.onkey = (/** @type {string} */ key) => key === "Escape" && Boolean(scene.launchGrid) && (selection.set({ program: null }), true);
  });
  const update = () => {
    for (const picker of pickers) picker.update();
    all.forEach((heatmap, k) => {
      const levels = emphasisOf(touches[k]);
      const of = (/** @type {import("../drawing/magnified.js").Detail} */ { extra }) => (extra instanceof TouchedCells ? emphasisOf(extra) : null);
      if (levels || heatmap.emphasis) heatmap.emphasise(levels, of);
    });
  };
  if (scene.launchGrid) selection.subscribe(update);
  /** Who touches a cell. @param {Heatmap} heatmap @param {import("../drawing/heatmap.js").Cell} cell */
  const touchers = (heatmap, cell) => {
    const touched = touchesAt(all.indexOf(heatmap), cell);
    if (!touched) return "";
    const there = touched.programsAt(heatmap.classAt(cell));
    return there.length ? listPrograms(there, grid) : scene.nobody;
  };

  /** The lines that touch a cell. @param {Heatmap} heatmap @param {import("../drawing/heatmap.js").Cell} cell */
  const linesAt = (heatmap, cell) => touchesAt(all.indexOf(heatmap), cell)?.linesAt(heatmap.classAt(cell)) ?? [];

  strips.forEach((strip, memory) => {
    const { letter, unit } = scene.memories[memory];
    strip.onword = (cell) => programsMark(touchesAt(memory, cell)?.programsAt(strip.classAt(cell)) ?? [], grid);
    strip.onpoint = (cell) => {
      if (!cell) return clear();
      context.linked?.point(linesAt(strip, cell));
      const { index, right } = strip.indexAt(cell);
      return point(memory, index[0] * unit, unit * right, strip, tr("storage {letter}, {bytes}", { letter, bytes: bytesFrom(index[0] * unit, unit * right) }), touchers(strip, cell));
    };
  });
  grids.forEach((picture, k) => {
    /** @type {Tensor} */
    const tensor = scene.tensors[k];
    picture.onword = (cell) => `@${offsetOf(tensor, picture.indexAt(cell).index)}`;
    picture.onpoint = (cell) => {
      if (!cell) return clear();
      context.linked?.point(linesAt(picture, cell));
      const { index } = picture.indexAt(cell);
      const offset = offsetOf(tensor, index);
      const byte = tensor.start + offset * tensor.itemsize;
      const where = tr("storage {letter}, {bytes}", { letter: scene.memories[tensor.memory].letter, bytes: bytesFrom(byte, tensor.itemsize) });
      return point(tensor.memory, byte, tensor.itemsize, picture, `${arithmeticOf(tensor, index)} · ${where}`, touchers(picture, cell));
    };
  });
  clear();
  const node = make(
    "div", { class: "tl-storage" },
    tableOf(scene.headings, scene.table),
    ...scene.overlaps.slice(0, 4).map((words) => make("div", { class: "tl-note" }, words)),
    ...pickers.filter((picker) => picker.nodes.length).map((picker) => make("div", { class: "tl-controls" }, ...picker.nodes)),
    ...strips.map((strip) => strip.node),
    make("div", { class: "tl-row" }, ...grids.map((grid) => grid.node)),
    status,
  );
  return {
    node,
    draw() {
      all.forEach((heatmap) => heatmap.draw());
      update();
    },
  };
}

/** Who touches the cells of a picture whose classes are told apart by that. */
class TouchedCells {
  /** @param {import("../scenes.js").ToldTouches} scene @param {number[]} grid */
  constructor(scene, grid) {
    this.of = numbers(scene.of);
    this.touched = new Touched({ ...scene, grid });
    this.iterations = this.touched.iterations;
  }

  /** @param {number} number a class of the heatmap */
  programsAt(number) {
    return this.touched.members(this.of[number]).active;
  }

  /** The lines that touch a class of the heatmap. @param {number} number */
  linesAt(number) {
    return this.touched.lines(this.of[number]);
  }

  /** @param {number | null} program @param {number | null} iteration @param {number | null} line */
  emphasis(program, iteration, line) {
    const levels = this.touched.emphasis(program, iteration, line);
    return levels && Uint8Array.from(this.of, (own) => levels[own]);
  }
}

/** @param {(import("../drawing/heatmap.js").Cell | null)[]} cells */
const present = (cells) => /** @type {import("../drawing/heatmap.js").Cell[]} */ (cells.filter((cell) => cell !== null));

/** Where an element is in its storage, counted in elements. @param {Tensor} tensor @param {number[]} index */
const offsetOf = (tensor, index) => index.reduce((sum, value, axis) => sum + value * tensor.strides[axis], tensor.offset);

/**
 * `x[1, 3] is at 2 + 1·6 + 3·1 = 11`
 * @param {Tensor} tensor
 * @param {number[]} index
 */
export function arithmeticOf(tensor, index) {
  const terms = [tensor.offset, ...index.map((value, axis) => `${value}·${tensor.strides[axis]}`)];
  const total = offsetOf(tensor, index);
  return tr("{element} is at {sum} = {total}", { element: `${tensor.name}[${index.join(", ")}]`, sum: terms.join(" + "), total });
}

/** @param {Tensor} tensor @param {number[][]} marked */
function sentence(tensor, marked) {
  if (marked.length === 1) return arithmeticOf(tensor, marked[0]);
  const some = marked.slice(0, 3).map((index) => `[${index.join(", ")}]`);
  const more = marked.length > 3 ? " …" : "";
  const elements = countOf(marked.length, "element");
  const counted = marked.length === MOST_MARKED ? tr("at least {elements}", { elements }) : elements;
  return `${tensor.name} ${some.join(", ")}${more} (${counted})`;
}
