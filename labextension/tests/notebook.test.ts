import assert from 'node:assert/strict';
import { test } from 'node:test';

import { announceBefore, announceTo, hasTriton } from '../src/notebook.ts';

/** A notebook's session whose kernel counts the comms that are opened; each is closed at once if it `refuses`. */
function fakeSession({ refuses = false } = {}) {
  const listeners: ((_: unknown, status: string) => void)[] = [];
  let opened = 0;
  const newKernel = () => ({
    status: 'idle',
    handleComms: true,
    statusChanged: { connect: (then: (_: unknown, status: string) => void) => listeners.push(then) },
    disposed: { connect: () => true },
    createComm() {
      opened++;
      const comm = {
        isDisposed: refuses,
        open: () => ({ done: Promise.resolve() }),
        dispose: () => (comm.isDisposed = true)
      };
      return comm;
    }
  });
  const session = {
    session: { kernel: newKernel() },
    statusChanged: { connect: (then: (_: unknown, status: string) => void) => listeners.push(then) }
  };
  return {
    session,
    newKernel,
    opened: () => opened,
    become: (...all: string[]) => {
      for (const status of all) {
        session.session.kernel.status = status;
        [...listeners].forEach(then => then(null, status));
      }
    }
  };
}

test('a kernel is told once that scenes are drawn here, and again after a restart', () => {
  const { session, opened, become } = fakeSession();
  announceTo(session as never, () => true);
  become('starting');
  assert.equal(opened(), 0);
  become('idle', 'busy', 'idle');
  assert.equal(opened(), 1);
  become('restarting', 'starting', 'idle', 'busy', 'idle');
  assert.equal(opened(), 2);
});

test('another kernel is told too', () => {
  const { session, newKernel, opened, become } = fakeSession();
  announceTo(session as never, () => true);
  become('idle');
  session.session.kernel = newKernel();
  become('idle');
  assert.equal(opened(), 2);
});

test('a kernel without the lab is not asked again and again', () => {
  const { session, opened, become } = fakeSession({ refuses: true });
  announceTo(session as never, () => true);
  become('idle', 'busy', 'idle', 'busy', 'idle');
  assert.equal(opened(), 1);
});

test('a notebook without a cell of ours tells nobody, until it has one', () => {
  const { session, opened, become } = fakeSession();
  const sources = ['import torch', 'x = "%%triton"'];
  const context = { model: { cells: { *[Symbol.iterator]() { yield* sources.map(source => ({ sharedModel: { getSource: () => source } })); } } } };
  announceTo(session as never, () => hasTriton(context as never));
  become('idle', 'busy', 'idle');
  assert.equal(opened(), 0);
  sources.push('%%triton\nkernel[grid](x)');
  become('busy', 'idle');
  assert.equal(opened(), 1);
});

test('a kernel hears of us before the first cell of ours that it runs, and of no other cell', () => {
  const { session, opened, become } = fakeSession();
  const cell = (source: string) => ({ sharedModel: { getSource: () => source } });
  announceTo(session as never, () => false);
  become('idle');
  announceBefore(cell('import torch'), session as never);
  assert.equal(opened(), 0);
  announceBefore(cell('%%triton\nkernel[grid](x)'), session as never);
  announceBefore(cell('%%triton\nkernel[grid](x)'), session as never);
  assert.equal(opened(), 1);
  become('restarting');
  announceBefore(cell('%%triton\nkernel[grid](x)'), session as never);
  become('starting', 'busy', 'idle');
  assert.equal(opened(), 2);
  become('dead');
  announceBefore(cell('%%triton\nkernel[grid](x)'), session as never);
  assert.equal(opened(), 2);
});
