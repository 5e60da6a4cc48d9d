/** A heatmap on a canvas: cells, numbers, labels, pointer and keyboard. It knows nothing of what cells mean. */

import { markChanges } from "./changes.js";
import { numbers } from "./data.js";
import { make, penOf, ratioOf, resize } from "./dom.js";
import { drawWords, inkOf, LEFT, stepWords, TOP, widthWithNames, wrappedWords } from "./axes.js";
import { explanationOf, wordOf } from "./explained.js";
import { cellOf, cornerOf, frameOf, indexOf } from "./frame.js";
import { legendOf } from "./legend.js";
import { boxOf, covers, isWhole, positionAt, showing, wholeLens } from "./lens.js";
import { fitted } from "./labels.js";
import { drawMagnified } from "./magnified.js";
import { EMPHASIS, paint } from "./raster.js";
import { readoutOf } from "./readout.js";
import { goesOn, reveal } from "./scroller.js";
import { STYLE } from "./style.js";
import { themeOf } from "./theme.js";
import { zoomOf } from "./zoom.js";
import { tr } from "../localization.js";

/** @typedef {[number, number, number] | [number, number, number, true]} Cell panel, row, column; true: of single positions where a cell of the picture has several */
/** @typedef {import("./magnified.js").Detail} Detail */
/** @typedef {import("./lens.js").Position} Position */
/** @typedef {import("./frame.js").Layout} Layout */
/** @typedef {import("../scenes.js").HeatmapScene & {levels?: import("../scenes.js").Buffer | null}} Dressed as Python makes it */

const LEAST_MARK = 8; // a mark is at least this wide and high
const MOST_THICK = 12; // marks: of more, in rows that are lower than ROOMY, the lines are thin
const ROOMY = 16;

