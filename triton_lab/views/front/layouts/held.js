/** Who holds what, worked out from a layout's bits: the element at each place, and all places of each element. */

/** @typedef {import("../scenes.js").LayoutScene} LayoutScene */
/** @typedef {import("../scenes.js").BitScene} Bit */
/** @typedef {import("../scenes.js").Layout} Layout */

/**
 * `held`: for each position of the hardware the element there, -1 for none; `place`: for each the bits of its place,
 * packed, -1 for what padding leaves free; `bits` name them, the lowest first.
 * @typedef {{held: Int32Array, place: Int32Array, bits: Bit[]}} Held
 */

const MOST_BITS = 21; // as in `layouts/scenes.py`

/** The row-major position of a coordinate. @param {number[]} index @param {number[]} shape */
export const rowMajorOf = (index, shape) => index.reduce((number, value, axis) => number * shape[axis] + value, 0);

/**
 * @param {Pick<LayoutScene, "matrix" | "inputs" | "axes" | "padding">} scene
 * @returns {Held}
 */
export function heldOf({ matrix, inputs, axes, padding }) {
  const bits = inputs.flatMap((name) => matrix.bits.filter(({ part }) => part === name));
  if (bits.length > MOST_BITS) throw new RangeError(`${bits.length} bits are more than a layout has`);
  const table = new Int32Array(1 << bits.length);
  bits.forEach(({ vector, empty }, k) => {
    const moved = rowMajorOf(vector, matrix.shape);
    const count = 1 << k;
    for (let at = 0; at < count; at++) table[count + at] = empty || table[at] < 0 ? -1 : table[at] ^ moved;
  });
  const positions = axes.reduce((product, { size }) => product * size, 1);
  const blocks = axes[0].size;
  const [each, room] = [table.length / blocks, positions / blocks];
  const held = new Int32Array(positions).fill(-1);
  const place = new Int32Array(positions).fill(-1);
  for (let at = 0; at < table.length; at++) {
    const offset = at % each;
    let moved = offset;
    for (const [interval, more] of padding) moved += Math.floor(offset / interval) * more;
    const position = Math.floor(at / each) * room + moved;
    held[position] = table[at];
    place[position] = at;
  }
  return { held, place, bits };
}

/**
 * All positions of each element: those of element e stand in `items` from `starts[e]` on.
 * @param {Int32Array} held @param {number} elements
 * @returns {(element: number) => Int32Array}
 */
export function copiesOf(held, elements) {
  const starts = new Int32Array(elements + 1);
  for (const element of held) if (element >= 0) starts[element + 1]++;
  for (let element = 0; element < elements; element++) starts[element + 1] += starts[element];
  const next = starts.slice(0, elements);
  const items = new Int32Array(starts[elements]);
  held.forEach((element, position) => {
    if (element >= 0) items[next[element]++] = position;
  });
  return (element) => items.subarray(starts[element], starts[element + 1]);
}

/**
 * The class of each cell: the first position that it stands for, + 1; 0 where nothing is.
 * @param {Layout} layout
 * @param {ArrayLike<number>} levels the look of each class, 0 for nothing
 */
export function cellsOf({ shape, panels, rows, columns, down, right }, levels) {
  const cells = new Uint32Array(panels * rows * columns);
  const all = shape.reduce((product, size) => product * size, 1);
  const wide = shape.length < 2 ? all : shape[shape.length - 1];
  const high = shape.length < 2 ? 1 : all / wide / panels;
  for (let at = 0; at < cells.length; at++) {
    const column = at % columns;
    const row = Math.floor(at / columns) % rows;
    const panel = Math.floor(at / columns / rows);
    const wrapped = shape.length < 2;
    const first = wrapped ? at * right : (panel * high + row * down) * wide + column * right;
    const there = wrapped ? first < all : row * down < high && column * right < wide;
    if (there && levels[first + 1]) cells[at] = first + 1;
  }
  return cells;
}

/** The bits that a number has set, as places from the lowest; none of -1, which is no place. @param {number} number */
export function bitsIn(number) {
  const found = [];
  for (let bit = 0; number > 0 && number >> bit; bit++) if ((number >> bit) & 1) found.push(bit);
  return found;
}
