import assert from 'node:assert/strict';
import { test } from 'node:test';

import { arrowPaths, headOf, mentions, pathOf } from '../../../triton_lab/views/front/drawing/drawing.js';
import { Orthographic, seenOf } from '../../../triton_lab/views/front/drawing/solid.js';
import { numbers } from '../../../triton_lab/views/front/drawing/data.js';
import { alongRamp, Plane } from '../../../triton_lab/views/front/polyhedral/geometry.js';

type Shown = ConstructorParameters<typeof Plane>[0];
const plane = (change: Partial<Shown> = {}) => new Plane({ dims: ['i', 'j'], frame: [60, 240, 50, 7], ...change });

test('the first dimension goes up, the second to the right, from the frame', () => {
  const seen = plane();
  assert.deepEqual(seen.place([0, 0], 0), { x: 60, y: 240 });
  assert.deepEqual(seen.place([9, 1, 2], 1), { x: 160, y: 190 });
});

test('one dimension alone goes to the right', () => {
  assert.deepEqual(plane({ dims: ['i'] }).place([2], 0), { x: 160, y: 240 });
});

test('turning space keeps lengths along its rows and its middle', () => {
  const space = new Orthographic([2, 2, 2], [280, 230], 40);
  for (const [azimuth, elevation] of [[0, 0], [28, 22], [130, -60], [-45, 89]] as const) {
    space.turn(azimuth, elevation);
    const [right, up, toward] = space.rows;
    const dot = (a: number[], b: number[]) => a.reduce((sum, value, k) => sum + value * b[k]!, 0);
    for (const row of [right!, up!, toward!]) {
      assert.ok(Math.abs(dot(row, row) - 1) < 1e-9);
    }
    assert.ok(Math.abs(dot(right!, up!)) + Math.abs(dot(right!, toward!)) + Math.abs(dot(up!, toward!)) < 1e-9);
    assert.deepEqual(space.place(space.middle, 0), { x: 280, y: 230 });
  }
});

test('of circles in space the nearest is drawn last, where its layer is moved to', () => {
  const space = new Orthographic([0, 0, 0], [100, 100], 10);
  space.turn(0, 0); // the third coordinate towards the reader
  const places = { type: 'f4' as const, bytes: new Uint8Array(Float32Array.of(0, 0, 3, 1, 2, 1, 0, 0, 2).buffer) };
  const circles = { what: 'circles' as const, places, radius: 3, fill: 'ink', ring: 'line', line: 1, shift: [5, -5] as [number, number], piled: true };
  const [drawn] = seenOf({ width: 200, height: 200, items: [circles] }, space).items;
  assert.ok(drawn?.what === 'circles');
  assert.deepEqual([...numbers(drawn.centres)], [125, 85, 105, 95, 105, 95]);
});

test('an axis that points at the reader has neither name nor numbers; the others count from where they begin', () => {
  const space = new Orthographic([0, 0, 0], [100, 100], 10);
  space.turn(0, 0);
  const axes = { what: 'axes' as const, low: [0, 0, 0] as [number, number, number], high: [5, 5, 5] as [number, number, number], names: ['i', 'j', 'k'], colour: 'ink', size: 15 };
  const named = seenOf({ width: 200, height: 200, items: [axes] }, space).items.flatMap(item => (item.what === 'words' ? [item.text] : []));
  assert.deepEqual(named, ['i', 'j', '0', '2', '4', '2', '4']); // 20 pixels apart; one 0 is enough
});

test('an arrow keeps its gap at both ends, and its head is behind the second', () => {
  const [line, head] = arrowPaths([0, 0, 100, 0], { head: 10, gap: 5, beside: 0 });
  assert.equal(line.trim(), 'M 5.00 0.00 L 85.00 0.00');
  assert.equal(head.trim(), 'M 95.00 0.00 L 85.00 4.20 L 85.00 -4.20 Z');
  assert.equal(arrowPaths([0, 0, 0, 100], { head: 10, gap: 0, beside: 4 })[0].trim(), 'M -4.00 0.00 L -4.00 90.00');
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
