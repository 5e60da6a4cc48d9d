import assert from 'node:assert/strict';
import { test } from 'node:test';

import { headOf, mentions, pathOf } from '../../../triton_lab/views/front/drawing/drawing.js';
import { alongRamp, hullOf, Orthographic, Plane } from '../../../triton_lab/views/front/polyhedral/geometry.js';

type Shown = ConstructorParameters<typeof Plane>[0];
const layers = (...shifts: [number, number][]) => shifts.map(shift => ({ name: '', points: { type: 'f4' as const, bytes: new Uint8Array() }, shift, faces: [] }));
const still = { kind: 'drawing' as const, width: 400, height: 300, items: [], source: '', label: '' };
const plane = (change: Partial<Shown> = {}) => new Plane({ dims: ['i', 'j'], frame: [60, 240, 50, 7], still, layers: layers([-4, 4], [4, -4]), ...change });

test('the first dimension goes up, the second to the right, from the frame', () => {
  const seen = plane();
  assert.deepEqual(seen.place([0, 0], 0), { x: 60, y: 240 });
  assert.deepEqual(seen.place([9, 1, 2], 1), { x: 160, y: 190 });
  assert.deepEqual([seen.width, seen.height, seen.radius], [400, 300, 7]);
});

test('one dimension alone goes to the right', () => {
  assert.deepEqual(plane({ dims: ['i'] }).place([2], 0), { x: 160, y: 240 });
});

test('layers on one point stand as far apart as Python says', () => {
  assert.deepEqual([0, 1].map(k => plane().shift(k)), [{ x: -4, y: 4 }, { x: 4, y: -4 }]);
});

test('turning space keeps lengths along its rows and its middle', () => {
  const space = new Orthographic({ low: [0, 0, 0], high: [4, 4, 4] }, 560, 460);
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
