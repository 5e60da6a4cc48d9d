/** From an offset in storage back to the elements there, and from an element to its value. */

import { numbers } from "../drawing/data.js";
import { numberText } from "../drawing/labels.js";

/** @typedef {import("../scenes.js").TensorScene} Tensor */

const MOST_WAYS_BACK = 20_000;

/**
 * The value of an element in words: ` = 4`; "" if it is not known.
 * @param {{values?: import("../scenes.js").Buffer}} scene @param {number[]} shape @param {number[]} index
 */
export function heldAt({ values }, shape, index) {
  if (!values || index.some((at, axis) => at < 0 || at >= shape[axis])) return "";
  const { type, bytes } = values;
  const size = Number(type.slice(1));
  const start = size * index.reduce((place, at, axis) => place * shape[axis] + at, 0);
  if (start + size > bytes.byteLength) return "";
  // This element alone: a picture may have many, and is pointed at often.
  const one = new Uint8Array(bytes.buffer, bytes.byteOffset + start, size);
  return ` = ${numberText(numbers({ type, bytes: one })[0])}`;
}

/**
 * The indices of up to `limit` elements of a tensor at an offset counted from its element 0.
 * @param {{shape: number[], strides: number[]}} tensor
 * @param {number} offset
 * @param {number} limit
 * @returns {number[][]}
 */
export function elementsAt({ shape, strides }, offset, limit) {
  /** @type {number[][]} */
  const found = [];
  if (shape.includes(0)) return found;
  const order = shape.map((_, axis) => axis).sort((a, b) => strides[b] - strides[a]);
  const reach = order.map((_, k) => order.slice(k).reduce((sum, axis) => sum + (shape[axis] - 1) * strides[axis], 0));
  const index = new Array(shape.length).fill(0);
  let tries = MOST_WAYS_BACK;
  /** @param {number} k @param {number} rest */
  const search = (k, rest) => {
    // Nothing that is left reaches as far; strides that overlap may have more ways than can be gone.
    if (found.length === limit || rest < 0 || rest > (reach[k] ?? 0) || --tries < 0) return;
    if (k === order.length) {
      if (rest === 0) found.push([...index]);
      return;
    }
    const axis = order[k];
    const stride = strides[axis];
    const below = reach[k + 1] ?? 0;
    const first = stride ? Math.max(0, Math.ceil((rest - below) / stride)) : 0;
    const last = Math.min(shape[axis] - 1, stride ? Math.floor(rest / stride) : shape[axis] - 1);
    for (index[axis] = first; index[axis] <= last && found.length < limit && tries > 0; index[axis]++) search(k + 1, rest - index[axis] * stride);
    index[axis] = 0;
  };
  search(0, offset);
  return found.sort((a, b) => {
    const axis = a.findIndex((value, k) => value !== b[k]);
    return a[axis] - b[axis];
  });
}
