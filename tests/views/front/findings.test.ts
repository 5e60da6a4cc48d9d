import assert from 'node:assert/strict';
import { test } from 'node:test';

import { countedOf, findingOf } from '../../../triton_lab/views/front/launch/findings.js';
import { createSelection } from '../../../triton_lab/views/front/selection.js';
import { fake, fakePage } from './page.ts';

test('what does not stand above the pictures is counted, the gravest first', () => {
  const [error, warning, note] = ['error', 'warning', 'note'].map(severity => ({ severity }));
  assert.equal(countedOf([note!], []), '1 note');
  assert.equal(countedOf([note!, error!, note!, warning!], [error!, error!]), '1 more error, 1 warning, 2 notes');
  assert.equal(countedOf([], [error!]), '');
});

const finding = {
  severity: 'error', icon: '✖', line: null, program: null, message: 'm', hint: 'h', excerpt: [], stopped: false,
  orders: [], fix: null,
};

test('a finding has its kind, with what it means folded below it', () => {
  fakePage();
  const node = fake(findingOf({ ...finding, sort: 'race', about: ['why', 'when'] }, createSelection({})));
  const about = node.find('details')!;
  assert.ok(!about.attributes.has('open'));
  assert.deepEqual(about.find('summary')!.children, ['race']);
  assert.equal(about.children.length, 1 + 2 + 1);
  assert.equal(fake(findingOf(finding, createSelection({}))).find('details'), null);
});

test('only an address of the web is a link', () => {
  fakePage();
  for (const [page, there] of [['https://example.org/race.html', true], ['javascript:alert(1)', false], ['', false]] as const) {
    const node = fake(findingOf({ ...finding, sort: 'race', about: [], page }, createSelection({})));
    assert.equal(node.find('a') !== null, there, page);
  }
});
