import assert from 'node:assert/strict';
import { test } from 'node:test';

import { packedNumbers } from '../../../triton_lab/views/front/drawing/data.js';
import { borderLine, borderTime, withBorder, withSkew, withStep } from '../../../triton_lab/views/front/polyhedral/handles.js';
import { callsOf, checked, instanceOf, keyOf, movesOf, reasonOf, runOrder, shownChange, skewedRows, timesOf } from '../../../triton_lab/views/front/polyhedral/moved.js';
import { boundsOf, loopsOf, substituted, sumOf, valuesOf } from '../../../triton_lab/views/front/polyhedral/moved_loops.js';
import { hull } from '../../../triton_lab/views/front/polyhedral/moved_plane.js';

type Moves = Parameters<typeof movesOf>[0];
type Change = ReturnType<typeof shownChange>;
type Row = number[];

/** A nest of two loops over the integer points of `rows`, each of which reads what is `distances` before it. */
function nest(rows: Row[], distances: [number, number][], change: Partial<Moves> = {}) {
  const points: [number, number][] = [];
  for (let i = -3; i < 12; i++) for (let j = -3; j < 12; j++) if (rows.every(([a, b, c]) => a! * i + b! * j + c! >= 0)) points.push([i, j]);
  const place = new Map(points.map((point, k) => [point.join(), k]));
  const pairs = distances.flatMap(([di, dj]) => points.flatMap(([i, j], k) => (place.has(`${i + di},${j + dj}`) ? [k, place.get(`${i + di},${j + dj}`)!] : [])));
  const span = (axis: 0 | 1) => ({ low: Math.min(...points.map((p) => p[axis])), high: Math.max(...points.map((p) => p[axis])) });
  const scene: Moves = {
    loops: [{ name: 'i', ...span(0), line: [1, 0, 0], parallel: false }, { name: 'j', ...span(1), line: [0, 1, 0], parallel: false }],
    names: [], times: packedNumbers(Int32Array.from(points.flat())), rest: packedNumbers(new Int32Array()), fixed: packedNumbers(new Int32Array()),
    statements: ['S0'], statement: packedNumbers(new Uint32Array(points.length)), points: packedNumbers(Int32Array.from(points.flat())),
    pairs: [{ kind: 'flow', text: 'flow S0 → S0 on A', may: false, drawn: true, pairs: packedNumbers(Uint32Array.from(pairs)), colour: '#0072b2', dashes: [], beside: 0 }],
    rows, bodies: [['A[i][j] = A[i-1][j+1]', [['i', [1, 0, 0]], ['j', [0, 1, 0]]]]], language: 'c', where: 'n = 6', sizes: [0, 0], violated: '#d60000', tile: '#674ea7', ...change,
  };
  return movesOf(scene);
}

const SQUARE: Row[] = [[1, 0, 0], [-1, 0, 5], [0, 1, 0], [0, -1, 5]];
const TRIANGLE: Row[] = [[1, 0, 0], [-1, 0, 6], [0, 1, 0], [1, -1, 0]];
const LEANING: Row[] = [[1, 0, 0], [-1, 0, 4], [-1, 1, 0], [1, -1, 3]];
const CHANGES: Partial<Change>[] = [
  {}, { order: [1, 0] }, { skews: [[1, 0, 1]] }, { skews: [[1, 0, -2]], order: [1, 0] }, { skews: [[0, 1, 3]] }, { sizes: [2, 3] }, { sizes: [0, 4] },
  { sizes: [3, 0], order: [1, 0] }, { skews: [[1, 0, 1], [0, 1, -1]] }, { skews: [[0, 1, 2], [1, 0, -1]], sizes: [0, 3], order: [1, 0] }, { skews: [[1, 0, 1]], sizes: [2, 3], order: [1, 0] }, { skews: [[0, 1, -1]], sizes: [1, 5] },
];
const changed = (moves: ReturnType<typeof nest>, change: Partial<Change>): Change => ({ ...shownChange(moves), ...change });

test('the loops that are written visit each instance once, in the order of its times', () => {
  for (const rows of [SQUARE, TRIANGLE, LEANING]) {
    for (const some of CHANGES) {
      const moves = nest(rows, []);
      const change = changed(moves, some);
      const found = boundsOf(moves, change)!;
      let visits: number[][] = [[]];
      found.loops.forEach((loop, k) => (visits = visits.flatMap((at) => valuesOf(loop, at, k).map((value) => [...at, value]))));
      const timed = timesOf(moves, change);
      const { places } = runOrder(timed, moves.count);
      const want = places.map((place) => Array.from(timed.rows.subarray(place * timed.wide, (place + 1) * timed.wide)));
      assert.deepEqual(visits, want, keyOf(change));
      // The iterators that stand in the statement are those of the instance that runs.
      const value = (row: Row, at: number[]) => at.reduce((sum, one, k) => sum + row[k]! * one, row[at.length]!);
      visits.forEach((at, k) => assert.deepEqual(found.values.map((row) => value(row, at)), Array.from(moves.points.slice(2 * places[k]!, 2 * places[k]! + 2))));
    }
  }
});

