import assert from 'node:assert/strict';
import { test } from 'node:test';

import { cellAt, cellOf, cornerOf, frameOf, indexOf, ticksOf, unravel } from '../../../triton_lab/views/front/drawing/frame.js';
import type { Layout } from '../../../triton_lab/views/front/scenes.d.ts';

const layout = (change: Partial<Layout>): Layout => ({
  shape: [6, 8], origin: [0, 0], panels: 1, across: 1, rows: 6, columns: 8, down: 1, right: 1, ...change
});
const LAYOUTS: Layout[] = [
  layout({}),
  layout({ origin: [2, 1] }),
  layout({ shape: [20], origin: [0], rows: 3, columns: 8 }),
  layout({ shape: [3, 4, 5], origin: [0, 0, 0], panels: 3, across: 2, rows: 4, columns: 5 }),
  layout({ shape: [3, 4, 5], origin: [0, 0, 0], panels: 1, rows: 12, columns: 5 }),
  layout({ shape: [], origin: [], rows: 1, columns: 1 })
];

test('a cell and its element lead to each other', () => {
  for (const one of LAYOUTS) {
    for (let panel = 0; panel < one.panels; panel++) {
      for (let row = 0; row < one.rows; row++) {
        for (let column = 0; column < one.columns; column++) {
          const { index } = indexOf(one, panel, row, column);
          const cell = cellOf(one, index);
          const past = one.shape.length === 1 && row * one.columns + column >= one.shape[0]!;
          assert.deepEqual(cell, past ? null : [panel, row, column], `${one.shape}: ${index}`);
        }
      }
    }
  }
});

test('a cell of many elements begins with the first and says how many it has', () => {
  const binned = layout({ shape: [10, 9], rows: 3, columns: 3, down: 4, right: 3 });
  assert.deepEqual(indexOf(binned, 0, 2, 1), { index: [8, 3], down: 2, right: 3 });
  assert.deepEqual(cellOf(binned, [9, 8]), [0, 2, 2]);
});

test('the middle of a cell is in it, and between panels there is none', () => {
  for (const one of LAYOUTS) {
    const frame = frameOf(one, [640, 512]);
    for (let panel = 0; panel < one.panels; panel++) {
      const [left, top] = cornerOf(frame, panel);
      for (let row = 0; row < one.rows; row++) {
        for (let column = 0; column < one.columns; column++) {
          const [x, y] = [left + (column + 0.5) * frame.cellWidth, top + (row + 0.5) * frame.cellHeight];
          assert.deepEqual(cellAt(frame, x, y), [panel, row, column]);
        }
      }
      assert.equal(cellAt(frame, left + frame.panelWidth + 1, top + 1), null);
      assert.equal(cellAt(frame, left + 1, top + frame.panelHeight + 1), null);
    }
    assert.equal(cellAt(frame, -1, 0), null);
  }
});

test('numbers stand a power of two apart and never closer than they may', () => {
  assert.deepEqual(ticksOf(5, 20, 18), [0, 1, 2, 3, 4]);
  assert.deepEqual(ticksOf(9, 8, 18), [0, 4, 8]);
  assert.deepEqual(ticksOf(0, 8, 18), []);
});

test('elements are counted in reading order', () => {
  assert.deepEqual(unravel(23, [2, 3, 4]), [1, 2, 3]);
  assert.deepEqual(unravel(0, []), []);
});
