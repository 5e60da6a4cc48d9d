import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bytesFrom, callProgram, countOf, elsewhereOf, listPrograms, numbered } from '../../../triton_lab/views/front/drawing/words.js';

test('one is one, and thousands have separators', () => {
  assert.deepEqual([0, 1, 2, 4096].map((count) => countOf(count, 'lane')), ['0 lanes', '1 lane', '2 lanes', '4,096 lanes']);
  assert.deepEqual([1, 2].map((count) => countOf(count, 'entry', 'entries')), ['1 entry', '2 entries']);
});

test('a program has its number beside it where that is another one', () => {
  assert.equal(callProgram(3, [8, 1, 1]), 'program (3, 0, 0)');
  assert.equal(callProgram(5, [3, 2, 1]), 'program (2, 1, 0), number 5');
  assert.equal(callProgram(1, [1, 1, 2]), 'program (0, 0, 1), number 1');
});

test('of programs runs are told, sixteen at most', () => {
  assert.equal(listPrograms([4], [8, 1, 1]), 'program (4, 0, 0)');
  assert.equal(listPrograms([0, 1, 2, 5], [8, 1, 1]), '4 programs: numbers 0–2, 5');
  const even = Array.from({ length: 17 }, (_, k) => 2 * k);
  assert.equal(listPrograms(even.slice(0, 16), [40, 1, 1]), `16 programs: numbers ${even.slice(0, 16).join(', ')}`);
  assert.equal(listPrograms(even, [40, 1, 1]), `17 programs: numbers ${even.slice(0, 16).join(', ')}, …`);
});

test('things are called by their first and last number, both included', () => {
  assert.deepEqual([numbered(5, 5, 'element'), numbered(5, 9, 'element')], ['element 5', 'elements 5 to 9']);
  assert.deepEqual([bytesFrom(5, 1), bytesFrom(4, 4)], ['byte 5', 'bytes 4–7']);
});

test('lanes that no picture has a cell for are told by what they do', () => {
  assert.deepEqual(elsewhereOf([0, 0], 'x'), []);
  assert.deepEqual(elsewhereOf([1, 1], 'x'), ['1 masked lane is outside x', '1 lane accesses memory outside x']);
  assert.deepEqual(elsewhereOf([2000, 0], 'x'), ['2,000 lanes access memory outside x']);
  assert.deepEqual(elsewhereOf([0, 2], 'x'), ['2 masked lanes are outside x']);
});
