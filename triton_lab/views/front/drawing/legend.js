/** The legend under a heatmap: swatches in the cells' own styles, and the colour bar of a ramp. */

import { make, penOf } from "./dom.js";
import { wordOf } from "./explained.js";
import { frameOf } from "./frame.js";
import { paint } from "./raster.js";
import { STYLE } from "./style.js";

const SIDE = 12;
const SWATCH = frameOf(
  { shape: [1, 1], origin: [0, 0], panels: 1, across: 1, rows: 1, columns: 1, down: 1, right: 1 }, [SIDE, SIDE],
);

/**
 * @param {Pick<import("../scenes.js").Dress, "legend" | "ramp" | "rampName" | "marks">} scene
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
  const bar = make("canvas", { width: 192, height: 10, class: "tl-bar" });
  if (scene.ramp) {
    const [, , low, high] = scene.ramp;
    node.prepend(make("span", { class: "tl-key" }, wordOf(scene.rampName), ` ${short(low)}`, bar, short(high)));
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
        pen.fillRect((k * 192) / levels, 0, Math.ceil(192 / levels), 10);
      }
    },
  };
}

/**
 * A number in at most six digits.
 * @param {number} value
 */
export function short(value) {
  return Number.isInteger(value) && Math.abs(value) < 1e9 ? String(value) : String(Number(value.toPrecision(6)));
}
