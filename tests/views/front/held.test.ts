import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bitsIn } from '../../../triton_lab/views/front/layouts/held.js';

test('a place has the bits that are set, and no place has none', () => {
  assert.deepEqual(bitsIn(0b1011), [0, 1, 3]);
  assert.deepEqual(bitsIn(0), []);
  assert.deepEqual(bitsIn(-1), []);
});
