/** Where instances fall on the canvas: the plane seen from above, or space seen from an angle. */

/** @typedef {{x: number, y: number}} Spot */
/** @typedef {Pick<import("../scenes.js").PlaneScene, "low" | "high">} Reach */

/** A plane: the first dimension goes up, the second to the right; one dimension alone goes to the right. */
export class Plane {
  /** @param {Pick<import("../scenes.js").PlaneScene, "dims" | "frame" | "still" | "layers">} scene */
  constructor({ dims, frame, still, layers }) {
    const [left, down, unit, radius] = frame;
    this.left = left;
    this.down = down;
    this.unit = unit;
    this.radius = radius;
    this.flat = dims.length === 1;
    this.width = still?.width ?? 0;
    this.height = still?.height ?? 0;
    this.shifts = layers.map((layer) => layer.shift);
  }

  /** @param {number} x @param {number} y units @returns {Spot} */
  spot(x, y) {
    return { x: this.left + x * this.unit, y: this.down - y * this.unit };
  }

  /** @param {ArrayLike<number>} numbers @param {number} at where the instance starts @returns {Spot} */
  place(numbers, at) {
    return this.flat ? this.spot(numbers[at], 0) : this.spot(numbers[at + 1], numbers[at]);
  }

  /** How far layer `k` is moved, so that layers on one point show. @param {number} k */
  shift(k) {
    const [x, y] = this.shifts[k];
    return { x, y };
  }
}

/** Space: the first dimension goes up, the second to the right, the third towards the reader. */
export class Orthographic {
  /** @param {Reach} scene @param {number} width @param {number} height */
  constructor(scene, width, height) {
    this.width = width;
    this.height = height;
    this.low = scene.low.map((v) => Math.min(v, 0));
    this.high = scene.high.map((v, k) => v + Math.max(1, (v - this.low[k]) * 0.15));
    this.middle = this.low.map((v, k) => (v + this.high[k]) / 2);
    // One scale for all angles, so that turning does not zoom.
    const reach = Math.hypot(...this.low.map((v, k) => this.high[k] - v));
    this.unit = (Math.min(width, height) - 70) / reach;
    this.radius = Math.max(1.2, Math.min(7, this.unit * 0.13));
    this.azimuth = 0;
    this.elevation = 0;
    /** @type {number[][]} */
    this.rows = [];
    this.turn(28, 22);
  }

  /** @param {number} azimuth @param {number} elevation degrees */
  turn(azimuth, elevation) {
    this.azimuth = azimuth;
    this.elevation = Math.max(-89, Math.min(89, elevation));
    const a = (azimuth * Math.PI) / 180;
    const e = (this.elevation * Math.PI) / 180;
    const right = [0, Math.cos(a), -Math.sin(a)];
    const toward = [Math.sin(e), Math.cos(e) * Math.sin(a), Math.cos(e) * Math.cos(a)];
    const up = [
      right[1] * toward[2] - right[2] * toward[1],
      right[2] * toward[0] - right[0] * toward[2],
      right[0] * toward[1] - right[1] * toward[0],
    ].map((v) => -v);
    this.rows = [right, up[0] < 0 ? up.map((v) => -v) : up, toward];
  }

  /** @param {ArrayLike<number>} numbers @param {number} [at] @returns {Spot} */
  place(numbers, at = 0) {
    const d = [0, 1, 2].map((k) => numbers[at + k] - this.middle[k]);
    const [right, up] = this.rows.map((row) => row[0] * d[0] + row[1] * d[1] + row[2] * d[2]);
    return { x: this.width / 2 + right * this.unit, y: this.height / 2 - up * this.unit };
  }

  /** @param {ArrayLike<number>} numbers @param {number} at */
  depth(numbers, at) {
    return [0, 1, 2].reduce((sum, k) => sum + this.rows[2][k] * numbers[at + k], 0);
  }

  /** How far layer `k` of `count` is moved, so that layers on one point show. @param {number} k @param {number} count */
  shift(k, count) {
    const step = (k - (count - 1) / 2) * this.radius * 1.5;
    return { x: step, y: -step };
  }
}

/**
 * The corners of the convex hull around spots.
 * @param {Spot[]} spots
 * @returns {Spot[]}
 */
export function hullOf(spots) {
  const sorted = [...spots].sort((a, b) => a.x - b.x || a.y - b.y);
  /** @param {Spot[]} list */
  const half = (list) => {
    /** @type {Spot[]} */
    const chain = [];
    for (const c of list) {
      while (chain.length > 1) {
        const [a, b] = chain.slice(-2);
        if ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 1e-9) break;
        chain.pop();
      }
      chain.push(c);
    }
    return chain.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
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
