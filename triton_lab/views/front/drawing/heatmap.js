/** A heatmap on a canvas: cells, numbers, labels, pointer and keyboard. It knows nothing of what cells mean. */

import { markChanges } from "./changes.js";
import { numbers } from "./data.js";
import { make, penOf } from "./dom.js";
import { cellAt, cornerOf, frameOf, ticksOf } from "./frame.js";
import { inkOn } from "./labels.js";
import { legendOf } from "./legend.js";
import { paint } from "./raster.js";
import { readoutOf } from "./readout.js";
import { goesOn, reveal } from "./scroller.js";
import { STYLE } from "./style.js";
import { themeOf } from "./theme.js";

/** @typedef {[number, number, number]} Cell panel, row, column */
/** @typedef {import("./frame.js").Layout} Layout */
/** @typedef {import("../scenes.js").HeatmapScene & {levels?: import("../scenes.js").Buffer | null}} Dressed as Python makes it */

const LEFT = 46;
const TOP = 18;
const LEAST_MARK = 8; // a mark is at least this wide and high

export class Heatmap {
  /** @param {Dressed} scene */
  constructor(scene) {
    this.scene = scene;
    /** @type {Layout} */
    this.layout = scene.layout;
    this.frame = frameOf(scene.layout, scene.room);
    this.cells = numbers(scene.cells);
    this.styles = scene.levels ? spreadStyles(numbers(scene.levels), numbers(scene.styles)) : numbers(scene.styles);
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
    /** @type {(cell: Cell | null) => string | void} gives the words that then stand beside the cell */
    this.onpoint = () => {};
    /** @type {(cell: Cell) => void} */
    this.onpick = () => {};
    /** @type {(key: string) => boolean} */
    this.onkey = () => false;
    this.top = TOP + (scene.panelNames.length ? 18 : 0);
    this.width = LEFT + this.frame.width + (scene.right ? 14 + scene.right.length * 7 : 2);
    this.height = this.top + this.frame.height + (scene.down ? 22 : 4);
    this.canvas = this.sheet({ class: "tl-cells" });
    this.overlay = this.sheet({
      class: "tl-overlay", tabindex: 0, role: "img",
      "aria-label": `${scene.title || "heatmap"}: arrow keys move from cell to cell, Enter picks`,
      onpointermove: (/** @type {PointerEvent} */ event) => this._point(this._under(event)),
      onpointerleave: () => this._point(null),
      onclick: (/** @type {PointerEvent} */ event) => {
        const cell = this._under(event);
        if (cell) this.onpick(cell);
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => this._key(event),
      onblur: () => this._point(null),
    });
    const plot = make("div", { class: "tl-plot", style: `width:${this.width}px;height:${this.height}px` });
    plot.append(this.canvas, this.overlay);
    this.node = make("div", { class: "tl-heatmap" });
    if (scene.title) this.node.append(make("div", { class: "tl-title" }, scene.title));
    this.box = make("div", { class: "tl-scroll" }, plot);
    this.node.append(this.box, goesOn(this.box, "The picture"));
    this.legend = legendOf(scene);
    this.readout = readoutOf(() => (this.cursor ? this._boxOf(this.cursor) : null));
    this.node.append(this.legend.node, this.readout.node);
  }

  /** @param {import("./dom.js").Attributes} attributes */
  sheet(attributes) {
    const ratio = window.devicePixelRatio || 1;
    return make("canvas", {
      ...attributes, width: Math.ceil(this.width * ratio), height: Math.ceil(this.height * ratio),
      style: `width:${this.width}px;height:${this.height}px`,
    });
  }

  /** The class of a cell. @param {Cell} cell */
  classAt([panel, row, column]) {
    return this.cells[(panel * this.layout.rows + row) * this.layout.columns + column];
  }

  /** Draw everything anew, for instance after a change of theme. */
  draw() {
    this.theme = themeOf(this.node);
    const ratio = window.devicePixelRatio || 1;
    const context = penOf(this.canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.imageSmoothingEnabled = false;
    const { panelWidth, panelHeight } = this.frame;
    if (panelWidth && panelHeight) {
      const sheet = new OffscreenCanvas(panelWidth, panelHeight);
      const pen = /** @type {OffscreenCanvasRenderingContext2D} */ (sheet.getContext("2d"));
      for (let panel = 0; panel < this.layout.panels; panel++) {
        const [x, y] = cornerOf(this.frame, panel);
        pen.putImageData(paint(this, this.frame, panel, this.emphasis, this.theme), 0, 0);
        context.strokeStyle = STYLE.themes[this.theme].mark;
        context.strokeRect(LEFT + x - 0.5, this.top + y - 0.5, panelWidth + 1, panelHeight + 1);
        context.drawImage(sheet, LEFT + x, this.top + y, panelWidth, panelHeight);
      }
    }
    this._words(context);
    this.legend.draw(this.theme);
    this._overlay();
  }

  /** @param {CanvasRenderingContext2D} context */
  _words(context) {
    const { scene, layout, frame } = this;
    const theme = STYLE.themes[this.theme ?? "light"];
    const font = getComputedStyle(this.node).fontFamily;
    context.font = `${STYLE.small}px ${font}`;
    context.textBaseline = "middle";
    context.fillStyle = theme.faint;
    if (!frame.width || !frame.height) return context.fillText("no elements", LEFT, this.top + 8);
    const wrapped = layout.shape.length < 2;
    context.textAlign = "center";
    const columnStart = wrapped && layout.rows > 1 ? 0 : layout.origin.at(-1) ?? 0;
    const widest = String(layout.columns * layout.right).length;
    for (const column of ticksOf(layout.columns, frame.cellWidth, 18 + 6 * widest)) {
      const x = frame.cellWidth >= 8 ? column + 0.5 : column;
      context.fillText(String(column * layout.right - columnStart), LEFT + x * frame.cellWidth, this.top - 9);
    }
    context.textAlign = "right";
    for (const row of ticksOf(layout.rows, frame.cellHeight, 18)) {
      const y = frame.cellHeight >= 8 ? row + 0.5 : row;
      const number = wrapped
        ? row * layout.columns * layout.right - (layout.origin[0] ?? 0)
        : row * layout.down - layout.origin[layout.origin.length - 2];
      context.fillText(String(number), LEFT - 6, this.top + y * frame.cellHeight);
    }
    context.textAlign = "left";
    for (const [panel, name] of scene.panelNames.entries()) {
      const [x, y] = cornerOf(frame, panel);
      context.fillText(name, LEFT + x, this.top + y - 8 - (y === 0 ? TOP : 0));
    }
    context.fillStyle = theme.accent;
    if (scene.right) context.fillText(scene.right, LEFT + frame.width + 8, this.top + Math.min(8, frame.height / 2));
    if (scene.down) context.fillText(scene.down, LEFT, this.top + frame.height + 11);
    this._labels(context);
    markChanges(context, this);
  }

  /** @param {CanvasRenderingContext2D} context */
  _labels(context) {
    const { frame, layout } = this;
    const { palette } = STYLE.themes[this.theme ?? "light"];
    context.textAlign = "center";
    for (const [panel, row, column, rows, columns, text] of this.scene.labels) {
      const look = 4 * this.cells[(panel * layout.rows + row) * layout.columns + column];
      const at = 3 * this.styles[look];
      // A dimmed cell is mixed with the ground; its label goes with the ground's ink.
      const dimmed = this.emphasis !== null && this.emphasis[look / 4] === 2;
      context.fillStyle = dimmed ? STYLE.themes[this.theme ?? "light"].faint : inkOn(palette, at);
      const [x, y] = cornerOf(frame, panel);
      if (this.styles[look + 3] === STYLE.pattern.cross || this.styles[look + 3] === STYLE.pattern.stripes) {
        // On crosses and stripes no word could be read.
        const word = context.fillStyle;
        const wide = context.measureText(text).width + 10;
        context.fillStyle = `rgb(${palette.slice(at, at + 3).join(",")})`;
        context.fillRect(
          LEFT + x + (column + columns / 2) * frame.cellWidth - wide / 2,
          this.top + y + (row + rows / 2) * frame.cellHeight - 6, wide, 12,
        );
        context.fillStyle = word;
      }
      context.fillText(
        text, LEFT + x + (column + columns / 2) * frame.cellWidth, this.top + y + (row + rows / 2) * frame.cellHeight + 0.5,
      );
    }
  }

  /** Change which classes stand out, and draw. @param {Uint8Array | null} emphasis */
  emphasise(emphasis) {
    this.emphasis = emphasis;
    this.draw();
  }

  /** Outline these cells. @param {Cell[]} cells */
  mark(cells) {
    if (!cells.length && !this.marked.length) return;
    this.marked = cells;
    this._overlay();
  }

  _overlay() {
    const ratio = window.devicePixelRatio || 1;
    const context = penOf(this.overlay);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    for (const [, runs] of this.scene.marks ?? []) {
      for (const [panel, row, column, rows, columns] of runs) this._outline(context, [panel, row, column], rows, columns);
    }
    for (const cell of this.marked) this._outline(context, cell, 1, 1);
  }

  /**
   * Dark within a light line, so that it stands out on any colour.
   * @param {CanvasRenderingContext2D} context @param {Cell} cell the first @param {number} rows @param {number} columns
   */
  _outline(context, [panel, row, column], rows, columns) {
    const { ink, ground } = STYLE.themes[this.theme ?? "light"];
    const [x, y] = cornerOf(this.frame, panel);
    const { cellWidth, cellHeight } = this.frame;
    const [width, height] = [Math.max(columns * cellWidth, LEAST_MARK), Math.max(rows * cellHeight, LEAST_MARK)];
    const left = LEFT + x + (column + columns / 2) * cellWidth - width / 2;
    const top = this.top + y + (row + rows / 2) * cellHeight - height / 2;
    context.lineWidth = 4;
    context.strokeStyle = ground;
    context.strokeRect(left - 1, top - 1, width + 2, height + 2);
    context.lineWidth = 2;
    context.strokeStyle = ink;
    context.strokeRect(left - 1, top - 1, width + 2, height + 2);
  }

  /** @param {PointerEvent} event @returns {Cell | null} */
  _under(event) {
    const box = this.overlay.getBoundingClientRect();
    return cellAt(this.frame, event.clientX - box.left - LEFT, event.clientY - box.top - this.top);
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

  /** The upper left corner of a cell on the canvas. @param {Cell} cell @returns {[number, number]} */
  placeOf([panel, row, column]) {
    const [x, y] = cornerOf(this.frame, panel);
    return [LEFT + x + column * this.frame.cellWidth, this.top + y + row * this.frame.cellHeight];
  }

  /** Where a cell is in the window. @param {Cell} cell */
  _boxOf(cell) {
    const { left, top } = this.overlay.getBoundingClientRect();
    const [x, y] = this.placeOf(cell);
    return { left: left + x, top: top + y, right: left + x + this.frame.cellWidth, bottom: top + y + this.frame.cellHeight };
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    // Shift+Enter and its like are the notebook's.
    if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const step = /** @type {Record<string, number[]>} */ (steps)[event.key];
    if (event.key === "Escape") this.readout.hide();
    if (step) {
      const [panel, row, column] = this.cursor ?? [0, -Math.min(0, step[0]), -Math.min(0, step[1])];
      const next = this._moved(panel, row, column, this.cursor ? step : [0, 0]);
      if (next) {
        reveal(this.box, this._boxOf(next));
        this._point(next);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.cursor) this.onpick(this.cursor);
    } else if (!this.onkey(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * One step on, from panel to panel where one ends.
   * @param {number} panel @param {number} row @param {number} column @param {number[]} step
   * @returns {Cell | null}
   */
  _moved(panel, row, column, [down, right]) {
    const { rows, columns, panels, across } = this.layout;
    let [at, y, x] = [panel, row + down, column + right];
    if (x < 0 || x >= columns) [at, x] = [at + Math.sign(right), x < 0 ? columns - 1 : 0];
    if (y < 0 || y >= rows) [at, y] = [at + Math.sign(down) * across, y < 0 ? rows - 1 : 0];
    return at >= 0 && at < panels ? [at, y, x] : null;
  }
}

/**
 * The style of each class, where a class has a level and a level a style.
 * @param {import("./data.js").Numbers} levels (classes,)
 * @param {import("./data.js").Numbers} styles (levels, 4)
 */
function spreadStyles(levels, styles) {
  const result = new Uint16Array(4 * levels.length);
  for (let k = 0; k < levels.length; k++) {
    for (let part = 0; part < 4; part++) result[4 * k + part] = styles[4 * levels[k] + part];
  }
  return result;
}
