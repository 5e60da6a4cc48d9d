/** The arrays beside the domain: cells, what has been read and written, and where a cell lies. */

import { paintWords } from "./paint.js";

/** @typedef {import("./paint.js").Look} Look */

const GAP = 24;
const NAME = 20;

export class Shelf {
  /** @param {import("../scenes.js").ArrayScene[]} arrays */
  constructor(arrays) {
    this.grids = arrays.map((array) => ({ ...array, side: Math.max(1, Math.min(24, 220 / array.columns, 190 / array.rows)), x: 0, y: 0 }));
    this.width = this.height = 0;
    this.column(0);
  }

  /** One array below the other. @param {number} x where the shelf starts */
  column(x) {
    let y = NAME;
    for (const grid of this.grids) {
      [grid.x, grid.y] = [x, y];
      y += grid.rows * grid.side + NAME + GAP;
    }
    this.height = y;
    this.width = Math.max(0, ...this.grids.map((grid) => this.wide(grid)));
  }

  /** In rows from left to right. @param {number} top where the shelf starts @param {number} room pixels across */
  row(top, room) {
    let [x, y, high] = [0, top + NAME, 0];
    this.width = 0;
    for (const grid of this.grids) {
      if (x > 0 && x + this.wide(grid) > room) [x, y, high] = [0, y + high + NAME + GAP, 0];
      [grid.x, grid.y] = [x, y];
      high = Math.max(high, grid.rows * grid.side);
      this.width = Math.max(this.width, x + this.wide(grid));
      x += this.wide(grid) + GAP;
    }
    this.height = y + high + GAP - top;
  }

  /** How wide an array is with its name. @param {import("../scenes.js").ArrayScene & {side: number}} grid */
  wide(grid) {
    return Math.max(grid.side * grid.columns, this.label(grid).length * 8);
  }

  /** @param {import("../scenes.js").ArrayScene} grid */
  label(grid) {
    return grid.shape.length ? `${grid.name}[${grid.shape.map((n, k) => `${grid.low[k]}..${grid.low[k] + n - 1}`).join(", ")}]` : grid.name;
  }

  /** @param {CanvasRenderingContext2D} pen @param {Look} look */
  paint(pen, look) {
    for (const grid of this.grids) {
      paintWords(pen, this.label(grid), grid.x, grid.y - 10, 12, look.ink, "left");
      pen.fillStyle = look.statements[0];
      pen.fillRect(grid.x, grid.y, grid.side * grid.columns, grid.side * grid.rows);
      if (grid.side >= 4) {
        pen.strokeStyle = look.ground;
        pen.lineWidth = 1;
        pen.beginPath();
        for (let c = 1; c < grid.columns; c++) pen.moveTo(grid.x + c * grid.side, grid.y), pen.lineTo(grid.x + c * grid.side, grid.y + grid.rows * grid.side);
        for (let r = 1; r < grid.rows; r++) pen.moveTo(grid.x, grid.y + r * grid.side), pen.lineTo(grid.x + grid.columns * grid.side, grid.y + r * grid.side);
        pen.stroke();
      }
      pen.strokeStyle = look.axis;
      pen.lineWidth = 1;
      pen.strokeRect(grid.x, grid.y, grid.side * grid.columns, grid.side * grid.rows);
    }
  }

  /** @param {number} number @param {number} cell */
  centre(number, cell) {
    const grid = this.grids[number];
    return { x: grid.x + ((cell % grid.columns) + 0.5) * grid.side, y: grid.y + (Math.floor(cell / grid.columns) + 0.5) * grid.side };
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} number @param {number} cell @param {string} colour @param {string} frame its colour, "" for none */
  fill(pen, number, cell, colour, frame = "") {
    const { side } = this.grids[number];
    const { x, y } = this.centre(number, cell);
    const inset = side >= 4 && !frame ? 0.5 : 0;
    pen.fillStyle = colour;
    pen.fillRect(x - side / 2 + inset, y - side / 2 + inset, side - 2 * inset, side - 2 * inset);
    if (!frame) return;
    pen.strokeStyle = frame;
    pen.lineWidth = 1.2;
    pen.strokeRect(x - side / 2, y - side / 2, side, side);
  }

  /** The cell under a place of the canvas, as [grid, cell], or null. @param {number} x @param {number} y @returns {[number, number] | null} */
  at(x, y) {
    for (const [number, grid] of this.grids.entries()) {
      const column = Math.floor((x - grid.x) / grid.side);
      const row = Math.floor((y - grid.y) / grid.side);
      if (column >= 0 && column < grid.columns && row >= 0 && row < grid.rows) return [number, row * grid.columns + column];
    }
    return null;
  }

  /** The subscripts of a cell, such as `A[2][3]`. @param {number} number @param {number} cell */
  element(number, cell) {
    const grid = this.grids[number];
    const subscripts = [];
    for (let k = grid.shape.length - 1; k >= 0; k--) {
      subscripts.unshift((cell % grid.shape[k]) + grid.low[k]);
      cell = Math.floor(cell / grid.shape[k]);
    }
    return grid.name + subscripts.map((s) => `[${s}]`).join("");
  }
}
