/** A heatmap in which every position can be told apart: an element of a tensor, or a place of the hardware. */

import { numbers } from "../drawing/data.js";
import { cellOf, unravel } from "../drawing/frame.js";
import { Heatmap } from "../drawing/heatmap.js";
import { EMPHASIS } from "../drawing/raster.js";
import { cellsOf } from "./held.js";
import { tr } from "../localization.js";

const LEAST_WIDE = 320; // pixels, for a legend

/** @typedef {import("../drawing/heatmap.js").Cell} Cell */

export class PositionsPicture {
  /** @param {import("../scenes.js").HeldScene} scene @param {string} label what it is, for who cannot see it */
  constructor(scene, label) {
    const levels = numbers(scene.levels);
    const cells = cellsOf(scene.layout, levels);
    this.positions = levels.length - 1;
    this.heatmap = new Heatmap({ ...scene, cells: { type: "u4", bytes: new Uint8Array(cells.buffer) } });
    this.heatmap.overlay.setAttribute("aria-label", tr("{label}: arrow keys move, Enter picks, Escape shows all, plus and minus zoom, 0 shows the whole", { label }));
    this.heatmap.node.style.maxWidth = `${Math.max(LEAST_WIDE, this.heatmap.width)}px`; // a legend is no reason to stand alone
    /** @type {Uint8Array | null} what stands out, by position + 1 */
    this.single = null;
    const { down, right } = scene.layout;
    if (down * right > 1) this.heatmap.zoom.offer((window, then) => then(this.detail(window)));
  }

  /** Single positions of a stretch: all are known here. @param {import("../drawing/lens.js").Window} window */
  detail(window) {
    const { heatmap } = this;
    const { fine } = heatmap.lens;
    const wrapped = fine.shape.length < 2;
    const cells = Uint32Array.from({ length: window.rows * window.columns }, (_, k) => {
      const [row, column] = [window.row + Math.floor(k / window.columns), window.column + (k % window.columns)];
      const position = (window.panel * (wrapped ? 0 : fine.rows) + row) * fine.columns + column;
      return position < this.positions && heatmap.styles[4 * (position + 1)] ? position + 1 : 0;
    });
    return { window, cells, styles: heatmap.styles, groups: heatmap.groups, emphasis: this.single, extra: null, marks: [] };
  }

  /** The position that a cell stands for, or the first of them. @param {Cell} cell */
  at(cell) {
    return this.heatmap.classAt(cell) - 1;
  }

  /** Let some positions stand out; null lets all be as they are. @param {Iterable<number> | null} chosen */
  choose(chosen) {
    const { heatmap } = this;
    this.single = null;
    /** @type {Uint8Array | null} */
    let levels = null;
    if (chosen) {
      this.single = new Uint8Array(this.positions + 1).fill(EMPHASIS.dimmed);
      this.single[0] = EMPHASIS.normal;
      const { layout } = heatmap;
      const several = layout.down * layout.right > 1;
      levels = several ? this.single.slice() : this.single;
      for (const position of chosen) {
        this.single[position + 1] = EMPHASIS.chosen;
        const cell = several && cellOf(layout, unravel(position, layout.shape));
        if (cell) levels[heatmap.classAt(cell)] = EMPHASIS.chosen;
      }
    }
    heatmap.emphasise(levels, () => this.single);
    heatmap.zoom.seek();
  }
}
