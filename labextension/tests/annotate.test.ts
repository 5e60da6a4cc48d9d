import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EditorState } from '@codemirror/state';
import type { Facet } from '@codemirror/state';
import { gutter } from '@codemirror/view';

import type { FindingNote, NotedSource } from '../../triton_lab/views/front/scenes.d.ts';
import { annotations, diagnosticsOf, markers, pointedAt, setSources, toldField } from '../src/annotate.ts';
import { CellNotes, merged } from '../src/annotations.ts';
import { saidOfLine } from '../src/read.ts';

const KERNEL = ['@triton.jit', 'def add(x_ptr, n):', '    x = tl.load(x_ptr)', '    tl.store(x_ptr, x)'];
const CELL = ['%%triton', ...KERNEL, 'add[(1,)](x, 8)'].join('\n');
const FIXED = '    x = tl.load(x_ptr, mask=n > 0)';
const found: FindingNote = {
  line: 4, severity: 'error', message: 'out of bounds', hint: 'Mask it.', fix: [[4, KERNEL[2]!, FIXED]]
};
const source: NotedSource = {
  cell: 1, path: '', first: 2, lines: KERNEL, findings: [found],
  notes: [{ line: 4, share: 0.5, text: '50%', told: 'half' }, { line: 5, share: 0.5, text: '50% ×3', told: 'half, thrice' }]
};

function cell(doc = CELL): EditorState {
  const state = EditorState.create({ doc, extensions: annotations(new CellNotes()) });
  return state.update({ effects: setSources.of([source]) }).state;
}

/** By line: what stands beside it. */
function beside(state: EditorState): Record<number, string> {
  return Object.fromEntries(state.field(toldField).notes.map(({ at, told }) => [state.doc.lineAt(at).number, told.text]));
}

/** What the findings lie under. */
const under = (state: EditorState) => diagnosticsOf(state).map(({ from, to }) => state.sliceDoc(from, to));

const edited = (state: EditorState, from: number, insert: string, to = from) => state.update({ changes: { from, to, insert } }).state;
const hasGutter = (state: EditorState) => state.facet(activeGutters()).length > 0;

/** CodeMirror does not name the facet in which gutters are. */
function activeGutters(): Facet<unknown> {
  const [, own] = gutter({}) as unknown as [unknown, { facet: Facet<unknown> }];
  return own.facet;
}

test('notes stand beside their lines, and findings under them', () => {
  const state = cell();
  assert.deepEqual(beside(state), { 4: '50%', 5: '50% ×3' });
  assert.deepEqual(under(state), ['x = tl.load(x_ptr)']);
  assert.equal(state.field(toldField).aged, false);
});

test('an edit takes notes along with their lines and makes them old; taking it back makes them new', () => {
  const state = cell();
  const start = state.doc.line(4).from;
  const moved = edited(state, start, '    # why\n');
  assert.deepEqual([beside(moved), moved.field(toldField).aged], [{ 5: '50%', 6: '50% ×3' }, true]);
  assert.deepEqual(under(moved), ['x = tl.load(x_ptr)']);
  const without = edited(state, start, '', state.doc.line(5).from);
  assert.deepEqual([beside(without), under(without)], [{ 4: '50% ×3' }, []]);
  const again = edited(without, start, `${KERNEL[2]}\n`);
  assert.deepEqual([beside(again), again.field(toldField).aged], [{ 4: '50%', 5: '50% ×3' }, false]);
});

test('typing within a line makes nothing anew that stands beside lines', () => {
  const before = edited(cell(), 8, ' ');
  const type = (from: number, insert = 'x') => edited(before, from, insert);
  const shown = (state: EditorState) => {
    const found: [number, unknown][] = [];
    state.field(markers).between(0, state.doc.length, (from, _, value) => void found.push([state.doc.lineAt(from).number, value]));
    return found;
  };
  for (const line of [2, 3, 4, 5, 6]) {
    const { from, to } = before.doc.line(line);
    for (const at of [from, from + 4, to]) {
      const after = type(at);
      assert.deepEqual(shown(after).map(([number]) => number), [4, 5]);
      assert.ok(shown(after).every(([, value], k) => value === shown(before)[k]?.[1]));
    }
  }
});

