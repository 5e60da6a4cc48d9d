import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

import { marks } from '../src/marks.ts';
import type { Target } from '../src/target.ts';

/** The decorations of a cell, as [position, CSS class, target]; no browser needed. */
function decorations(doc: string, target: Target | null): unknown[] {
  const run = { target: () => target, subscribe: () => () => undefined };
  const state = EditorState.create({ doc, extensions: marks(run) });
  const found: unknown[] = [];
  for (const set of state.facet(EditorView.decorations)) {
    assert.ok(typeof set !== 'function');
    set.between(0, doc.length, (from, _to, { spec }) => {
      found.push([from, spec.class, spec.widget?.target]);
    });
  }
  return found;
}

test('the magic line of a cell that has not run is marked, without a badge', () => {
  assert.deepEqual(decorations('%%triton\nx = 1', null), [[0, 'triton-lab-magic-line', undefined]]);
});

test('the badge stands behind the magic line', () => {
  assert.deepEqual(decorations('\n%%triton cpu\nx = 1', 'cpu'), [
    [1, 'triton-lab-magic-line', undefined],
    [13, undefined, 'cpu']
  ]);
});

test('a cell that is not ours stays as it is, whatever its outputs say', () => {
  assert.deepEqual(decorations('x = 1', 'cpu'), []);
});
