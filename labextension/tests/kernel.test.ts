import assert from 'node:assert/strict';
import { test } from 'node:test';

import { unopened, ViewChannel } from '../src/channel.ts';
import { Line, WHOLE, answerOf } from '../src/kernel.ts';
import type { Scene } from '../../triton_lab/views/front/scenes.d.ts';

/** As much of a kernel as a line needs: its comms are in `opened`. */
function fakeKernel() {
  const done = Promise.resolve();
  const opened: FakeComm[] = [];
  const statusListeners: ((_: unknown, status: string) => void)[] = [];
  class FakeComm {
    isDisposed = false;
    sent: unknown[] = [];
    onMsg: (message: unknown) => void = () => undefined;
    onClose: () => void = () => undefined;
    open = () => ({ done });
    send = (data: unknown) => {
      this.sent.push(data);
      return { done };
    };
    dispose = () => {
      this.isDisposed = true;
    };
    answer(data: unknown, buffers: ArrayBuffer[] = []) {
      this.onMsg({ content: { data }, buffers });
    }
  }
  const kernel = {
    status: 'idle',
    handleComms: true,
    statusChanged: { connect: (then: (_: unknown, status: string) => void) => statusListeners.push(then) },
    disposed: { connect: () => true },
    createComm: () => {
      opened.push(new FakeComm());
      return opened.at(-1);
    },
    become(status: string) {
      kernel.status = status;
      statusListeners.forEach(then => then(kernel, status));
    }
  };
  return { kernel, opened, line: new Line(kernel as never) };
}

/** A channel of the view "v", and what becomes of its answers. */
function fakeChannel(line: Line | null) {
  const log: unknown[] = [];
  const channel = new ViewChannel('v', async () => line, {
    part: (name, scene) => log.push(['kept', name, scene.kind]),
    whole: (scene, panel) => log.push(['whole', scene.kind, panel]),
    unanswered: why => log.push(why ?? 'unanswered')
  });
  channel.on('msg:custom', message => log.push([message.part, (message.scene as Scene).kind, textOf(message.scene)]));
  return { channel, log };
}

const textOf = (scene: unknown) => (scene as { text?: string }).text;
const turn = () => new Promise(resolve => setTimeout(resolve, 0));

test('a part is asked for, drawn, and kept', async () => {
  const { opened, line } = fakeKernel();
  const { channel, log } = fakeChannel(line);
  channel.send({ part: 'grid' });
  await turn();
  assert.deepEqual(opened[0]!.sent, [{ view: 'v', part: 'grid' }]);
  opened[0]!.answer({ view: 'other', part: 'grid', scene: { kind: 'grid' } });
  opened[0]!.answer({ view: 'v', part: 'grid', scene: { kind: 'grid' } });
  assert.deepEqual(log, [
    ['grid', 'grid', undefined],
    ['kept', 'grid', 'grid']
  ]);
});

test('words in place of a part are shown and not kept', async () => {
  const { opened, line } = fakeKernel();
  const { channel, log } = fakeChannel(line);
  channel.send({ part: 'grid' });
  await turn();
  opened[0]!.answer({ view: 'v', part: 'grid', scene: { kind: 'words', text: 'no longer kept' } });
  assert.deepEqual(log, [['grid', 'words', 'no longer kept']]);
});

test('words in place of the whole picture leave what is drawn, and are told beside it', async () => {
  const { opened, line } = fakeKernel();
  const { channel, log } = fakeChannel(line);
  channel.pick({ parameters: { n: 6 } } as never);
  await turn();
  opened[0]!.answer({ view: 'v', part: WHOLE, scene: { kind: 'words', text: 'no longer kept' } });
  opened[0]!.answer({ view: 'v', part: WHOLE, scene: { kind: 'iteration' }, panel: null });
  assert.deepEqual(log, ['no longer kept', ['whole', 'iteration', null]]);
});

test('bytes come back to their place', async () => {
  const { opened, line } = fakeKernel();
  const parts: Scene[] = [];
  const channel = new ViewChannel('v', async () => line, {
    part: (_, scene) => parts.push(scene),
    whole: () => undefined,
    unanswered: () => undefined
  });
  channel.send({ part: 'grid' });
  await turn();
  opened[0]!.answer({ view: 'v', part: 'grid', scene: { kind: 'grid', x: [{ buffer: 0 }] } }, [
    new Uint8Array([7]).buffer
  ]);
  assert.equal((parts[0] as unknown as { x: DataView[] }).x[0]!.getUint8(0), 7);
});