test('a text that was edited while nobody looked has its notes where the lines are now', () => {
  const state = cell(CELL.replace('%%triton', '%%triton\n# new'));
  assert.deepEqual([beside(state), state.field(toldField).aged], [{ 5: '50%', 6: '50% ×3' }, true]);
  assert.deepEqual(beside(cell('%%triton\nprint()')), {});
});

test('only a cell of ours of which something is told has a gutter', () => {
  const state = cell();
  assert.ok(hasGutter(state));
  assert.ok(!hasGutter(cell(CELL.replace('%%triton', '# none'))));
  const other = edited(state, 0, '# ');
  assert.ok(!hasGutter(other));
  assert.ok(hasGutter(edited(other, 0, '', 2)));
  assert.ok(!hasGutter(state.update({ effects: setSources.of([]) }).state));
});

test('a fix is offered where its lines say what they said', () => {
  const fixes = (state: EditorState) => diagnosticsOf(state).map(({ fix }) => fix?.name ?? null);
  assert.deepEqual(fixes(cell()), ['Fix: x = tl.load(x_ptr, mask=n > 0)']);
  const state = cell();
  const elsewhere = edited(state, state.doc.line(4).to, '  # edited');
  assert.deepEqual(fixes(elsewhere), [null]);
  const several = { ...source, findings: [{ ...found, fix: [[4, KERNEL[2]!, 'a\nb'] as [number, string, string]] }] };
  assert.deepEqual(fixes(state.update({ effects: setSources.of([several]) }).state), [null]);
});

test('a button is where somebody points, and none in the list of findings, whose options hold no controls', () => {
  const found = diagnosticsOf(cell());
  assert.ok(found.every(({ actions }) => !actions?.length));
  assert.deepEqual(pointedAt(found).map(one => one.renderMessage), [found[0]!.renderPointed]);
  const others = { from: 0, to: 1, severity: 'info', message: 'of another linter' } as const;
  assert.deepEqual(pointedAt([others]), [others]);
});

test('all that stands beside the line of the caret is read, the worst first', () => {
  const of = (state: EditorState, number: number) =>
    saidOfLine(state.update({ selection: { anchor: state.doc.line(number).to } }).state);
  const worse = { ...source, findings: [{ ...found, severity: 'note' as const, message: 'slow', hint: '' }, found] };
  const state = cell().update({ effects: setSources.of([worse]) }).state;
  assert.deepEqual(of(state, 4), ['error: out of bounds', 'Mask it.', 'note: slow', 'half']);
  assert.deepEqual(of(state, 5), ['half, thrice']);
  assert.deepEqual(of(state, 6), ['Nothing is known about line 6.']);
  assert.deepEqual(of(edited(state, 0, '# '), 5), ['half, thrice', 'The cell was edited after its run. Run it again.']);
  assert.deepEqual(saidOfLine(EditorState.create({ doc: 'x = 1' })), ['Nothing is known about line 1.']);
});

test('notes beyond the text of a damaged notebook are passed over', () => {
  const wild = { ...source, first: -7, notes: [{ ...source.notes[0]!, line: 1e9 }], findings: [{ ...found, line: -3 }] };
  const state = cell().update({ effects: setSources.of([wild]) }).state;
  assert.deepEqual([beside(state), under(state)], [{}, []]);
});

test('launches of one kernel are told together: the last numbers, and all that is wrong', () => {
  const other = { ...found, message: 'a race' };
  const last = { ...source, notes: [source.notes[1]!], findings: [found, other] };
  assert.deepEqual(merged([source, last]), [{ ...last, findings: [found, other] }]);
  assert.equal(merged([source, { ...source, first: 9 }]).length, 2);
});