test('a nest whose values go up and left is interchanged only once it is skewed', () => {
  const moves = nest(SQUARE, [[1, -1]]);
  const broken = (some: Partial<Change>) => checked(moves, timesOf(moves, changed(moves, some))).groups[0]!.broken.length / 2;
  assert.equal(broken({}), 0);
  assert.equal(broken({ order: [1, 0] }), 25);
  assert.equal(broken({ order: [1, 0], skews: [[1, 0, 1]] }), 0);
  assert.equal(broken({ sizes: [2, 2] }), 6); // within a row of tiles, those into the tile to the left
  assert.equal(broken({ sizes: [2, 2], skews: [[1, 0, 1]] }), 0);
  const found = checked(moves, timesOf(moves, changed(moves, { order: [1, 0] })));
  assert.deepEqual([instanceOf(moves, found.first!.source), instanceOf(moves, found.first!.target), found.first!.how], ['S0(0, 1)', 'S0(1, 0)', 'reversed']);
  assert.ok(reasonOf(moves, found).includes('S0(0, 1)') && reasonOf(moves, found).includes('S0(1, 0)'));
});

test('iterations that run at once break a dependence between them, until their loop is split', () => {
  const loops = nest(SQUARE, []).loops.map((loop, k) => ({ ...loop, parallel: k === 1 }));
  const moves = nest(SQUARE, [[0, 1]], { loops });
  const how = (some: Partial<Change>) => checked(moves, timesOf(moves, changed(moves, some))).first?.how ?? '';
  assert.equal(how({}), 'concurrent');
  assert.equal(how({ sizes: [0, 2] }), '');
  assert.equal(new Set(runOrder(timesOf(moves, shownChange(moves)), moves.count).instants).size, 6);
});

test('a border that is dragged is the size of tiles, and past the last iteration there are none', () => {
  const moves = nest(SQUARE, []);
  const start = shownChange(moves);
  assert.equal(borderTime(moves, start, 1), 5.5);
  const sizes = [0.4, 1.4, 2.6, 4.2, 5.4, 9].map((time) => withBorder(moves, start, 1, time).sizes[1]);
  assert.deepEqual(sizes, [1, 2, 3, 5, 0, 0]);
  assert.equal(borderTime(moves, withBorder(moves, start, 1, 2.6), 1), 2.5);
  const box = { low: { x: 0, y: 0 }, high: { x: 5, y: 5 } };
  const line = borderLine(moves, { ...start, sizes: [0, 3] }, 1, box)!;
  assert.deepEqual(line.ends.map((end) => end.x), [2.5, 2.5]);
  assert.deepEqual(line.middle, { x: 2.5, y: 2.5 });
});

test('a line leans with the skew, and the two loops change places', () => {
  const moves = nest(SQUARE, []);
  const start = shownChange(moves);
  const leaning = withSkew(moves, start, 1, 1.2);
  assert.deepEqual(leaning.skews, [[1, 0, 1]]);
  const { ends: [low, high] } = borderLine(moves, leaning, 1, { low: { x: 0, y: 0 }, high: { x: 5, y: 5 } })!;
  assert.ok(Math.abs(low.x + low.y - (high.x + high.y)) < 1e-9);
  assert.deepEqual(withSkew(moves, leaning, 1, 0.3).skews, []);
  assert.equal(withSkew(moves, start, 1, 99).skews[0]![2], 8);
  const twice = withSkew(moves, leaning, 0, -1);
  assert.deepEqual(twice.skews, [[1, 0, 1], [0, 1, -1]]);
  assert.deepEqual(withSkew(moves, twice, 1, 2).skews, [[1, 0, 2], [0, 1, -1]]);
  // i - (j + i) = -j: the line of the outer loop lies along the other axis.
  assert.deepEqual(skewedRows(twice), [[0, -1], [1, 1]]);
  assert.deepEqual(withStep(start, 0, 1).order, [1, 0]);
  assert.equal(withStep(start, 0, -1), start);
});

test('a change is told as calls and as a name', () => {
  const moves = nest(SQUARE, []);
  assert.equal(callsOf(moves, shownChange(moves)), '');
  const change = changed(moves, { order: [1, 0], skews: [[1, 0, 2]], sizes: [4, 0] });
  assert.equal(callsOf(moves, change), '.skew("j", "i", 2).reorder("j", "i").tile({"i": 4}).reorder("io", "j", "ii")');
  assert.equal(keyOf(change), '1.0/1.0.2/4.0');
  const twice = changed(moves, { skews: [[1, 0, 2], [0, 1, -1]] });
  assert.equal(keyOf(twice), '0.1/1.0.2,0.1.-1/0.0');
  assert.equal(callsOf(moves, twice), '.skew("j", "i", 2).skew("i", "j", -1)');
});

test('sums are written as people write them', () => {
  assert.equal(sumOf([-1, 2, -3], ['i', 'j']), '2 * j - i - 3');
  assert.equal(sumOf([0, 0, 0], ['i', 'j']), '0');
  const values = new Map([['i', '2 * io + ii'], ['j', 'j - i']]);
  assert.equal(substituted('A[i][j] = 2 * i + B[i-1][j+1] * j', values), 'A[2 * io + ii][j - i] = 2 * (2 * io + ii) + B[2 * io + ii-1][j - i+1] * (j - i)');
  const moves = nest(TRIANGLE, []);
  assert.equal(loopsOf(moves, changed(moves, { order: [1, 0] }))!.program, 'for (int j = 0; j <= 6; j++)\n  for (int i = j; i <= 6; i++)\n    A[i][j] = A[i-1][j+1];');
  assert.deepEqual(loopsOf(moves, shownChange(moves))!.runs, ['', '', 'S0']);
  assert.equal(loopsOf(nest(SQUARE, [], { rows: [] }), shownChange(moves)), null);
});

test('a hull has no corner on its sides', () => {
  assert.deepEqual(hull([[0, 0], [1, 0], [2, 0], [2, 2], [0, 2], [1, 1]]), [[0, 0], [2, 0], [2, 2], [0, 2]]);
  assert.equal(hull([[0, 0], [1, 1], [2, 2]]).length, 2);
});
