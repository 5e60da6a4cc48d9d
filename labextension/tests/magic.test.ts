import assert from 'node:assert/strict';
import { test } from 'node:test';

import { magicLine } from '../src/magic.ts';

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
