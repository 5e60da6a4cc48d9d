/** The roofline's edges hold the ridge and the launch; the lines are gone through by mouse and by keys. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { costOf, edgesOf } from "../../../triton_lab/views/front/compiled/cost.js";
import { createSelection } from '../../../triton_lab/views/front/selection.js';
import { fake, fakePage } from './page.ts';

const H100 = { name: "H100", memory: 3.35e12, peak: 66.9e12, kind: "float32", rate: 2.7e12, text: "", source: "" };

test("the ridge and the launch lie inside", () => {
  for (const intensity of [0.003, 0.8, 20, 5000, null]) {
    const { left, right, low, high } = edgesOf(H100, intensity);
    for (const value of [H100.peak / H100.memory, ...(intensity ? [intensity] : [])]) {
      assert.ok(left < Math.log10(value) && Math.log10(value) < right);
    }
    assert.ok(low <= Math.log10(H100.memory) + left && Math.log10(H100.peak) <= high);
  }
});

test('keys go on from the line that was clicked', () => {
  fakePage();
  const listing = ['a', 'b', 'c', 'd'].map((text, k) => [k + 1, text, [0.25, null, 0]] as [number, string, (number | null)[]]);
  const shares = ['bytes', 'operations', 'instructions'];
  const scene = {
    kind: 'cost' as const, title: 'cost', facts: [], intensity: 1, roofs: [H100], shown: 0, shares, totals: shares, listing, problem: '',
  };
  const selection = createSelection({});
  const node = fake(costOf(scene, selection).node);
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
