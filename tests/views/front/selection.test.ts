import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createSelection, lineOf, scoped } from '../../../triton_lab/views/front/selection.js';

test('listeners hear of changes, and only of changes', () => {
  const selection = createSelection({ program: 1 });
  const heard: unknown[] = [];
  const stop = selection.subscribe(picked => heard.push(picked));
  selection.set({ program: 1 });
  selection.set({ line: 7 });
  stop();
  selection.set({ line: 8 });
  assert.deepEqual(heard, [{ program: 1, line: 7 }]);
  assert.deepEqual(selection.get(), { program: 1, line: 8 });
});

test('what it began with is not changed', () => {
  const start = { program: 1 };
  createSelection(start).set({ program: 2 });
  assert.deepEqual(start, { program: 1 });
});

test('a listener may go while others are told', () => {
  const selection = createSelection({});
  const heard: string[] = [];
  const stop = selection.subscribe(() => {
    heard.push('first');
    stop();
  });
  selection.subscribe(() => heard.push('second'));
  selection.set({ step: 1 });
  selection.set({ step: 2 });
  assert.deepEqual(heard, ['first', 'second', 'second']);
});

test('the line under the pointer comes before the one that was picked', () => {
  const selection = createSelection({});
  assert.equal(lineOf(selection), null);
  selection.set({ line: 3 });
  assert.equal(lineOf(selection), 3);
  selection.set({ pointed: 5 });
  assert.equal(lineOf(selection), 5);
  selection.set({ pointed: null });
  assert.equal(lineOf(selection), 3);
});

test('a part hears of changes only while it is in view, and of none once it is gone', () => {
  const selection = createSelection({});
  let inView = false;
  const own = scoped(selection, () => inView);
  const heard: unknown[] = [];
  own.selection.subscribe(({ program }) => heard.push(program));
  own.selection.set({ program: 1 });
  inView = true;
  selection.set({ program: 2 });
  own.stop();
  selection.set({ program: 3 });
  assert.deepEqual(heard, [2]);
  assert.equal(own.selection.get().program, 3);
});
