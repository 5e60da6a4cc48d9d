/** The lines of a launch's cost are gone through by mouse and by keys. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { costOf } from "../../../triton_lab/views/front/compiled/cost.js";
import { createSelection } from '../../../triton_lab/views/front/selection.js';
import { fake, fakePage } from './page.ts';

const DRAWING = { kind: 'drawing' as const, width: 10, height: 10, items: [], source: '', label: '' };
const H100 = { name: 'H100', drawing: DRAWING, text: '', source: '' };
const context = { live: false, ask: () => {}, has: () => false, draw: () => ({ node: document.createElement('div'), draw: () => {} }) };

test('keys go on from the line that was clicked', () => {
  fakePage();
  const listing = ['a', 'b', 'c', 'd'].map((text, k) => [k + 1, text, [0.25, null, 0]] as [number, string, (number | null)[]]);
  const shares = ['bytes', 'operations', 'instructions'];
  const scene = {
    kind: 'cost' as const, title: 'cost', facts: [], roofs: [H100], shown: 0, shares, totals: shares, listing, problem: '',
  };
  const selection = createSelection({});
  const node = fake(costOf(scene, selection, context).node);
  const [list] = node.withRole('listbox');
  const press = (key: string) => list!.listeners.get('keydown')!({ key, preventDefault: () => {}, stopPropagation: () => {} });
  node.withRole('option')[2]!.focus();
  press('ArrowDown');
  press('Enter');
  assert.equal(selection.get().line, 4);
  press('ArrowDown');
  press('ArrowUp');
  press('Enter');
  assert.equal(selection.get().line, 3);
});
