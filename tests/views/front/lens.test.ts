import assert from 'node:assert/strict';
import { test } from 'node:test';

import { frameOf, indexOf, cellOf } from '../../../triton_lab/views/front/drawing/frame.js';
import {
  boxOf, covers, fineOf, inSight, isClosest, isWhole, largestIn, panned, positionAt, showing, stepped, wantedOf, wholeLens,
  zoomed
} from '../../../triton_lab/views/front/drawing/lens.js';
import type { Layout } from '../../../triton_lab/views/front/scenes.d.ts';

/** Numbers that look random and are the same each time. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const layout = (change: Partial<Layout>): Layout => ({
  shape: [6, 8], origin: [0, 0], panels: 1, across: 1, rows: 6, columns: 8, down: 1, right: 1, ...change
});
const ROOM: [number, number] = [640, 512];
// As Python lays them out: one element, a hundred, 10^4, 10^6 on a line, in a square and in a row, 4 * 10^6, slices.
const LAYOUTS: Layout[] = [
  layout({ shape: [1], origin: [0], rows: 1, columns: 1 }),
  layout({ shape: [100], origin: [0], rows: 4, columns: 32 }),
  layout({ shape: [100, 100], rows: 100, columns: 100 }),
  layout({ shape: [1_000_000], origin: [0], rows: 245, columns: 512, right: 8 }),
  layout({ shape: [1000, 1000], rows: 500, columns: 500, down: 2, right: 2 }),
  layout({ shape: [1, 1_000_000], rows: 1, columns: 640, right: 1563 }),
  layout({ shape: [2000, 2000], rows: 500, columns: 500, down: 4, right: 4 }),
  layout({ shape: [2046, 2047], origin: [3, 2], rows: 410, columns: 410, down: 5, right: 5 }),
  layout({ shape: [6, 300, 500], origin: [0, 0, 0], panels: 6, across: 3, rows: 150, columns: 167, down: 2, right: 3 }),
  layout({ shape: [12, 4, 5], origin: [0, 0, 0], panels: 12, across: 4, rows: 4, columns: 5 })
];

test('at every zoom a position and the pixels that show it lead to each other', () => {
  const random = dice(1);
  for (const one of LAYOUTS) {
    const frame = frameOf(one, ROOM);
    for (let turn = 0; turn < 60; turn++) {
      let lens = wholeLens(frame);
      for (let step = 0; step < 6; step++) {
        lens = zoomed(lens, 0.5 + 8 * random(), random() * frame.width, random() * frame.height);
        lens = panned(lens, Math.round(400 * (random() - 0.5)), Math.round(400 * (random() - 0.5)));
      }
      for (let point = 0; point < 20; point++) {
        const [x, y] = [random() * frame.width, random() * frame.height];
        const at = positionAt(lens, x, y);
        if (!at) {
          continue;
        }
        const box = boxOf(lens, { panel: at[0], row: at[1], column: at[2], rows: 1, columns: 1 });
        const [left, top] = [Math.floor(x), Math.floor(y)];
        assert.ok(box.left <= left && (left < box.right || lens.width < 1), `${one.shape} ${lens.scale} ${x} ${at}`);
        assert.ok(box.top <= top && (top < box.bottom || lens.height < 1), `${one.shape} ${lens.scale} ${y} ${at}`);
        const seen = inSight(lens).find(({ panel }) => panel === at[0]);
        assert.ok(seen && covers(seen, { panel: at[0], row: at[1], column: at[2], rows: 1, columns: 1 }));
      }
    }
  }
});

test('the whole has the same cell under a point as the picture, and its elements stand in that cell', () => {
  const random = dice(2);
  for (const one of LAYOUTS) {
    const lens = wholeLens(frameOf(one, ROOM));
    assert.ok(isWhole(lens));
    for (let point = 0; point < 200; point++) {
      const at = positionAt(lens, random() * lens.frame.width, random() * lens.frame.height);
      if (!at) {
        continue;
      }
      const { index } = indexOf(lens.fine, ...at);
      const past = one.shape.some((size, axis) => index[axis]! + one.origin[axis]! >= size);
      const cell = [at[0], Math.floor(at[1] / one.down), Math.floor(at[2] / one.right)];
      assert.deepEqual(cellOf(one, index), past ? null : cell, `${one.shape}: ${index}`);
    }
  }
});

test('what is under the point stays there while the picture grows', () => {
  const random = dice(3);
  for (const one of LAYOUTS) {
    const frame = frameOf(one, ROOM);
    for (let turn = 0; turn < 40; turn++) {
      const [x, y] = [random() * frame.width, random() * frame.height];
      const first = zoomed(wholeLens(frame), 4, x, y);
      const before = positionAt(first, x, y);
      const closer = zoomed(first, 1.7, x, y);
      if (!before || !positionAt(closer, x, y)) {
        continue;
      }
      const box = boxOf(closer, { panel: before[0], row: before[1], column: before[2], rows: 1, columns: 1 });
      // A lens that would show what is beyond the edge stands at the edge.
      const free = closer.left > 0 && closer.top > 0;
      const slack = Math.max(2, closer.width, closer.height);
      assert.ok(!free || (x >= box.left - slack && x <= box.right + slack && y >= box.top - slack && y <= box.bottom + slack));
    }
  }
});

test('steps lead from the whole to one position at its largest, and back to the whole', () => {
  for (const one of LAYOUTS) {
    const frame = frameOf(one, ROOM);
    let lens = wholeLens(frame);
    let steps = 0;
    while (!isClosest(lens) && steps < 40) {
      lens = stepped(lens, 1);
      steps++;
    }
    assert.ok(steps < 20, `${one.shape} takes ${steps} steps`);
    assert.deepEqual([lens.width, lens.height], largestIn(frame));
    for (let back = 0; back <= steps; back++) {
      lens = stepped(lens, -1);
    }
    assert.deepEqual(lens, wholeLens(frame));
  }
});

test('any position can be brought into sight', () => {
  const random = dice(4);
  for (const one of LAYOUTS) {
    const frame = frameOf(one, ROOM);
    const fine = fineOf(one);
    for (let turn = 0; turn < 40; turn++) {
      const stretch = {
        panel: Math.floor(random() * one.panels), row: Math.floor(random() * fine.rows),
        column: Math.floor(random() * fine.columns), rows: 1, columns: 1
      };
      const lens = showing(stepped(wholeLens(frame), 3 + Math.floor(8 * random())), stretch);
      const box = boxOf(lens, stretch);
      assert.ok(box.left >= 0 || box.right - box.left > frame.width, `${one.shape} ${JSON.stringify(box)}`);
      assert.ok(box.right <= frame.width || box.right - box.left > frame.width);
      assert.ok(inSight(lens).some((seen) => covers(seen, stretch)));
    }
  }
});

test('what is fetched covers what is seen, is no more than may be, and lies in the array', () => {
  const random = dice(5);
  const most = 1 << 14;
  let fetched = 0;
  for (const one of LAYOUTS) {
    const frame = frameOf(one, ROOM);
    const fine = fineOf(one);
    for (let turn = 0; turn < 60; turn++) {
      const lens = zoomed(wholeLens(frame), 2 ** (13 * random()), random() * frame.width, random() * frame.height);
      const wanted = wantedOf(lens, most);
      const seen = inSight(lens);
      if (!wanted.length) {
        assert.ok(seen.reduce((sum, { rows, columns }) => sum + rows * columns, 0) > most || !seen.length);
        continue;
      }
      fetched++;
      assert.ok(wanted.reduce((sum, { rows, columns }) => sum + rows * columns, 0) <= most);
      for (const stretch of seen) {
        assert.ok(wanted.some((each) => covers(each, stretch)));
      }
      for (const { panel, row, column, rows, columns } of wanted) {
        assert.ok(panel < one.panels && row >= 0 && column >= 0 && row + rows <= fine.rows && column + columns <= fine.columns);
      }
    }
  }
  assert.ok(fetched > 100);
});
