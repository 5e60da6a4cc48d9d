/** The arrays beside the domain: where each stands, what has been read and written, and where a cell lies. */

/** @typedef {import("../scenes.js").ArrayScene} ArrayScene */

const GAP = 24;

export class Shelf {
  /** @param {ArrayScene[]} arrays */
  constructor(arrays) {
    /** With the corner of its cells. */
    this.grids = arrays.map((array) => ({ ...array, x: 0, y: 0 }));
    this.width = this.height = 0;
    this.column(0);
  }

  /** One array below the other. @param {number} x where the shelf starts */
  column(x) {
    this.height = 0;
    for (const grid of this.grids) {
      [grid.x, grid.y] = [x, this.height + grid.top];
      this.height += grid.picture.height + GAP;
    }
    this.width = Math.max(0, ...this.grids.map(({ picture }) => picture.width));
  }

  /** In rows from left to right. @param {number} top where the shelf starts @param {number} room pixels across */
  row(top, room) {
    let [x, y, high] = [0, top, 0];
    this.width = 0;
    for (const grid of this.grids) {
      const { width, height } = grid.picture;
      if (x > 0 && x + width > room) [x, y, high] = [0, y + high + GAP, 0];
      [grid.x, grid.y] = [x, y + grid.top];
      high = Math.max(high, height);
      this.width = Math.max(this.width, x + width);
      x += width + GAP;
    }
    this.height = y + high + GAP - top;
  }

  /** @param {number} number @param {number} cell */
  centre(number, cell) {
    const grid = this.grids[number];
    const [across, down] = grid.size;
    return { x: grid.x + ((cell % grid.columns) + 0.5) * across, y: grid.y + (Math.floor(cell / grid.columns) + 0.5) * down };
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} number @param {number} cell @param {string} colour @param {string} frame its colour, "" for none */
  fill(pen, number, cell, colour, frame = "") {
    const [across, down] = this.grids[number].size;
    const { x, y } = this.centre(number, cell);
    const inset = Math.min(across, down) >= 4 && !frame ? 0.5 : 0;
    pen.fillStyle = colour;
    pen.fillRect(x - across / 2 + inset, y - down / 2 + inset, across - 2 * inset, down - 2 * inset);
    if (!frame) return;
    pen.strokeStyle = frame;
    pen.lineWidth = 1.2;
    pen.strokeRect(x - across / 2, y - down / 2, across, down);
  }

  /** The cell under a place of the canvas, as [grid, cell], or null. @param {number} x @param {number} y @returns {[number, number] | null} */
  at(x, y) {
    for (const [number, grid] of this.grids.entries()) {
      const column = Math.floor((x - grid.x) / grid.size[0]);
      const row = Math.floor((y - grid.y) / grid.size[1]);
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
