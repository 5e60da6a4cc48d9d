import assert from 'node:assert/strict';
import { test } from 'node:test';

import { cellWith, codeCells, followOutputs, saidUnder } from '../src/cells.ts';

/** A signal that tests set off. */
function signal() {
  const listeners: ((sender: unknown, args: never) => void)[] = [];
  return {
    connect: (then: (sender: unknown, args: never) => void) => listeners.push(then),
    emit: (args?: unknown) => listeners.forEach(then => then(null, args as never))
  };
}

function fakeCell(text: string, executionCount: number | null = null, ...said: Record<string, unknown>[]) {
  return {
    executionCount,
    sharedModel: { getSource: () => text },
    outputs: { length: said.length, get: (k: number) => ({ data: said[k] }), changed: signal() },
    stateChanged: signal()
  };
}

const fakeNotebook = (...cells: unknown[]) => Object.assign(cells, { changed: signal() });

/** How many code cells were told of, each time. */
function told(notebook: ReturnType<typeof fakeNotebook>): number[] {
  const times: number[] = [];
  followOutputs(notebook as never, code => times.push(code.length));
  return times;
}

test('what changes together is told once, whatever it is', async () => {
  const cell = fakeCell('x = 1');
  const notebook = fakeNotebook({ markdown: true }, cell);
  const times = told(notebook);
  await null;
  assert.deepEqual(times, [1]);
  cell.outputs.changed.emit();
  cell.stateChanged.emit({ name: 'executionCount' });
  notebook.changed.emit();
  assert.deepEqual(times, [1]);
  await null;
  assert.deepEqual(times, [1, 1]);
  cell.stateChanged.emit({ name: 'isDirty' });
  await null;
  assert.deepEqual(times, [1, 1]);
});

test('a cell that comes is followed from then on, and one that was is followed once', async () => {
  const notebook = fakeNotebook(fakeCell('x = 1'));
  const times = told(notebook);
  await null;
  const come = fakeCell('y = 1');
  notebook.push(come);
  notebook.changed.emit();
  await null;
  come.stateChanged.emit({ name: 'executionCount' });
  await null;
  assert.deepEqual(times, [1, 2, 2]);
});

test('a record is of the cell with its number, or, once that has run again, of the one that says the same', () => {
  const [other, mine] = [fakeCell('a\nb', 1), fakeCell('a\nc', 2)];
  const cells = codeCells([other, mine]);
  const record = { first: 2, lines: ['c'] };
  assert.equal(cellWith(2, record, cells), mine);
  mine.executionCount = 5;
  assert.equal(cellWith(2, record, cells), mine);
  assert.equal(cellWith(2, { first: 2, lines: ['d'] }, cells), undefined);
});

test('outputs are read under one type, whatever else they say', () => {
  const cells = codeCells([fakeCell('', 1, { ours: 1 }, { 'text/plain': 'x' }), fakeCell('', 2, { ours: null, other: 2 })]);
  assert.deepEqual(saidUnder('ours', cells).map(({ cell, data }) => [cells.indexOf(cell), data]), [[0, 1], [1, null]]);
});