test('a part that has come otherwise is waited for no longer', async () => {
  const { opened, line } = fakeKernel();
  const { channel, log } = fakeChannel(line);
  channel.send({ part: 'grid' });
  channel.send({ part: 'steps@0' });
  await turn();
  channel.came(name => (name === 'grid' ? { kind: 'words', text: 'here' } : null));
  assert.deepEqual(log, [['grid', 'words', 'here']]);
  channel.came(() => ({ kind: 'words', text: 'there' }));
  channel.came(() => ({ kind: 'words', text: 'again' }));
  assert.deepEqual(log.slice(1), [['steps@0', 'words', 'there']]);
  assert.equal(opened[0]!.sent.length, 2);
});

test('with no kernel each part says what to do', async () => {
  const { channel, log } = fakeChannel(null);
  channel.send({ part: 'grid' });
  channel.whole();
  await turn();
  assert.deepEqual(log, [['grid', 'words', unopened()], 'unanswered']);
});

test('a kernel that knows no such comm closes it, and asks nothing of the next question', async () => {
  const { opened, line } = fakeKernel();
  const { channel, log } = fakeChannel(line);
  channel.send({ part: 'grid' });
  await turn();
  opened[0]!.onClose();
  assert.deepEqual(log, [['grid', 'words', unopened()]]);
  channel.send({ part: 'steps@0' });
  await turn();
  assert.equal(opened.length, 2);
  opened[1]!.answer({ view: 'v', part: 'steps@0', scene: { kind: 'steps' } });
  assert.deepEqual(log.at(-1), ['kept', 'steps@0', 'steps']);
});

test('a restart answers what was asked before it', async () => {
  for (const status of ['restarting', 'autorestarting', 'dead', 'terminating']) {
    const { kernel, line } = fakeKernel();
    const { channel, log } = fakeChannel(line);
    channel.send({ part: 'grid' });
    await turn();
    kernel.become('busy');
    assert.deepEqual(log, []);
    kernel.become(status);
    assert.deepEqual(log, [['grid', 'words', unopened()]]);
    channel.send({ part: 'steps@0' });
    await turn();
    assert.deepEqual(log.at(-1), ['steps@0', 'words', unopened()]);
  }
});

test('all views of a kernel share one comm', async () => {
  const { opened, line } = fakeKernel();
  line.announce();
  fakeChannel(line).channel.send({ part: 'a' });
  fakeChannel(line).channel.pick({ parameters: { n: 3 } });
  await turn();
  assert.equal(opened.length, 1);
  assert.deepEqual(opened[0]!.sent, [
    { view: 'v', part: 'a' },
    { view: 'v', picked: { parameters: { n: 3 } } }
  ]);
});

test('another whole picture comes with its widgets', async () => {
  const { opened, line } = fakeKernel();
  const { channel, log } = fakeChannel(line);
  channel.pick({ automatic: true });
  await turn();
  opened[0]!.answer({ view: 'v', part: WHOLE, scene: { kind: 'iteration' }, panel: 'model' });
  assert.deepEqual(log, [['whole', 'iteration', 'model']]);
});

test('what is stopped hears nothing more', async () => {
  const { opened, line } = fakeKernel();
  const { channel, log } = fakeChannel(line);
  channel.send({ part: 'grid' });
  await turn();
  channel.stop();
  opened[0]!.answer({ view: 'v', part: 'grid', scene: { kind: 'grid' } });
  assert.deepEqual(log, []);
});

test('messages that are no answers are passed over', () => {
  for (const odd of [null, 3, 'x', {}, { view: 'v' }, { view: 3, part: 'x', scene: {} }, { view: 'v', part: 3, scene: {} }]) {
    assert.equal(answerOf(odd), null);
  }
  assert.deepEqual(answerOf({ view: 'v', part: 'x', scene: 1, panel: 3 }), { view: 'v', part: 'x', scene: 1, panel: null });
});
