import assert from 'node:assert/strict';
import { test } from 'node:test';

import { elementsAt } from '../../../triton_lab/views/front/launch/strides.js';

/** All indices of a shape, in reading order. */
function indices(shape: number[]): number[][] {
  return shape.reduce<number[][]>(
    (found, extent) => found.flatMap(index => Array.from({ length: extent }, (_, k) => [...index, k])),
    [[]]
  );
}

const TENSORS: [number[], number[]][] = [
  [[3, 4], [4, 1]],
  [[3, 4], [1, 3]],
  [[4, 3], [8, 2]],
  [[5], [0]],
  [[3, 3], [1, 1]],
  [[2, 3, 2], [2, 1, 3]],
  [[4, 2], [0, 1]],
  [[], []],
  [[0, 3], [3, 1]],
  [[1, 5], [100, 2]]
];

test('the elements at an offset are those that counting finds', () => {
  for (const [shape, strides] of TENSORS) {
    const most = shape.reduce((sum, extent, axis) => sum + Math.max(0, extent - 1) * strides[axis]!, 0);
    for (let offset = -1; offset <= most + 1; offset++) {
      const there = indices(shape).filter(
        index => index.reduce((sum, at, axis) => sum + at * strides[axis]!, 0) === offset
      );
      assert.deepEqual(elementsAt({ shape, strides }, offset, 100), there, `${shape} ${strides} at ${offset}`);
    }
  }
});

test('no more than asked for', () => {
  assert.equal(elementsAt({ shape: [1000, 1000], strides: [0, 0] }, 0, 7).length, 7);
});
