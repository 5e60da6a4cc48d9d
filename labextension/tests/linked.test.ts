import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EditorState } from '@codemirror/state';

import type { AssignedTexts } from '../../triton_lab/views/front/scenes.d.ts';
import { assignedIn, told } from '../src/linked.ts';
import { nameAt } from '../src/linkeditor.ts';

const ACC = { name: 'acc', texts: ['1', '2'], last: '9', count: 3 };
const VALUES: AssignedTexts[] = [{ line: 5, name: 'acc', texts: ['0'], last: '0', count: 1 }, { line: 8, ...ACC }];

test('a variable has the value of the nearest line above, in the picked iteration or the last', () => {
  assert.equal(told(VALUES, 8, 'acc', null, 'program (0, 0, 0)'), 'acc = 9   program (0, 0, 0), iteration 2 of 3');
  assert.equal(told(VALUES, 8, 'acc', 1, 'p'), 'acc = 2   p, iteration 1 of 3');
  assert.equal(told(VALUES, 6, 'acc', 1, 'p'), 'acc = 0   p, line 5');
  assert.equal(told(VALUES, 10, 'acc', null, 'p'), 'acc = 9   p, iteration 2 of 3, line 8');
  assert.equal(told([VALUES[1]!], 6, 'acc', 0, 'p'), 'acc = 1   p, iteration 0 of 3, line 8');
});

test('of what nobody knows nothing is said', () => {
  assert.equal(told(VALUES, 8, 'x', null, 'p'), null);
  assert.equal(told(VALUES, 8, 'acc', 7, 'p'), null);
  assert.equal(told([{ line: 1, name: 'a', texts: [], last: '3', count: 9 }], 1, 'a', 4, 'p'), null); // not kept
});

test("a program's steps tell what was assigned", () => {
  const step = (kind: string, line: number | null, name: string | null, value: string) =>
    ({ kind, line, name, value, words: '', shape: 0, ends: [0, 0] as [number, number], block: null, mask: null });
  const steps = [step('assign', 5, 'acc', '0'), step('load', 6, 'x_ptr', '7'), step('assign', 8, 'acc', '1'), step('assign', 8, 'acc', '9')];
  assert.deepEqual(assignedIn({ steps } as never), [VALUES[0], { line: 8, name: 'acc', texts: ['1', '9'], last: '9', count: 2 }]);
});

test('the caret is at a name, or at none', () => {
  const at = (head: number) => nameAt(EditorState.create({ doc: 'x = 12\ntotal += part', selection: { anchor: head } }));
  assert.deepEqual(at(9), { line: 2, name: 'total' });
  assert.deepEqual(at(12), { line: 2, name: 'total' });
  assert.equal(at(5), null);
  assert.equal(at(2), null);
});
