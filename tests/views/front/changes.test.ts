import assert from 'node:assert/strict';
import { test } from 'node:test';

import { changesOf } from '../../../triton_lab/views/front/drawing/changes.js';
import type { BlockScene } from '../../../triton_lab/views/front/scenes.d.ts';

const picture = (first: number[], rows: number, columns: number, panels = 1): BlockScene => ({
  layout: { shape: [panels, rows, columns], origin: [0, 0, 0], panels, across: panels, rows, columns, down: 1, right: 1 },
  first: { type: 'u1', bytes: Uint8Array.from(first) },
  panelNames: [],
  room: [420, 320]
});

test('a change is another number; NaN stays NaN, and becoming or ceasing to be one is a change', () => {
  const before = [1, NaN, NaN, Infinity, 0, 2];
  const now = [1, NaN, 3, Infinity, NaN, 5];
  assert.deepEqual(changesOf(picture([1, 2, 3, 4, 5, 6], 2, 3), now, before), { count: 3, cells: [[0, 0, 2], [0, 1, 1], [0, 1, 2]] });
});

test('cells without an element have no change, and all elements are counted where a cell shows one of several', () => {
  assert.deepEqual(changesOf(picture([1, 3, 0, 0], 2, 2), [1, 9, 9], [1, 2, 3]), { count: 2, cells: [[0, 0, 1]] });
});

test('a change is in its own panel', () => {
  assert.deepEqual(changesOf(picture([1, 2, 3, 4], 1, 2, 2), [1, 2, 3, 0], [1, 2, 3, 4]), { count: 1, cells: [[1, 0, 1]] });
});
