import assert from 'node:assert/strict';
import { test } from 'node:test';

import { cellOf, mayBe, pathsOf, placed } from '../src/linktext.ts';

const KERNEL = ['@triton.jit', 'def add(x_ptr, n):', '    i = tl.arange(0, 8)', '    x = tl.load(x_ptr + i)', '    tl.store(x_ptr + i, x)'];
const CELL = ['%%triton', 'import triton', '', ...KERNEL, 'add[(1,)](x, 8)'];
const SOURCE = { first: 4, lines: KERNEL };

test('lines that nobody edited are where they were, whatever their indentation', () => {
  assert.deepEqual(placed(SOURCE, CELL), { numbers: [4, 5, 6, 7, 8], same: true });
  assert.ok(placed(SOURCE, CELL.map(line => `  ${line}`)).same);
});

test('lines move with what is written or taken away above and between them', () => {
  assert.deepEqual(placed(SOURCE, ['# new', ...CELL]), { numbers: [5, 6, 7, 8, 9], same: false });
  assert.deepEqual(placed(SOURCE, CELL.toSpliced(6, 0, '    # why', '')).numbers, [4, 5, 6, 9, 10]);
  assert.deepEqual(placed(SOURCE, CELL.toSpliced(6, 1)).numbers, [4, 5, 6, null, 7]);
});

test('a line that was edited in place stays, one that is gone is nowhere', () => {
  assert.deepEqual(placed(SOURCE, CELL.with(6, '    x = tl.load(x_ptr + i, mask=i < n)')).numbers, [4, 5, 6, 7, 8]);
  assert.deepEqual(placed(SOURCE, ['%%triton', 'print(1)']).numbers, [null, null, null, null, null]);
  assert.deepEqual(placed(SOURCE, []).numbers, [null, null, null, null, null]);
});

test('a kernel is found by the number beside its cell, and by its text', () => {
  const cell = (count: number | null, lines: string[]) => ({ count, lines: () => lines });
  const other = ['x = 1'];
  assert.equal(cellOf(3, SOURCE, [cell(3, other), cell(3, CELL)]), 1); // of a kernel before
  assert.equal(cellOf(3, SOURCE, [cell(2, CELL), cell(3, CELL)]), 1);
  assert.equal(cellOf(3, SOURCE, [cell(null, other), cell(9, CELL)]), 1); // run again since
  assert.equal(cellOf(3, SOURCE, [cell(1, other), cell(3, ['# edited', ...CELL])]), 1);
  assert.equal(cellOf(3, SOURCE, [cell(1, other)]), -1);
});

test('a file has a path on the server only below its root', () => {
  assert.deepEqual(pathsOf('/data/a/k.py', '/data'), ['a/k.py']);
  assert.deepEqual(pathsOf('/data/a/k.py', '/data/'), ['a/k.py']);
  assert.deepEqual(pathsOf('/database/k.py', '/data'), []);
  assert.deepEqual(pathsOf('/opt/k.py', '/'), ['opt/k.py']);
  assert.deepEqual(pathsOf('C:\\Users\\ada\\k.py', 'C:\\Users'), ['ada/k.py']);
});

test('of a root below a home that nobody knows, the likeliest path comes first', () => {
  assert.deepEqual(pathsOf('/home/ada/lab/k.py', '~/lab'), ['k.py']);
  assert.deepEqual(pathsOf('/data/people/ada/lab/k.py', '~/lab'), ['k.py']);
  assert.deepEqual(pathsOf('/opt/laboratory/k.py', '~/lab'), []);
  assert.equal(pathsOf('/home/ada/lab/k.py', '~')[0], 'lab/k.py');
  assert.equal(pathsOf(['', 'root', 'lab', 'k.py'].join('/'), '~')[0], 'lab/k.py');
});

test('a path that is not whole goes from the folder of the notebook, or from one above', () => {
  assert.deepEqual(pathsOf('k.py', '~', 'a/n.ipynb'), ['a/k.py', 'k.py']);
  assert.deepEqual(pathsOf('../src/k.py', '/lab', 'a/b/n.ipynb'), ['a/src/k.py', 'src/k.py']);
  assert.deepEqual(pathsOf('../k.py', '/lab', 'n.ipynb'), []);
  assert.deepEqual(pathsOf('pkg/k.py', '/lab', 'notebooks/n.ipynb'), ['notebooks/pkg/k.py', 'pkg/k.py']);
  assert.ok(mayBe('k.py', 'a/k.py', '~', 'a/n.ipynb') && !mayBe('k.py', 'b/k.py', '~', 'a/n.ipynb'));
  assert.ok(mayBe('/lab/a/k.py', 'a/k.py', '/lab', 'n.ipynb'));
});