export class Heatmap {
  /** @param {Dressed} scene */
  constructor(scene) {
    this.scene = scene;
    /** @type {Layout} */
    this.layout = scene.layout;
    /** as large as it may be; it is smaller on a page that is too narrow */
    this.largest = this.frame = frameOf(scene.layout, scene.room);
    this.lens = wholeLens(this.frame);
    /** @type {Detail[]} single positions that are known, where cells have several */
    this.details = [];
    const { panels, rows, columns } = scene.layout;
    this.cells = filled(numbers(scene.cells), panels * rows * columns);
    this.styles = spreadStyles(scene.levels ? numbers(scene.levels) : null, numbers(scene.styles));
    this.groups = scene.groups ? numbers(scene.groups) : null;
    /** @type {number[]} */
    this.rules = scene.rules;
    /** @type {Uint8Array | null} */
    this.emphasis = null;
    /** @type {Cell[]} */
    this.marked = [];
    /** @type {Cell[]} what another step has changed */
    this.changed = [];
    /** @type {Cell | null} */
    this.cursor = null;
    /** @type {Position | null} what is pointed at, or was last, by pointer or keyboard */
    this.at = null;
    /** @type {[number, number] | null} where the pointer is, if it is here */
    this.pointer = null;
    /** @type {(cell: Cell | null) => string | void} gives the words that then stand beside the cell */
    this.onpoint = () => {};
    /** @type {(cell: Cell) => void} */
    this.onpick = () => {};
    /** @type {(key: string) => boolean} */
    this.onkey = () => false;
    /** @type {(cell: Cell) => string} what stands in a cell that is large enough */
    this.onword = () => "";
    this.top = TOP + (scene.panelNames.length ? 18 : 0);
    const [width, height] = this._measured();
    this.width = width;
    this.height = height;
    this.canvas = this.sheet({ class: "tl-cells" });
    this.overlay = this.sheet({
      class: "tl-overlay", tabindex: 0, role: "img",
      "aria-label": tr("{title}: arrow keys move from cell to cell, Enter picks, plus and minus zoom, 0 shows the whole", { title: scene.title || tr("heatmap") }),
      onpointermove: (/** @type {PointerEvent} */ event) => this._point(this._under(event)),
      onpointerleave: () => {
        this.pointer = null;
        this._point(null);
      },
      onclick: (/** @type {PointerEvent} */ event) => {
        const cell = this.zoom.takes(event) ? null : this._under(event);
        if (cell) this.onpick(cell);
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => this._key(event),
      onblur: () => this._point(null),
    });
    this.steps = stepWords(scene, this.frame, this.top);
    this.plot = make("div", { class: "tl-plot", style: `width:${this.width}px;height:${this.height}px` });
    this.plot.append(this.canvas, this.overlay, ...this.steps);
    this.node = make("div", { class: "tl-heatmap" });
    if (scene.title) this.node.append(make("div", { class: "tl-title" }, scene.title));
    this.box = make("div", { class: "tl-scroll" }, this.plot);
    // Not at once: what an observer changes of its own box is not observed.
    const resized = () => this.canvas.isConnected && this._fits() && this.draw();
    new ResizeObserver(() => requestAnimationFrame(resized)).observe(this.box);
    this.node.append(this.box, goesOn(this.box, tr("The picture")));
    this.legend = legendOf(scene);
    this.readout = readoutOf(() => (this.cursor ? this._boxOf(this.cursor) : null));
    this.zoom = zoomOf(this);
    const wrapped = wrappedWords(scene.layout, scene.noun);
    const told = wrapped ? make("div", { class: "tl-wrapped" }, wordOf(wrapped, explanationOf("wrapped"))) : "";
    this.node.append(make("div", { class: "tl-foot" }, this.zoom.node, told), this.legend.node, this.readout.node);
  }

  /** How wide and high all of it is. @returns {[number, number]} */
  _measured() {
    const { frame, scene, top } = this;
    const wide = Math.max(frame.width + (scene.right ? 14 + scene.right.length * 7 : 2), widthWithNames(frame, scene.panelNames));
    return [LEFT + wide, top + frame.height + (scene.down ? 22 : 4)];
  }

  /** Take the size that has room in the page, or that a lens was made for; whether it is another. */
  _fits() {
    const { frame, largest, lens, scene, box } = this;
    const room = (box.clientWidth || Infinity) - (this.width - frame.width);
    const next = isWhole(lens) ? fitted(largest, scene.room, scene.labels, room) : lens.frame;
    if (isWhole(lens) && lens.frame !== next) this.lens = wholeLens(next);
    this.frame = next;
    if (next.width === frame.width && next.height === frame.height) return false;
    [this.width, this.height] = this._measured();
    this._resize();
    Object.assign(this.plot.style, { width: `${this.width}px`, height: `${this.height}px` });
    for (const word of this.steps) word.remove();
    this.steps = stepWords(scene, next, this.top);
    this.plot.append(...this.steps);
    return true;
  }

  _resize() {
    for (const canvas of [this.canvas, this.overlay]) resize(canvas, this.width, this.height);
  }

  /** @param {import("./dom.js").Attributes} attributes */
  sheet(attributes) {
    const canvas = make("canvas", attributes);
    resize(canvas, this.width, this.height);
    return canvas;
  }

  /** The class of a cell; of the picture's own classes, or of the detail's. @param {Cell} cell */
  classAt([panel, row, column, single]) {
    if (!single) return this.cells[(panel * this.layout.rows + row) * this.layout.columns + column];
    const detail = this.detailAt([panel, row, column]);
    return detail ? detail.cells[(row - detail.window.row) * detail.window.columns + column - detail.window.column] : 0;
  }

  /** What is known of a single position. @param {Position} position @returns {Detail | null} */
  detailAt([panel, row, column]) {
    return this.details.find(({ window }) => covers(window, { panel, row, column, rows: 1, columns: 1 })) ?? null;
  }

  /** The cell that shows a position. @param {Position} position @returns {Cell} */
  cellOver([panel, row, column]) {
    const { down, right } = this.layout;
    if (down * right > 1 && !isWhole(this.lens) && this.detailAt([panel, row, column])) return [panel, row, column, true];
    return [panel, Math.floor(row / down), Math.floor(column / right)];
  }

  /** Whether a cell stands for one position alone. @param {Cell} cell */
  isSingle(cell) {
    return cell[3] === true || this.layout.down * this.layout.right === 1;
  }

  /** The index of the first position in a cell, and how many it has. @param {Cell} cell */
  indexAt([panel, row, column, single]) {
    return indexOf(single ? this.lens.fine : this.layout, panel, row, column);
  }

  /** The cell of an element; null where it is not drawn. @param {number[]} index @returns {Cell | null} */
  cellAt(index) {
    const at = cellOf(this.lens.fine, index);
    return at && this.cellOver(at);
  }

  /** How to write on a cell. @param {Cell} cell */
  inkAt(cell) {
    const detail = cell[3] ? this.detailAt([cell[0], cell[1], cell[2]]) : null;
    const { styles, emphasis } = detail ?? this;
    const number = this.classAt(cell);
    return inkOf(styles, number, this.theme ?? "light", emphasis !== null && emphasis[number] === EMPHASIS.dimmed);
  }

  /** Draw everything anew, for instance after a change of theme. */
  draw() {
    const emptied = !this.canvas.width;
    if (emptied && !this.node.isConnected) return; // drawn when it is shown again
    if (!this._fits() && emptied) this._resize();
    this.theme = themeOf(this.node);
    const ratio = ratioOf(this.width, this.height);
    const context = penOf(this.canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.imageSmoothingEnabled = false;
    const { panelWidth, panelHeight } = this.frame;
    if (panelWidth && panelHeight && !isWhole(this.lens)) {
      drawMagnified(context, [LEFT, this.top], this.lens, this, this.emphasis, this.details, this.theme);
    } else if (panelWidth && panelHeight) {
      const sheet = new OffscreenCanvas(panelWidth, panelHeight);
      const pen = /** @type {OffscreenCanvasRenderingContext2D} */ (sheet.getContext("2d"));
      for (let panel = 0; panel < this.layout.panels; panel++) {
        const [x, y] = cornerOf(this.frame, panel);
        pen.putImageData(paint(this, this.frame, panel, this.emphasis, this.theme), 0, 0);
        context.strokeStyle = STYLE.themes[this.theme].mark;
        context.strokeRect(LEFT + x - 0.5, this.top + y - 0.5, panelWidth + 1, panelHeight + 1);
        context.drawImage(sheet, LEFT + x, this.top + y, panelWidth, panelHeight);
      }
      sheet.width = sheet.height = 0; // memory that is given back at once
    }
    this._outlines(context);
    drawWords(context, this); // which no outline may cover
    markChanges(context, this);
    this.legend.draw(this.theme);
    this._overlay();
  }

  /**
   * Change which classes stand out, and draw; `of` tells it for a detail's own classes.
   * @param {Uint8Array | null} emphasis @param {(detail: Detail) => Uint8Array | null} of
   */
  emphasise(emphasis, of = () => null) {
    this.emphasis = emphasis;
    for (const detail of this.details) detail.emphasis = of(detail);
    this.draw();
  }

  /** Outline these cells. @param {Cell[]} cells */
  mark(cells) {
    if (!cells.length && !this.marked.length) return;
    this.marked = cells;
    this._overlay();
  }

  _overlay() {
    const ratio = ratioOf(this.width, this.height);
    const context = penOf(this.overlay);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this._within(context, () => {
      for (const cell of this.marked) this._outline(context, this.stretchOf(cell));
    });
  }

  /** Outlines of what the scene marks. @param {CanvasRenderingContext2D} context */
  _outlines(context) {
    const { down, right } = this.layout;
    const drawn = [this.scene, ...this.details].flatMap(({ marks }) => marks ?? []).flatMap(([, runs]) => runs);
    const cell = boxOf(this.lens, { panel: 0, row: 0, column: 0, rows: down, columns: right });
    // Thick lines would hide the cells.
    const thin = drawn.length > MOST_THICK && cell.bottom - cell.top < ROOMY;
    // Exact where single positions are known.
    const known = isWhole(this.lens) ? [] : this.details;
    this._within(context, () => {
      for (const [, runs] of this.scene.marks ?? []) {
        for (const [panel, row, column, rows, columns] of runs) {
          const all = { panel, row: row * down, column: column * right, rows: rows * down, columns: columns * right };
          if (!known.some(({ window }) => covers(window, all))) this._outline(context, all, thin);
        }
      }
      for (const { marks } of known) {
        for (const [, runs] of marks ?? []) {
          for (const [panel, row, column, rows, columns] of runs) this._outline(context, { panel, row, column, rows, columns }, thin);
        }
      }
    });
  }

  /** Whether something is outlined for good, where words may stand. */
  get isMarked() {
    const drawn = [this.scene, ...this.details].flatMap(({ marks }) => marks ?? []);
    return drawn.some(([, runs]) => runs.length > 0);
  }

  /** Draw on the cells alone, where a lens shows some of them. @param {CanvasRenderingContext2D} context @param {() => void} drawn */
  _within(context, drawn) {
    context.save();
    context.beginPath();
    context.rect(LEFT, this.top, this.frame.width, this.frame.height);
    if (!isWhole(this.lens)) context.clip();
    drawn();
    context.restore();
  }

  /** The positions of a cell. @param {Cell} cell @returns {import("./lens.js").Window} */
  stretchOf([panel, row, column, single]) {
    const [rows, columns] = single ? [1, 1] : [this.layout.down, this.layout.right];
    return { panel, row: row * rows, column: column * columns, rows, columns };
  }

  /**
   * Dark within a light line, so that it stands out on any colour; a thin one is without.
   * @param {CanvasRenderingContext2D} context @param {import("./lens.js").Window} stretch
   */
  _outline(context, stretch, thin = false) {
    const { ink, ground } = STYLE.themes[this.theme ?? "light"];
    const box = boxOf(this.lens, stretch);
    const [width, height] = [Math.max(box.right - box.left, LEAST_MARK), Math.max(box.bottom - box.top, LEAST_MARK)];
    const left = LEFT + (box.left + box.right) / 2 - width / 2;
    const top = this.top + (box.top + box.bottom) / 2 - height / 2;
    if (thin) {
      context.lineWidth = 1;
      context.strokeStyle = ink;
      context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
      return;
    }
    context.lineWidth = 4;
    context.strokeStyle = ground;
    context.strokeRect(left - 1, top - 1, width + 2, height + 2);
    context.lineWidth = 2;
    context.strokeStyle = ink;
    context.strokeRect(left - 1, top - 1, width + 2, height + 2);
  }

  /** Where the pointer is on the canvas, from the cells' corner. @param {MouseEvent} event @returns {[number, number]} */
  placeUnder(event) {
    const box = this.overlay.getBoundingClientRect();
    return [event.clientX - box.left - LEFT, event.clientY - box.top - this.top];
  }

  /** @param {MouseEvent} event @returns {Cell | null} */
  _under(event) {
    this.pointer = this.placeUnder(event);
    this.at = positionAt(this.lens, ...this.pointer);
    return this.at && this.cellOver(this.at);
  }

  /** Look through another lens; what is pointed at stays pointed at. @param {import("./lens.js").Lens} lens */
  look(lens) {
    this.lens = lens;
    this.draw();
    this.again();
  }

  /** Point anew: what is under the pointer, or what is known of it, may have changed. */
  again() {
    if (!this.cursor) return;
    if (this.pointer) this.at = positionAt(this.lens, ...this.pointer);
    if (!this.at) return this._point(null);
    const cell = this.cellOver(this.at);
    if (String(cell) !== String(this.cursor)) this._point(cell);
    else this.readout.place();
  }

  /** @param {Cell | null} cell */
  _point(cell) {
    const there = cell && this.classAt(cell) !== 0 ? cell : null;
    if (String(there) === String(this.cursor)) return;
    this.cursor = there;
    this.mark(there ? [there] : []);
    const words = this.onpoint(there);
    if (there && words) this.readout.show(words);
    else this.readout.hide();
  }

  /** Where a cell is in the window. @param {Cell} cell */
  _boxOf(cell) {
    const { left, top } = this.overlay.getBoundingClientRect();
    const box = boxOf(this.lens, this.stretchOf(cell));
    return { left: left + LEFT + box.left, top: top + this.top + box.top, right: left + LEFT + box.right, bottom: top + this.top + box.bottom };
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    // Shift+Enter and its like are the notebook's; a plus may need Shift.
    if ((event.shiftKey && event.key.length > 1) || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const step = /** @type {Record<string, number[]>} */ (steps)[event.key];
    if (event.key === "Escape") this.readout.hide();
    if (step) this._move(step);
    else if (event.key === "Enter" || event.key === " ") {
      if (this.cursor) this.onpick(this.cursor);
    } else if (!this.zoom.key(event.key) && !this.onkey(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** One cell on, which is brought into sight. @param {number[]} step down, right */
  _move(step) {
    this.pointer = null;
    const { down, right } = this.layout;
    const here = this.cursor ? this.stretchOf(this.cursor) : null;
    const single = this.cursor?.[3] === true;
    const [high, wide] = single ? [1, 1] : [down, right];
    const sight = isWhole(this.lens) ? [0, 0, 0] : positionAt(this.lens, this.frame.width / 2, this.frame.height / 2) ?? [0, 0, 0];
    const next = here
      ? this._moved(here.panel, here.row / high, here.column / wide, step, single)
      : /** @type {Position} */ (isWhole(this.lens) ? [0, -Math.min(0, step[0]), -Math.min(0, step[1])] : [sight[0], Math.floor(sight[1] / high), Math.floor(sight[2] / wide)]);
    if (!next) return;
    this.at = [next[0], next[1] * high, next[2] * wide];
    if (!isWhole(this.lens)) this.look(showing(this.lens, { panel: this.at[0], row: this.at[1], column: this.at[2], rows: high, columns: wide }));
    const cell = this.cellOver(this.at);
    reveal(this.box, this._boxOf(cell));
    this._point(cell);
    this.zoom.want();
  }

  /**
   * One step on, from panel to panel where one ends.
   * @param {number} panel @param {number} row @param {number} column @param {number[]} step @param {boolean} single
   * @returns {Position | null}
   */
  _moved(panel, row, column, [down, right], single) {
    const { panels, across } = this.layout;
    const { rows, columns } = single ? this.lens.fine : this.layout;
    let [at, y, x] = [panel, row + down, column + right];
    if (x < 0 || x >= columns) [at, x] = [at + Math.sign(right), x < 0 ? columns - 1 : 0];
    if (y < 0 || y >= rows) [at, y] = [at + Math.sign(down) * across, y < 0 ? rows - 1 : 0];
    return at >= 0 && at < panels ? [at, y, x] : null;
  }
}

/**
 * As many cells as there are, those that are missing of class 0: to read beyond an array's end takes long.
 * @param {import("./data.js").Numbers} cells @param {number} count
 */
function filled(cells, count) {
  if (cells.length >= count) return cells;
  const all = new Uint32Array(count);
  all.set(cells);
  return all;
}

/**
 * The style of each class, where a class has a level and a level a style.
 * @param {import("./data.js").Numbers | null} levels (classes,), null where each class has a style
 * @param {import("./data.js").Numbers} styles (levels, 4)
 */
export function spreadStyles(levels, styles) {
  if (!levels) return styles instanceof Uint16Array ? styles : Uint16Array.from(styles);
  const result = new Uint16Array(4 * levels.length);
  for (let k = 0; k < levels.length; k++) {
    for (let part = 0; part < 4; part++) result[4 * k + part] = styles[4 * levels[k] + part];
  }
  return result;
}
