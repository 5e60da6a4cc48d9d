import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { attempt } from '../src/attempt.ts';

class CannotDraw extends Error {}
const front = { CannotDraw };

test('what is drawn leaves nothing to be said', async () => {
  const drawn: object[] = [];
  assert.equal(await attempt(async () => front, found => void drawn.push(found)), null);
  assert.deepEqual(drawn, [front]);
});

test('a script that cannot be loaded is told, and nothing rejects', async () => {
  const warned = mock.method(console, 'warn', () => undefined);
  const gone = Promise.reject(new Error('Loading chunk 341 failed.'));
  const draw = mock.fn();
  assert.match((await attempt(() => gone, draw))!, /could not be loaded\. Reload the page/);
  assert.equal(draw.mock.callCount(), 0);
  assert.equal(warned.mock.callCount(), 1);
  warned.mock.restore();
});

test('whatever is thrown while drawing is told: in its own words where they are for readers', async () => {
  const warned = mock.method(console, 'warn', () => undefined);
  const thrown = (error: unknown) => attempt(async () => front, () => { throw error; });
  assert.equal(await thrown(new CannotDraw('This output is damaged.')), 'This output is damaged. Run the cell again to see it live.');
  assert.equal(warned.mock.callCount(), 0);
  const told = 'This output could not be drawn. Run the cell again to see it live.';
  assert.equal(await thrown(new TypeError('x is undefined')), told);
  assert.equal(await attempt(async () => front, async () => Promise.reject(new Error('later'))), told);
  assert.deepEqual(warned.mock.calls.map(call => String(call.arguments[1])), ['TypeError: x is undefined', 'Error: later']);
  warned.mock.restore();
});
