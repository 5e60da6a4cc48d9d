import assert from 'node:assert/strict';
import { test } from 'node:test';

import { countedOf } from '../../../triton_lab/views/front/launch/findings.js';

test('what does not stand above the pictures is counted, the gravest first', () => {
  const [error, warning, note] = ['error', 'warning', 'note'].map(severity => ({ severity }));
  assert.equal(countedOf([note!], []), '1 note');
  assert.equal(countedOf([note!, error!, note!, warning!], [error!, error!]), '1 more error, 1 warning, 2 notes');
  assert.equal(countedOf([], [error!]), '');
});
