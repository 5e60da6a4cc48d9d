/** Single positions of a picture whose cells stand for several: asked for by window, and made into what a lens draws. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { spreadStyles } from "../drawing/heatmap.js";
import { tr } from "../localization.js";

/** @typedef {import("../drawing/magnified.js").Detail} Detail */
/** @typedef {import("../scenes.js").Scene} Scene */
/** @typedef {Pick<import("../scenes.js").Dress, "styles" | "groups" | "marks"> & {levels?: import("../scenes.js").Buffer | null}} Looks */

/**
 * How a heatmap asks for single positions; null where its cells are such already.
 * @param {import("../part.js").Context} context
 * @param {string | undefined} name what windows of the picture are called
 * @param {(scene: Scene) => Detail | null} detail of what comes
 * @returns {import("../drawing/zoom.js").Finer | null}
 */
export function finerOf(context, name, detail) {
  if (!name) return null;
  return ({ panel, row, column, rows, columns }, then) => {
    if (!context.live) return then(tr("Single elements were not saved. Run the cell, then zoom in."));
    context.ask(`${name}/window/${[panel, row, column, rows, columns].join(".")}`, (scene) => {
      if (scene.kind === "words") then(scene.text);
      else then(detail(scene) ?? tr("The kernel returned another picture. Run the cell again."));
    });
  };
}

/**
 * What a lens draws of a window.
 * @param {number[] | undefined} at panel, row, column, rows, columns
 * @param {import("../scenes.js").Buffer} cells @param {Looks} looks
 * @param {number[]} rules as the whole picture has them, in its columns of so many positions
 * @param {number} right
 * @param {unknown} extra @returns {Detail | null}
 */
export function detailOf(at, cells, { styles, levels, groups, marks }, [thin, strong], right, extra) {
  if (!at || at.length !== 5) return null;
  const [panel, row, column, rows, columns] = at;
  return {
    window: { panel, row, column, rows, columns }, cells: numbers(cells), emphasis: null, extra, marks,
    styles: levels ? spreadStyles(numbers(levels), numbers(styles)) : numbers(styles),
    groups: groups ? numbers(groups) : null, rules: [thin * right, strong * right],
  };
}

/** A window by itself is no picture. @returns {import("../part.js").Part} */
export function windowOf() {
  return { node: make("div", { class: "tl-words" }, tr("Zoom into the picture to see this.")), draw: () => {} };
}
