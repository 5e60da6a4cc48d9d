import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { previewOf } from '../../../triton_lab/views/front/preview.js';
import { createSelection } from '../../../triton_lab/views/front/selection.js';

mock.timers.enable({ apis: ['setTimeout'] });

/** Items of lines 1; 2 and 3; none. The second answers when `answer` is called. */
function choice(held = false) {
  const seen: number[] = [];
  let answer = () => {};
  let shown = 0;
  const selection = createSelection({});
  const node = { offsetHeight: 80, style: { minHeight: '' } } as unknown as HTMLElement;
  const preview = previewOf(
    {
      lines: [[1], [2, 3], undefined], node, shown: () => shown,
      show: number => seen.push((shown = number)),
      ready: (_, then) => (held ? (answer = then) : then()),
    },
    selection
  );
  return { preview, selection, seen, node, answer: () => answer() };
}

const CALM = 200;

test('pointing at a line shows what it touches, and going away what was there', () => {
  const { selection, seen, node } = choice();
  selection.set({ under: 2 });
  mock.timers.tick(50);
  assert.deepEqual(seen, [], 'not at once');
  mock.timers.tick(CALM);
  assert.deepEqual([seen, node.style.minHeight], [[1], '80px']);
  selection.set({ under: null });
  selection.set({ under: 3 });
  mock.timers.tick(CALM);
  assert.deepEqual(seen, [1], 'between two lines of one item nothing moves');
  selection.set({ under: null });
  mock.timers.tick(CALM);
  assert.deepEqual([seen, node.style.minHeight], [[1, 0], '']);
});

test('what is passed quickly, and what leads nowhere, changes nothing', () => {
  const { selection, seen } = choice();
  for (const under of [2, 1, null, 9, 1]) {
    selection.set({ under });
    mock.timers.tick(20);
  }
  mock.timers.tick(CALM);
  assert.deepEqual(seen, []);
});

test('a picked line stays', () => {
  const { selection, seen, node } = choice();
  selection.set({ under: 2 });
  mock.timers.tick(CALM);
  selection.set({ line: 2 });
  selection.set({ under: null });
  mock.timers.tick(CALM);
  assert.deepEqual([seen, node.style.minHeight], [[1], '']);
});

test('an item that somebody chooses while a line is pointed at stays', () => {
  const { preview, selection, seen } = choice();
  selection.set({ under: 2 });
  mock.timers.tick(CALM);
  preview.settle();
  selection.set({ under: null });
  mock.timers.tick(CALM);
  assert.deepEqual(seen, [1]);
});

test('an answer that comes too late is not shown', () => {
  const { selection, seen, answer } = choice(true);
  selection.set({ under: 2 });
  mock.timers.tick(CALM);
  selection.set({ under: null });
  mock.timers.tick(CALM);
  answer();
  assert.deepEqual(seen, []);
});

test('a picture that was left while a line was pointed at is itself again when it is seen again', () => {
  const { preview, selection, seen } = choice();
  selection.set({ under: 2 });
  mock.timers.tick(CALM);
  const { get } = selection;
  selection.clear(); // out of view it hears nothing
  selection.set({ under: null });
  assert.equal(get().under, null);
  preview.back();
  assert.deepEqual(seen, [1, 0]);
});
