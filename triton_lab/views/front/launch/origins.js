/** Origins: a stored element and all that it was made from; a click on another one asks for its origins. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { cellOf, unravel } from "../drawing/frame.js";
import { Heatmap } from "../drawing/heatmap.js";
import { oneProgramPicker } from "./pickers.js";
import { callProgram } from "../drawing/words.js";
import { detailOf, finerOf } from "./finer.js";
import { heldAt } from "./strides.js";
import { goToOne, linesIn } from "../linked.js";
import { tr } from "../localization.js";

const NOT_NEEDED = 1;
const STORED_HERE = 2;
const FIRST = 3;

/**
 * @param {import("../scenes.js").OriginsScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {import("../part.js").Part}
 */
export function originsOf(scene, selection, context) {
  const { stored } = scene;
  // A page without a kernel keeps some elements' origins: the others cannot be picked.
  const keeps = (/** @type {number} */ element) => (element && context.has(`${scene.name}/${element - 1}`) ? element : 0);
  const elements = stored ? Uint32Array.from(numbers(stored.elements), keeps) : null;
  const firstOf = stored ? numbers(stored.first) : null;
  const title = make("div", { class: "tl-title" });
  const row = make("div", { class: "tl-row" });
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  const words = make("details", {});
  let shown = scene.shown;
  const picker = stored ? oneProgramPicker(stored.grid, selection, () => shown.program) : null;
  /** @type {number | null} the element that was asked for last */
  let wanted = shown.element;
  /** @type {Heatmap[]} */
  let heatmaps = [];

  const rest = () => (status.textContent = stored ? tr("Click a stored element to see the loads that it comes from.") : "");

  /** @param {number} element */
  const ask = (element) => {
    if (element === wanted) return;
    wanted = element;
    row.setAttribute("aria-busy", "true");
    context.ask(`${scene.name}/${element}`, (answer) => {
      if (wanted !== element) return;
      row.removeAttribute("aria-busy");
      if (answer.kind !== "origin") {
        status.textContent = answer.kind === "words" ? answer.text : "";
        wanted = shown.element;
        return;
      }
      shown = answer;
      build();
      draw();
      selection.set({ program: shown.program });
    });
  };

  /** @param {Heatmap} heatmap @param {string | undefined} name @param {number} element the one that is picked */
  const finest = (heatmap, name, element = -1) => {
    heatmap.zoom.offer(finerOf(context, name, (answer) => {
      if (answer.kind !== "window") return null;
      const { window: at, cells } = answer.heatmap;
      const detail = detailOf(at, cells, answer.heatmap, [0, 0], 1, null);
      const here = element < 0 ? null : cellOf(heatmap.lens.fine, unravel(element, heatmap.layout.shape));
      if (!detail || !here) return detail;
      const { panel, row, column, rows, columns } = detail.window;
      const [down, right] = [here[1] - row, here[2] - column];
      if (here[0] !== panel || down < 0 || right < 0 || down >= rows || right >= columns) return detail;
      detail.cells = detail.cells.slice();
      detail.cells[down * columns + right] = middleOf(scene.looks);
      return detail;
    }));
  };
  const build = () => {
    title.textContent = shown.title;
    const held = heatmaps[0]?.overlay === document.activeElement ? heatmaps[0].cursor : null;
    const focused = heatmaps[0]?.overlay === document.activeElement;
    const lens = heatmaps[0]?.lens;
    heatmaps = shown.pictures.map((picture) => markedOf(picture, scene.looks));
    heatmaps.forEach((heatmap, k) => finest(heatmap, shown.pictures[k].finer));
    for (const [k, heatmap] of heatmaps.entries()) {
      const linesAt = loadedBy(shown.pictures[k], heatmap);
      heatmap.onpick = (cell) => goToOne(context.linked, linesAt(cell), selection);
      heatmap.onpoint = (cell) => {
        context.linked?.point(cell ? linesAt(cell) : []);
        if (!cell) return rest();
        return (status.textContent = heatmap.classAt(cell) >= FIRST
          ? tr("{element} is part of it", { element: at(heatmap, cell) + valueIn(shown.pictures[k], heatmap, cell) })
          : tr("{element} is not needed", { element: at(heatmap, cell) }));
      };
    }
    if (stored && elements) {
      const own = markedOf({ ...stored, title: tr("stored: {value}", { value: shown.stored }) }, scene.looks, elements, shown.element ?? -1);
      /** @param {import("../drawing/heatmap.js").Cell} cell */
      const linesAt = (cell) => (own.classAt(cell) === NOT_NEEDED ? [] : linesIn([stored.line]));
      own.onpoint = (cell) => {
        context.linked?.point(cell ? linesAt(cell) : []);
        if (!cell) return rest();
        const element = `${stored.argument}${at(own, cell)}`;
        return (status.textContent = own.classAt(cell) === NOT_NEEDED
          ? tr("{element} has no origins to show", { element })
          : tr("{element}: click to see its origins", { element: element + valueIn(stored, own, cell) }));
      };
      finest(own, stored.finer, shown.element ?? -1);
      own.onpick = (cell) => {
        goToOne(context.linked, linesAt(cell), selection);
        const [panel, down, right, single] = cell;
        if (single) {
          const element = own.indexAt(cell).index.reduce((sum, at, axis) => sum * stored.shape[axis] + at, 0);
          if (own.classAt(cell) !== NOT_NEEDED && context.has(`${scene.name}/${element}`)) ask(element);
          return;
        }
        const element = elements[(panel * own.layout.rows + down) * own.layout.columns + right];
        if (element) ask(element - 1);
      };
      own.overlay.setAttribute("aria-label", tr("{name}: arrow keys move from cell to cell, Enter shows the origins", { name: stored.argument }));
      heatmaps.unshift(own);
      // What was looked at closely stays so.
      if (lens) own.zoom.follow(lens);
      own.cursor = held;
    }
    row.replaceChildren(...heatmaps.map((heatmap) => heatmap.node));
    if (focused) heatmaps[0].overlay.focus();
    words.replaceChildren(
      make("summary", {}, tr("The same in words")),
      ...shown.lines.map((line) => make("div", { class: "tl-note" }, line)),
    );
    rest();
  };
  const draw = () => heatmaps.forEach((heatmap) => heatmap.draw());
  const update = () => {
    picker?.update();
    const program = selection.get().program ?? null;
    if (program === null || !firstOf || !stored || program === shown.program) return;
    if (firstOf[program]) ask(firstOf[program] - 1);
    else status.textContent = tr("{program} stored nothing here.", { program: callProgram(program, stored.grid) });
  };
  build();
  selection.subscribe(update);
  const node = make(
    "div", { class: "tl-origins" }, title, make("div", { class: "tl-controls" }, ...(picker?.nodes ?? [])), row, status, words,
  );
  return {
    node,
    draw() {
      draw();
      update();
    },
  };
}

