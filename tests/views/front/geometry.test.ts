import assert from 'node:assert/strict';
import { test } from 'node:test';

import { headOf, mentions, pathOf } from '../../../triton_lab/views/front/drawing/drawing.js';
import { alongRamp, hullOf, Orthographic, Plane, tickStep } from '../../../triton_lab/views/front/polyhedral/geometry.js';
import type { BorderLine } from '../../../triton_lab/views/front/scenes.d.ts';
import { STYLE } from '../../../triton_lab/views/front/drawing/style.js';

const SCENE: ConstructorParameters<typeof Plane>[0] = { dims: ['i', 'j'], box: [-0.5, -0.5, 6, 4], low: [0, 0], high: [3, 5], lines: [], layers: [] };
type Shown = ConstructorParameters<typeof Plane>[0];
const plane = (change: Partial<Shown>) => new Plane({ ...SCENE, ...change }, 560, 460);

test('the first dimension goes up, the second to the right', () => {
  const seen = plane({});
  const [origin, up, right] = [seen.place([0, 0], 0), seen.place([1, 0], 0), seen.place([0, 0, 0, 1], 2)];
  assert.deepEqual([origin.x - up.x, origin.y - up.y], [0, seen.unit]);
  assert.deepEqual([right.x - origin.x, right.y - origin.y], [seen.unit, 0]);
  assert.equal(seen.unit, STYLE.domain.unit);
});

test('one dimension alone goes to the right', () => {
  const seen = plane({ dims: ['i'], box: [-0.5, 0, 6, 1], low: [0], high: [5] });
  assert.equal(seen.place([2], 0).y, seen.place([5], 0).y);
  assert.equal(seen.place([5], 0).x - seen.place([2], 0).x, 3 * seen.unit);
});

test('a large plane takes no more room than there is', () => {
  const seen = plane({ box: [0, 0, 400, 900] });
  assert.ok(seen.width <= 560 && seen.height <= 468 && !seen.rings);
});

test('words left of the plane push it to the right', () => {
  const line: BorderLine = { ends: [[0, 0], [1, 1]], label: 'a very long border label > 0', at: [-0.4, 2], key: '' };
  assert.ok(plane({ lines: [line] }).start > plane({}).start);
});

test('layers on one point stand symmetrically apart', () => {
  const seen = plane({});
  const [first, middle, last] = [0, 1, 2].map(k => seen.shift(k, 3));
  assert.deepEqual(middle, { x: 0, y: -0 });
  assert.deepEqual([first!.x, first!.y], [-last!.x, -last!.y]);
  assert.equal(seen.shift(0, 1).x, 0);
});

test('turning space keeps lengths along its rows and its middle', () => {
  const space = new Orthographic({ ...SCENE, dims: ['x', 'y', 'z'], box: null, low: [0, 0, 0], high: [4, 4, 4] }, 560, 460);
  for (const [azimuth, elevation] of [[0, 0], [28, 22], [130, -60], [-45, 89]] as const) {
    space.turn(azimuth, elevation);
    const [right, up, toward] = space.rows;
    const dot = (a: number[], b: number[]) => a.reduce((sum, value, k) => sum + value * b[k]!, 0);
    for (const row of [right!, up!, toward!]) {
      assert.ok(Math.abs(dot(row, row) - 1) < 1e-9);
    }
    assert.ok(Math.abs(dot(right!, up!)) + Math.abs(dot(right!, toward!)) + Math.abs(dot(up!, toward!)) < 1e-9);
    assert.deepEqual(space.place(space.middle), { x: 280, y: 230 });
  }
});

test('a hull goes round the outermost spots', () => {
  const spots = [[0, 0], [2, 0], [1, 0], [2, 2], [0, 2], [1, 1]].map(([x, y]) => ({ x: x!, y: y! }));
  assert.deepEqual(new Set(hullOf(spots).map(({ x, y }) => `${x},${y}`)), new Set(['0,0', '2,0', '2,2', '0,2']));
  assert.equal(hullOf(spots.slice(0, 2)).length, 2);
});

test('grid lines stand 1, 2, 5, 10 ... units apart, as in the static picture', () => {
  assert.deepEqual([50, 10, 5, 1.5, 0.2].map(tickStep), [1, 2, 5, 10, 100]);
});

test('a ramp begins and ends with its anchors', () => {
  const ramp = ['#000000', '#ff0000', '#ffffff'];
  assert.deepEqual([-1, 0, 0.25, 0.5, 1, 2].map(share => alongRamp(ramp, share)), [
    'rgb(0,0,0)', 'rgb(0,0,0)', 'rgb(128,0,0)', 'rgb(255,0,0)', 'rgb(255,255,255)', 'rgb(255,255,255)'
  ]);
});

test('lines and arrow heads of a drawing', () => {
  assert.equal(pathOf({ points: [[0, 0], [1, 2], [3, 4]], curved: false }), 'M 0 0 L 1 2 L 3 4');
  assert.equal(pathOf({ points: [[0, 0], [1, 1], [2, 2], [3, 3]], curved: true }), 'M 0 0 C 1 1 , 2 2 , 3 3');
  assert.equal(headOf({ points: [[0, 0], [10, 0]], width: 1 }), '10,0 4,3 4,-3');
  // A line that ends where it was: the head follows what came before.
  assert.equal(headOf({ points: [[0, 0], [10, 0], [10, 0]], width: 1 }), '10,0 4,3 4,-3');
});

test('a tag is a whole word of a line', () => {
  assert.ok(mentions('v3 = in0 * 2', 'v3') && mentions('v3 = in0 * 2', 'in0'));
  assert.ok(!mentions('v31 = in0', 'v3') && !mentions('anything', ''));
});
