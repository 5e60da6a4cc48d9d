import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { EditorState, Text } from '@codemirror/state';

import type { CellProofs, ProofMark } from '../../triton_lab/views/front/scenes.d.ts';
import { Asking, RESTING, TYPING, questionOf } from '../src/proofs/asking.ts';
import { hasProofs, placed, proofGutter, setProofs, signsOf } from '../src/proofs/gutter.ts';

const DOC = '%%triton\nx = tl.load(p)\ny = tl.load(q)\nz = 1';
const MARKS: ProofMark[] = [
  { line: 2, text: 'x = tl.load(p)', outcome: 'proved', message: 'load p: in bounds' },
  { line: 3, text: 'y = tl.load(q)', outcome: 'unknown', message: 'load q: not known' }
];

const settled = async () => {
  for (let turn = 0; turn < 5; turn++) {
    await Promise.resolve();
  }
};

/** A cell with a kernel that answers when `answer` is called. */
function cell() {
  const questions: string[] = [];
  const shown: (readonly ProofMark[])[] = [];
  let answer: (proofs: CellProofs) => void = () => undefined;
  const state = { text: DOC as string | null, idle: true };
  const asking = new Asking({
    text: () => state.text,
    isIdle: () => state.idle,
    ask: question => {
      questions.push(question);
      return new Promise(resolve => (answer = resolve));
    },
    show: marks => shown.push(marks)
  });
  return { asking, state, questions, shown, answer: (marks: ProofMark[]) => answer({ name: '', marks, refuted: false }) };
}

test('a mark stands where its line still is, and nowhere else', () => {
  assert.deepEqual(
    placed(MARKS, Text.of(DOC.split('\n'))).map(({ from, mark }) => [from, mark.outcome]),
    [
      [9, 'proved'],
      [24, 'unknown']
    ]
  );
  assert.deepEqual(placed(MARKS, Text.of(['', 'x = tl.load(p, m)'])), []);
  assert.deepEqual(placed([{ ...MARKS[0]!, line: 0 }], Text.of(['x'])), []);
});

test('a line that is typed in loses its mark, and the others move with their text', () => {
  let state = EditorState.create({ doc: DOC, extensions: proofGutter() });
  assert.equal(hasProofs(state), false);
  state = state.update({ effects: setProofs.of(MARKS) }).state;
  assert.deepEqual(signsOf(state), [
    [9, 'proved'],
    [24, 'unknown']
  ]);
  state = state.update({ changes: { from: 8, insert: '\n# more' } }).state;
  assert.deepEqual(signsOf(state), [
    [16, 'proved'],
    [31, 'unknown']
  ]);
  state = state.update({ changes: { from: 20, insert: '!' } }).state;
  assert.deepEqual(signsOf(state), [[32, 'unknown']]);
});

test('a key costs little, however long the cell is', () => {
  const lines = Array.from({ length: 2000 }, (_, k) => `x${k} = tl.load(p + ${k})`);
  const marks = lines.map((text, k) => ({ line: k + 1, text, outcome: 'proved', message: '' }));
  let state = EditorState.create({ doc: lines.join('\n'), extensions: proofGutter() });
  state = state.update({ effects: setProofs.of(marks) }).state;
  const began = performance.now();
  for (let key = 0; key < 50; key++) {
    state = state.update({ changes: { from: 100, insert: 'a' } }).state;
  }
  assert.ok((performance.now() - began) / 50 < 16);
});

test('it is asked once typing rests, and again with launches once that lasts', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { asking, questions, shown, answer } = cell();
  asking.later();
  mock.timers.tick(TYPING - 1);
  asking.later(); // another key
  mock.timers.tick(TYPING - 1);
  assert.deepEqual(questions, []);
  mock.timers.tick(1);
  assert.deepEqual(questions, [questionOf(DOC, false)]);
  answer(MARKS);
  await settled();
  assert.deepEqual(shown, [MARKS]);
  mock.timers.tick(RESTING);
  assert.deepEqual(questions.slice(1), [questionOf(DOC, true)]);
  answer(MARKS);
  await settled();
  mock.timers.tick(60_000);
  assert.equal(questions.length, 2);
  asking.stop();
  mock.timers.reset();
});

test('an answer to another text is dropped, and a kernel at work is not asked', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { asking, state, questions, shown, answer } = cell();
  state.idle = false;
  asking.later();
  mock.timers.tick(TYPING);
  assert.deepEqual(questions, []);
  state.idle = true;
  mock.timers.tick(1000);
  assert.equal(questions.length, 1);
  state.text = `${DOC} + 1`;
  asking.later();
  mock.timers.tick(TYPING); // one question at a time
  assert.equal(questions.length, 1);
  answer(MARKS);
  await settled();
  assert.deepEqual(shown, []);
  mock.timers.tick(1000);
  assert.deepEqual(questions.slice(1), [questionOf(state.text, false)]);
  asking.stop();
  mock.timers.reset();
});

test('a cell that is none of ours asks nothing and has no marks', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { asking, state, questions, shown } = cell();
  state.text = null;
  asking.later();
  mock.timers.tick(TYPING);
  assert.deepEqual([questions, shown], [[], [[]]]);
  asking.stop();
  mock.timers.reset();
});
