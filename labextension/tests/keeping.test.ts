import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';

import { Keeping } from '../src/keeping.ts';

test('what comes is kept one after the other, and what is too large is not', async () => {
  const put: string[] = [];
  const keeping = new Keeping(scene => put.push(scene));
  let finish = (_: string) => undefined as void;
  keeping.keep(() => new Promise(resolve => (finish = resolve)));
  keeping.keep(() => Promise.resolve(null));
  keeping.keep(() => Promise.resolve(`${put[0]}, second`));
  await settled();
  assert.deepEqual(put, []);
  finish('first');
  await settled();
  assert.deepEqual(put, ['first', 'first, second']);
});

test('what comes once another picture stands there is not put into its output', async () => {
  const put: string[] = [];
  const keeping = new Keeping(scene => put.push(scene));
  let finish = (_: string) => undefined as void;
  keeping.keep(() => new Promise(resolve => (finish = resolve)));
  await settled();
  keeping.stop();
  finish('of the picture before');
  await settled();
  assert.deepEqual(put, []);
});
