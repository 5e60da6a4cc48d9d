/** A table that is folded away says what it is, and is there once somebody opens it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { foldedTable } from '../../../triton_lab/views/front/drawing/table.js';
import { fake, fakePage } from './page.ts';

test('a folded table is closed, under its words', () => {
  fakePage();
  const node = fake(foldedTable('What was tried: 1 experiment', ['', ''], [['tf32', 'no']]));
  assert.equal(node.tag, 'details');
  assert.ok(!node.attributes.has('open'));
  assert.deepEqual(node.find('summary')!.children, ['What was tried: 1 experiment']);
  assert.deepEqual(node.find('tbody')!.find('td')!.children, ['no']);
});
