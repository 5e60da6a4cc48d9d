import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Sharing } from '../../../triton_lab/views/front/launch/sharing.js';

/** Numbers that look random, the same in each run. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function inputOf(below: (n: number) => number, programs: number) {
  const members: number[][] = [[]]; // part 0 is nobody's
  for (let part = 1; part <= below(6); part++) {
    members.push(Array.from({ length: programs }, (_, p) => p).filter(() => below(3) === 0));
  }
  const starts = [0];
  for (const some of members) starts.push(starts[starts.length - 1] + some.length);
  return {
    members,
    nbytes: Float64Array.from(members, (_, part) => (part ? below(3) * 4 : 0)),
    starts: Uint32Array.from(starts),
    items: Uint32Array.from(members.flat())
  };
}

test('bytes in common are those of all parts that both programs read, whoever was asked about before', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const below = numbersFrom(seed);
    const programs = 1 + below(9);
    const inputs = Array.from({ length: below(4) }, () => inputOf(below, programs));
    const sharing = new Sharing(inputs, programs);
    for (let turn = 0; turn < 2 * programs; turn++) {
      const program = below(programs);
      const expected = new Float64Array(programs);
      for (const { members, nbytes } of inputs) {
        members.forEach((some, part) => {
          if (some.includes(program)) for (const other of some) expected[other] += nbytes[part];
        });
      }
      assert.deepEqual([...sharing.with(program)], [...expected.keys()].filter((p) => expected[p] > 0));
      assert.deepEqual([...sharing.bytes], [...expected]);
    }
  }
});

test('of a million programs a move of the pointer looks at those alone that share something', () => {
  const programs = 1_000_000;
  const items = Uint32Array.from({ length: programs }, (_, p) => p);
  const starts = Uint32Array.from({ length: programs / 10 + 2 }, (_, k) => Math.max(0, k - 1) * 10);
  const nbytes = new Float64Array(programs / 10 + 1).fill(64);
  const sharing = new Sharing([{ nbytes, starts, items }], programs);
  sharing.with(0);
  const start = performance.now();
  for (let move = 0; move < 1000; move++) assert.equal(sharing.with(move * 997 % programs).length, 10);
  assert.ok(performance.now() - start < 1000, 'a thousand moves take less than a millisecond each');
});
