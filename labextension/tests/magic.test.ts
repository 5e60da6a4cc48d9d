import assert from 'node:assert/strict';
import { test } from 'node:test';

import { linesOf, magicLine } from '../src/magic.ts';

test('a text has the lines that an editor shows, and no more of them are cut off than are looked at', () => {
  for (const text of ['', '\n', 'a', 'a\n', '\na\n\nb']) {
    assert.deepEqual([...linesOf(text)], text.split('\n'));
  }
  const lines = linesOf('\n%%triton\nx = 1');
  assert.equal(magicLine(lines), 2);
  assert.deepEqual(lines.next(), { value: undefined, done: true });
});

test('the magic stands on the first line', () => {
  assert.equal(magicLine(['%%triton cpu --show tiling', 'x = 1']), 1);
});

test('the magic alone is enough', () => {
  assert.equal(magicLine(['%%triton']), 1);
});

test('blank lines and indentation before the magic do not hide it', () => {
  assert.equal(magicLine(['', '   ', '  %%triton', 'x = 1']), 3);
});

test('a magic after code is none', () => {
  assert.equal(magicLine(['x = 1', '%%triton']), null);
});

test('other magics are not ours', () => {
  for (const line of ['%%tritonish', '%triton', '%%time', '# %%triton', '%%triton-lab']) {
    assert.equal(magicLine([line]), null, line);
  }
});

test('an empty cell is not ours', () => {
  assert.equal(magicLine([]), null);
  assert.equal(magicLine(['', ' ']), null);
});
