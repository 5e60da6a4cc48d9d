/** The legend under a heatmap: swatches in the cells' own styles, and the colour bar of a ramp. */

import { make, penOf } from "./dom.js";
import { wordOf } from "./explained.js";
import { frameOf } from "./frame.js";
import { paint } from "./raster.js";
import { STYLE } from "./style.js";

const SIDE = 12;
const BAR_WIDTH = 192; // the width of a colour bar
const SWATCH = frameOf(
  { shape: [1, 1], origin: [0, 0], panels: 1, across: 1, rows: 1, columns: 1, down: 1, right: 1 }, [SIDE, SIDE],
);

/**
 * @param {Pick<import("../scenes.js").Dress, "legend" | "ramp" | "rampName" | "marks" | "ticks">} scene
 * @returns {{node: HTMLElement, draw: (theme: "light" | "dark") => void}}
 */
export function legendOf(scene) {
  const swatches = scene.legend.map((/** @type {[number[], string]} */ [look]) => {
    return { look, canvas: make("canvas", { width: SIDE, height: SIDE, class: "tl-swatch" }) };
  });
  const node = make("div", { class: "tl-legend" });
  scene.legend.forEach((/** @type {[number[], string]} */ [, text], /** @type {number} */ k) => {
    node.append(make("span", { class: "tl-key" }, swatches[k].canvas, wordOf(text)));
  });
  for (const [text] of scene.marks ?? []) {
    node.append(make("span", { class: "tl-key" }, make("span", { class: "tl-swatch tl-outlined" }), text));
  }
  const bar = make("canvas", { width: BAR_WIDTH, height: 10, class: "tl-bar" });
  if (scene.ramp) {
    const [, , low, high] = scene.ramp;
    const ticks = scene.ticks ?? [];
    const name = wordOf(scene.rampName);
    const beside = ticks.length ? [name, tickedOf(bar, ticks, low, high)] : [name, ` ${short(low)}`, bar, short(high)];
    node.prepend(make("span", { class: "tl-key" }, ...beside));
  }
  return {
    node,
    draw(theme) {
      for (const { look, canvas } of swatches) {
        const heat = { cells: Uint8Array.of(1), styles: Uint16Array.of(0, 0, 0, 0, ...look), groups: null };
        penOf(canvas).putImageData(paint(heat, SWATCH, 0, null, theme), 0, 0);
      }
      if (!scene.ramp) return;
      const [start, levels] = scene.ramp;
      const { palette } = STYLE.themes[theme];
      const pen = penOf(bar);
      for (let k = 0; k < levels; k++) {
        pen.fillStyle = `rgb(${palette.slice(3 * (start + k), 3 * (start + k) + 3).join(",")})`;
        pen.fillRect((k * BAR_WIDTH) / levels, 0, Math.ceil(BAR_WIDTH / levels), 10);
      }
    },
  };
}

/**
 * A colour bar over the names of values along it.
 * @param {HTMLCanvasElement} bar
 * @param {[number, string][]} ticks
 * @param {number} low @param {number} high
 */
function tickedOf(bar, ticks, low, high) {
  const named = ticks.map(([value, text]) => {
    const at = ((value - low) / (high - low || 1)) * (BAR_WIDTH - 1);
    return make("span", { class: "tl-tick", style: `left:${at}px` }, text);
  });
  // The names of the ends reach beyond the bar.
  const [before, after] = [ticks[0], ticks[ticks.length - 1]].map(([, text]) => text.length * 3.5);
  return make("span", { class: "tl-ticked", style: `margin:0 ${after}px 0 ${before}px` }, bar, ...named);
}

/**
 * A number in at most six digits.
 * @param {number} value
 */
export function short(value) {
  return Number.isInteger(value) && Math.abs(value) < 1e9 ? String(value) : String(Number(value.toPrecision(6)));
}
