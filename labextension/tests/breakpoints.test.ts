import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EditorState } from '@codemirror/state';

import { keep, kept, questionOf } from '../src/breakpoints/breakpoints.ts';
import { breakpointGutter, breakpointsOf, setBreakpoints, toggled } from '../src/breakpoints/gutter.ts';

const DOC = '%%triton\nx = 1\ny = 2\nz = 3';
const plain = (line: number, condition = '') => ({ line, condition });

function editor(lines: number[]) {
  const state = EditorState.create({ doc: DOC, extensions: breakpointGutter(() => Promise.resolve(null)) });
  return state.update({ effects: setBreakpoints.of(lines.map(line => plain(line))) }).state;
}

/** A cell's metadata. */
function cell(metadata: Record<string, unknown> = {}) {
  return {
    metadata,
    getMetadata: (key: string) => metadata[key],
    setMetadata: (key: string, value: unknown) => void (metadata[key] = value),
    deleteMetadata: (key: string) => void delete metadata[key]
  };
}

test('a click sets a breakpoint, another removes it, and a condition replaces the one before', () => {
  assert.deepEqual(toggled([], 2), [plain(2)]);
  assert.deepEqual(toggled([plain(2), plain(3)], 2), [plain(3)]);
  assert.deepEqual(toggled([plain(2)], 2, 'k == 1'), [plain(2, 'k == 1')]);
});

test('breakpoints move with their lines, and lines that meet keep one', () => {
  let state = editor([2, 4, 99]);
  assert.deepEqual(breakpointsOf(state), [plain(2), plain(4)]);
  state = state.update({ changes: { from: 8, insert: '\n# more' } }).state;
  assert.deepEqual(breakpointsOf(state), [plain(3), plain(5)]);
  state = editor([2, 3]).update({ changes: { from: 9, to: 15, insert: '' } }).state;
  assert.equal(breakpointsOf(state).length, 1);
});

test('a breakpoint goes with the text of its line', () => {
  const after = (lines: number[], ...changes: { from: number; to?: number; insert?: string }[]) =>
    breakpointsOf(editor(lines).update({ changes }).state).map(({ line }) => line);
  assert.deepEqual(after([2], { from: 9, insert: '\n' }), [3]); // a line before it
  assert.deepEqual(after([2], { from: 9, insert: '# ' }), [2]);
  assert.deepEqual(after([3], { from: 14, to: 15 }), [2]); // joined with the line before
  assert.deepEqual(after([2], { from: 9, insert: 'y = 2\n' }, { from: 14, to: 20 }), [3]); // moved down, below the next
  assert.deepEqual(after([3], { from: 9, insert: 'y = 2\n' }, { from: 14, to: 20 }), [2]); // the next, which moves up
  const up = [{ from: 9, to: 15 }, { from: 20, insert: '\nx = 1' }]; // the last but one moves up
  assert.deepEqual(after([2], ...up), [3]);
  assert.deepEqual(after([2, 3], ...up), [2, 3]);
  assert.deepEqual(after([3], { from: 0, to: DOC.length, insert: DOC.replace('x', '\n    x') }), [4]); // all replaced
  assert.deepEqual(after([3], { from: 0, to: DOC.length, insert: '%%triton' }), []);
});

test('they are kept in the metadata of the cell, beside what else is there', () => {
  const { metadata, ...one } = cell({ triton_lab: { other: 1 } });
  keep(one, [plain(2), plain(3, 'k == 1')]);
  assert.deepEqual(metadata, { triton_lab: { other: 1, breakpoints: [{ line: 2 }, { line: 3, condition: 'k == 1' }] } });
  assert.deepEqual(kept(one), [plain(2), plain(3, 'k == 1')]);
  keep(one, []);
  assert.deepEqual(metadata, { triton_lab: { other: 1 } });
  const { metadata: alone, ...empty } = cell({ triton_lab: { breakpoints: [{ line: 2 }] } });
  keep(empty, []);
  assert.deepEqual(alone, {});
});

test('metadata that is none of ours is left out', () => {
  for (const breakpoints of [null, 3, 'x', {}, [null], [{ line: 0 }], [{ line: 1.5 }], [{ line: '2' }]]) {
    assert.deepEqual(kept(cell({ triton_lab: { breakpoints } })), []);
  }
  assert.deepEqual(kept(cell({ triton_lab: { breakpoints: [{ line: 2, condition: 7 }] } })), [plain(2)]);
  assert.deepEqual(kept(cell()), []);
});

test('the kernel is told each line with its text', () => {
  const question = questionOf('abc', editor([3]));
  assert.ok(question.startsWith('breakpoints {'));
  assert.deepEqual(JSON.parse(question.slice(12)), { cell: 'abc', breakpoints: [{ line: 3, condition: '', text: 'y = 2' }] });
});
