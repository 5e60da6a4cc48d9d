/** The parts of a place as they are picked and told: CTA, warp, lane, register; line and bank; row and column. */

import { calledPart } from "./matrix.js";
import { tr } from "../localization.js";

/** @typedef {{name: string, size: number, of: (position: number) => number}} Field a part of a place that can be picked */

/** The parts of a place that can be picked; of shared memory the bank stands for the column. @param {Pick<import("../scenes.js").LayoutScene, "axes" | "where" | "bits">} scene @returns {Field[]} */
export function fieldsOf({ axes, where, bits }) {
  let below = axes.reduce((product, { size }) => product * size, 1);
  return axes.flatMap(({ name, size }) => {
    below /= size;
    const step = below;
    const of = (/** @type {number} */ position) => Math.floor(position / step) % size;
    if (name === "block" && size === 1) return [];
    if (where !== "shared memory" || name !== "column") return [{ name: calledPart(name), size, of }];
    const bytes = Math.max(8, bits) / 8;
    return [{ name: "bank", size: Math.min(32, Math.ceil((size * bytes) / 4)), of: (position) => Math.floor((of(position) * bytes) / 4) % 32 }];
  });
}

/** The place in a few letters: `T5 r1`, a bank, a row and column. @param {string} where @param {Field[]} fields @param {number} position */
export function shortText(where, fields, position) {
  const [before, last] = fields.slice(-2).map(({ of }) => of(position));
  if (where === "registers") return `T${before} r${last}`;
  return where === "shared memory" ? tr("bank {number}", { number: last }) : `${before},${last}`;
}
