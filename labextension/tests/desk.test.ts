import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DESK, Refused, deskOf } from '../src/desk/desk.ts';
import { factsOf, filtered, lastOf, pairOf } from '../src/session/rows.ts';
import { statusOf } from '../src/welcome/targets.ts';

const done = Promise.resolve();

/** A kernel whose comms answer what `answers` gives for a part; null closes the comm. */
function fakeKernel(answers: (part: string) => unknown) {
  const asked: string[] = [];
  const listeners: ((_: unknown, status: string) => void)[] = [];
  const comms: { onMsg(message: unknown): void }[] = [];
  const kernel = {
    status: 'idle',
    handleComms: true,
    statusChanged: { connect: (then: (_: unknown, status: string) => void) => listeners.push(then) },
    disposed: { connect: () => true },
    createComm: () => {
      const comm = {
        isDisposed: false,
        onMsg: (_: unknown) => undefined,
        onClose: () => undefined,
        open: () => ({ done }),
        dispose: () => (comm.isDisposed = true),
        send: ({ part }: { part: string }) => {
          asked.push(part);
          const scene = answers(part);
          if (scene === null) {
            comm.onClose();
          } else if (scene !== undefined) {
            comm.onMsg(message(part, scene));
          }
          return { done };
        }
      };
      comms.push(comm);
      return comm;
    }
  };
  const become = (status: string) => {
    kernel.status = status;
    listeners.forEach(then => then(null, status));
  };
  return { kernel, asked, become, tell: (part: string, scene: unknown) => comms.at(-1)!.onMsg(message(part, scene)) };
}

const message = (part: string, scene: unknown) => ({ content: { data: { view: DESK, part, scene, panel: null } } });
const LAUNCHES = { launches: [], dropped: 0 };
const TARGETS = { known: true };

test('a kernel is asked once in its life, and tells by itself from then on', () => {
  const { kernel, asked, become, tell } = fakeKernel(part => (part === 'targets' ? TARGETS : LAUNCHES));
  const desk = deskOf(kernel as never);
  assert.equal(deskOf(kernel as never), desk);
  desk.begin('');
  desk.begin('');
  assert.deepEqual(asked, ['targets', 'launches']);
  let changes = 0;
  desk.changed.connect(() => changes++);
  tell('launches', { ...LAUNCHES, dropped: 3 });
  assert.equal(desk.launches?.dropped, 3);
  assert.equal(changes, 1);
  become('restarting');
  assert.equal(desk.launches, null);
  become('idle');
  desk.begin('grid');
  desk.begin('grid');
  desk.begin('');
  assert.deepEqual(asked.slice(2), ['first grid', 'targets', 'launches', 'first ']);
});

test('a kernel without the lab is not asked again and again, and what waits is refused', async () => {
  const { kernel, asked } = fakeKernel(() => null);
  const desk = deskOf(kernel as never);
  desk.begin('');
  desk.changed.connect(() => desk.begin(''));
  assert.equal(desk.launches, null);
  const before = asked.length;
  await assert.rejects(desk.ask('card 1'), Refused);
  assert.equal(asked.length, before + 1);
});

test('what is asked when the kernel dies is refused', async () => {
  for (const status of ['restarting', 'autorestarting', 'dead', 'terminating']) {
    const { kernel, become } = fakeKernel(() => undefined);
    const answer = deskOf(kernel as never).ask('card 1');
    become(status);
    await assert.rejects(answer, Refused);
    await assert.rejects(deskOf(kernel as never).ask('card 1'), Refused);
  }
});

test('words refuse, and whoever asked the same has the same answer', async () => {
  const { kernel, tell } = fakeKernel(part => (part === 'card 9' ? { kind: 'words', text: 'no longer kept' } : undefined));
  const desk = deskOf(kernel as never);
  await assert.rejects(desk.ask('card 9'), { message: 'no longer kept' });
  const two = Promise.all([desk.ask('card 1'), desk.ask('card 1')]);
  tell('card 1', { title: 'add' });
  assert.deepEqual(await two, [{ title: 'add' }, { title: 'add' }]);
});

const row = (number: number, more = {}) =>
  ({ number, cell: 'a', execution: number, kernel: 'add', grid: '(8, 1, 1)', target: 'cpu', time: '2 ms', findings: 'none', severity: null, kept: true, pinned: false, ...more }) as never;

test('launches are filtered by words, newest first, and told in short', () => {
  const rows = [row(1), row(2, { kernel: 'matmul', findings: '1 error' }), row(3, { target: 'both' })];
  assert.deepEqual(filtered(rows, '').map(one => one.number), [3, 2, 1]);
  assert.deepEqual(filtered(rows, 'MATMUL error').map(one => one.number), [2]);
  assert.deepEqual(filtered(rows, 'gpu').map(one => one.number), [3]);
  assert.deepEqual(filtered(rows, 'add error'), []);
  assert.equal(factsOf(row(4, { execution: null })), 'CPU · 2 ms');
});

test('the last launch of a cell is found, and two to compare', () => {
  const rows = [row(1, { pinned: true }), row(2, { cell: 'b' }), row(3)];
  assert.equal(lastOf(rows, 'a')?.number, 3);
  assert.equal(lastOf(rows, 'c'), null);
  assert.equal(lastOf(rows, undefined), null);
  assert.deepEqual(pairOf(rows, rows[2]!), [1, 3]);
  assert.equal(pairOf(rows, rows[0]!), null);
  assert.equal(pairOf(rows, null), null);
  assert.deepEqual(pairOf([row(1, { pinned: true }), row(2, { pinned: true })], null), [1, 2]);
});

test('the status tells target, version and GPU, and says nothing that nobody knows', () => {
  const told = { known: true, active: 'gpu', gpu: 'H100', triton: '3.9.0', version: '1', targets: [], compile: [] };
  assert.equal(statusOf(told).text, 'Triton 3.9.0 · GPU · H100');
  assert.equal(statusOf({ ...told, active: 'cpu', gpu: '' }).text, 'Triton 3.9.0 · CPU · no GPU');
  assert.equal(statusOf({ ...told, known: false }).text, 'Triton 3.9.0');
});
