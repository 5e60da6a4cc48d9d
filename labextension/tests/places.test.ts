import assert from 'node:assert/strict';
import { test } from 'node:test';

import { placeIn } from '../src/places.ts';

test('a picture that takes the place of another finds where that one was', () => {
  const cell = {};
  placeIn(cell, 0, 'card add').tab = 'storage';
  assert.equal(placeIn(cell, 0, 'card add').tab, 'storage');
});

test('no other cell, picture or kernel finds it', () => {
  const cell = {};
  placeIn(cell, 0, 'card add').tab = 'storage';
  assert.deepEqual(placeIn({}, 0, 'card add'), {});
  assert.deepEqual(placeIn(cell, 1, 'card add'), {});
  assert.deepEqual(placeIn(cell, 0, 'card sub'), {});
});

test('outside of cells nothing is kept', () => {
  placeIn(undefined, 0, 'card add').tab = 'storage';
  assert.deepEqual(placeIn(undefined, 0, 'card add'), {});
});