/** One element's origins alone, as words. @param {import("../scenes.js").OriginScene} scene @returns {import("../part.js").Part} */
export function originOf({ title }) {
  return { node: make("div", { class: "tl-words" }, title), draw: () => {} };
}

/** @param {Heatmap} heatmap @param {import("../drawing/heatmap.js").Cell} cell */
const at = (heatmap, cell) => `[${heatmap.indexAt(cell).index.join(", ")}]`;

/** The value of an element; "" where a cell has several. @param {{values?: import("../scenes.js").Buffer, layout: import("../scenes.js").Layout}} scene @param {Heatmap} heatmap @param {import("../drawing/heatmap.js").Cell} cell */
const valueIn = (scene, heatmap, cell) => (heatmap.isSingle(cell) ? heldAt(scene, scene.layout.shape, heatmap.indexAt(cell).index) : "");

/**
 * Tells which lines loaded what a cell of a picture stands for: none for what is not needed.
 * @param {import("../scenes.js").LoadedScene} picture @param {Heatmap} heatmap
 * @returns {(cell: import("../drawing/heatmap.js").Cell) => number[]}
 */
function loadedBy({ lines = [], loads = [] }, heatmap) {
  const { rows, columns, down, right } = heatmap.layout;
  const cells = loads.map((one) => new Set(numbers(one)));
  return (cell) => {
    if (heatmap.classAt(cell) < FIRST) return [];
    if (!cells.length) return lines;
    const [panel, row, column, single] = cell;
    // Of a single element all that is known is who loaded from its cell.
    const at = single ? [Math.floor(row / down), Math.floor(column / right)] : [row, column];
    const number = (panel * rows + at[0]) * columns + at[1];
    return lines.filter((_, k) => cells[k].has(number));
  };
}

/** The class of what is picked. @param {number[][]} looks */
const middleOf = (looks) => FIRST + Math.floor((looks.length - FIRST) / 2);

/**
 * An argument with its marked cells.
 * @param {import("../scenes.js").MarkedScene} picture
 * @param {number[][]} looks
 * @param {ArrayLike<number> | null} elements (cells,) not 0 where the store came
 * @param {number} element the one that is picked
 */
function markedOf(picture, looks, elements = null, element = -1) {
  const { layout } = picture;
  const cells = new Uint8Array(layout.panels * layout.rows * layout.columns).fill(NOT_NEEDED, 0, picture.there);
  const legend = [...picture.legend];
  if (elements) {
    const middle = middleOf(looks);
    for (let cell = 0; cell < cells.length; cell++) if (elements[cell]) cells[cell] = STORED_HERE;
    const here = element < 0 ? null : cellOf(layout, unravel(element, layout.shape));
    if (here) cells[(here[0] * layout.rows + here[1]) * layout.columns + here[2]] = middle;
    legend.push([looks[middle], tr("picked")], [looks[STORED_HERE], tr("click to pick")]);
  }
  const [places, levels] = [numbers(picture.cells), numbers(picture.levels)];
  for (let k = 0; k < places.length; k++) cells[places[k]] = Math.max(cells[places[k]], levels[k]);
  return new Heatmap({
    layout, room: picture.room, title: picture.title, panelNames: picture.panelNames, legend, labels: [], right: "", down: "",
    rules: [0, 0], ramp: picture.ramp, rampName: tr("iteration"),
    cells: { type: "u1", bytes: cells },
    styles: { type: "u2", bytes: new Uint8Array(Uint16Array.from(looks.flat()).buffer) },
    groups: { type: "u1", bytes: Uint8Array.from(looks, (_, k) => Math.min(k, FIRST)) },
  });
}
