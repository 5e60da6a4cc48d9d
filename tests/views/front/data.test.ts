import assert from 'node:assert/strict';
import { test } from 'node:test';

import { numbers } from '../../../triton_lab/views/front/drawing/data.js';
import { createSupply } from '../../../triton_lab/views/front/supply.js';
import type { Channel, Heard } from '../../../triton_lab/views/front/supply.js';
import type { Buffer, Scene } from '../../../triton_lab/views/front/scenes.d.ts';

/** Numbers as a widget has them: a view into a message, `shift` bytes from its start. */
function packed(type: Buffer['type'], array: NodeJS.TypedArray, shift: number): Buffer {
  const message = new Uint8Array(array.byteLength + shift);
  message.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), shift);
  return { type, bytes: new DataView(message.buffer, shift) };
}

const ARRAYS: [Buffer['type'], NodeJS.TypedArray][] = [
  ['u1', Uint8Array.of(0, 7, 255)],
  ['u2', Uint16Array.of(0, 300, 65535)],
  ['u4', Uint32Array.of(0, 70000, 2 ** 32 - 1)],
  ['i4', Int32Array.of(-5, 0, 2 ** 31 - 1)],
  ['f4', Float32Array.of(0.5, NaN, -Infinity)],
  ['f8', Float64Array.of(0.1, NaN, Infinity)],
  ['u8', BigUint64Array.of(0n, 2n ** 40n)],
  ['i8', BigInt64Array.of(-3n, 2n ** 40n)]
];

test('every type is read, wherever it lies in a message', () => {
  for (const [type, array] of ARRAYS) {
    for (const shift of [0, 1, 3, 4, 8]) {
      const found = numbers(packed(type, array, shift));
      assert.deepEqual([...found], Array.from(array, Number), `${type} at ${shift}`);
    }
  }
});

test('numbers that lie even are not copied', () => {
  const { bytes, type } = packed('u2', Uint16Array.of(1, 2), 4);
  assert.equal(numbers({ bytes, type }).buffer, bytes.buffer);
});

const WORDS: Scene = { kind: 'words', text: 'told' };

/** A kernel that hears questions, and answers when told to. */
function kernel(): { channel: Channel; asked: string[]; answer: Heard } {
  const asked: string[] = [];
  const heard: Heard[] = [];
  const channel: Channel = {
    on: (_, then) => heard.push(then),
    off: (_, then) => heard.splice(heard.indexOf(then), 1),
    send: ({ part }) => asked.push(part)
  };
  return { channel, asked, answer: (message, buffers) => heard.forEach(then => then(message, buffers)) };
}

test('a part that came along is not asked for', () => {
  const { channel, asked } = kernel();
  const found: Scene[] = [];
  createSupply({ known: WORDS }, channel).ask('known', scene => found.push(scene));
  assert.deepEqual([found, asked], [[WORDS], []]);
});

test('a part is asked for once, kept, and has its buffers in their places', () => {
  const { channel, asked, answer } = kernel();
  const supply = createSupply({}, channel);
  const found: unknown[] = [];
  supply.ask('grid', scene => found.push(scene));
  supply.ask('grid', scene => found.push(scene));
  const bytes = new DataView(new ArrayBuffer(2));
  answer({ part: 'other', scene: WORDS }, []);
  answer({ part: 'grid', scene: { kind: 'grid', masked: [{ type: 'u1', bytes: { buffer: 0 } }] } }, [bytes]);
  const scene = { kind: 'grid', masked: [{ type: 'u1', bytes }] };
  assert.deepEqual([found, asked], [[scene, scene], ['grid']]);
  supply.ask('grid', again => found.push(again));
  assert.equal(found.length, 3);
  assert.deepEqual(asked, ['grid']);
});

test('bytes that are in their places stay there', () => {
  const { channel, answer } = kernel();
  const found: unknown[] = [];
  createSupply({}, channel).ask('grid', scene => found.push(scene));
  const scene = { kind: 'grid', masked: [{ type: 'u1', bytes: Uint8Array.of(7, 8) }] };
  answer({ part: 'grid', scene }, []);
  assert.deepEqual(found, [scene]);
});

test('a page without a kernel says so', () => {
  const supply = createSupply({ known: WORDS }, null);
  assert.deepEqual([supply.has('known'), supply.has('grid')], [true, false]);
  supply.ask('grid', scene => assert.equal(scene.kind, 'words'));
});
