import assert from 'node:assert/strict';
import { test } from 'node:test';

import { badgeText, lastTarget } from '../src/target.ts';

const ran = (target: unknown) => ({ triton_lab: { target } });

test('a cell without outputs has no target', () => {
  assert.equal(lastTarget([]), null);
});

test('outputs of others say nothing', () => {
  assert.equal(lastTarget([{}, { isolated: true }, { triton_lab: {} }]), null);
});

test('an output of ours tells the target', () => {
  for (const target of ['cpu', 'gpu', 'both']) {
    assert.equal(lastTarget([{}, ran(target)]), target);
  }
});

test('launches on the same target agree', () => {
  assert.equal(lastTarget([ran('gpu'), ran('gpu')]), 'gpu');
});

test('launches on different targets make both', () => {
  assert.equal(lastTarget([ran('gpu'), ran('cpu')]), 'both');
});

test('what a saved notebook makes up is passed over', () => {
  const odd = [{ triton_lab: 'cpu' }, { triton_lab: null }, ran('tpu'), ran(7), ran('auto')];
  assert.equal(lastTarget(odd), null);
});

test('every badge says in words where the cell ran', () => {
  assert.equal(badgeText('cpu').label, 'Last run on the CPU');
  assert.match(badgeText('both').label, /CPU.*GPU/);
});
