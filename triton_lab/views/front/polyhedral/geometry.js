/** Where instances fall in the plane, and what they are coloured. */

/** @typedef {{x: number, y: number}} Spot */

/** A plane: the first dimension goes up, the second to the right; one dimension alone goes to the right. */
export class Plane {
  /** @param {Pick<import("../scenes.js").PlaneScene, "dims" | "frame">} scene */
  constructor({ dims, frame: [left, down, unit] }) {
    this.left = left;
    this.down = down;
    this.unit = unit;
    this.flat = dims.length === 1;
  }

  /** @param {number} x @param {number} y units @returns {Spot} */
  spot(x, y) {
    return { x: this.left + x * this.unit, y: this.down - y * this.unit };
  }

  /** @param {ArrayLike<number>} numbers @param {number} at where the instance starts @returns {Spot} */
  place(numbers, at) {
    return this.flat ? this.spot(numbers[at], 0) : this.spot(numbers[at + 1], numbers[at]);
  }
}

/**
 * A colour along anchors, `share` from 0 to 1.
 * @param {string[]} anchors "#rrggbb"
 * @param {number} share
 */
export function alongRamp(anchors, share) {
  const at = Math.max(0, Math.min(1, share)) * (anchors.length - 1);
  const k = Math.min(Math.floor(at), anchors.length - 2);
  const parts = [1, 3, 5].map((c) => {
    const [a, b] = [anchors[k], anchors[k + 1]].map((colour) => parseInt(colour.slice(c, c + 2), 16));
    return Math.round(a + (b - a) * (at - k));
  });
  return `rgb(${parts.join(",")})`;
}
