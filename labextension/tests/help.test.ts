import assert from 'node:assert/strict';
import { test } from 'node:test';

import { extractor } from '../src/help/extractor.ts';
import { nameAt } from '../src/help/hover.ts';
import { mistakeOf, placeIn } from '../src/help/mistake.ts';
import { Mistakes } from '../src/help/mistakes.ts';

test('a language server reads the cell with the magic as a comment of the same length', () => {
  const code = '\n%%triton cpu --show grid\nx = tl.load(p)';
  assert.equal(extractor.hasForeignCode(code, 'code'), true);
  const [one, ...more] = extractor.extractForeignCode(code);
  assert.equal(one!.hostCode, '\n# triton cpu --show grid\nx = tl.load(p)');
  assert.equal(one!.hostCode!.length, code.length);
  assert.equal(one!.foreignCode, null);
  assert.deepEqual(more, []);
  assert.equal(extractor.hasForeignCode('x = 1\n%%triton', 'code'), false);
});

test('the name under the pointer goes up to the part that is pointed at', () => {
  const text = '  y = tl.math.exp2(x.shape) + z';
  assert.deepEqual(nameAt(text, 7), { name: 'tl.math', from: 6, to: 13 });
  assert.deepEqual(nameAt(text, 10), { name: 'tl.math', from: 6, to: 13 });
  assert.deepEqual(nameAt(text, 15), { name: 'tl.math.exp2', from: 6, to: 18 });
  assert.equal(nameAt(text, 2), null);
  assert.equal(nameAt(text, 30), null);
});

const MISTAKE = { version: 1, execution: null, line: 2, start: 4, end: 9, text: '    tl.lod', message: 'm', advice: '' };

test('a mistake is where it was while its line is the same', () => {
  const mistake = mistakeOf(MISTAKE)!;
  assert.deepEqual(placeIn(mistake, ['ab', '    tl.lod', 'c']), { from: 7, to: 12 });
  assert.equal(placeIn(mistake, ['ab', '    tl.load']), null);
  assert.equal(placeIn(mistake, []), null);
  assert.deepEqual(placeIn({ ...mistake, start: 90, end: 99 }, ['ab', '    tl.lod']), { from: 12, to: 13 });
});

test('what is no record of ours is passed over', () => {
  for (const odd of [null, 3, {}, { ...MISTAKE, version: 2 }, { ...MISTAKE, line: 0 }, { ...MISTAKE, text: 3 }, { ...MISTAKE, start: -1 }, { ...MISTAKE, execution: 'x' }]) {
    assert.equal(mistakeOf(odd), null);
  }
});

/** A cell's text, which tells how it is changed. */
function fakeText(source: string) {
  const listeners = new Set<(_: unknown, change: object) => void>();
  return {
    listeners,
    getSource: () => source,
    changed: { connect: (then: never) => Boolean(listeners.add(then)), disconnect: (then: never) => listeners.delete(then) },
    edit(...sourceChange: object[]) {
      [...listeners].forEach(then => then(null, { sourceChange }));
    }
  };
}

test('a mistake goes with its line, and is told of while the line is the same', () => {
  const text = fakeText('ab\n    tl.lod\nc');
  const [said, mistakes] = [mistakeOf(MISTAKE)!, new Mistakes(text as never)];
  const line = () => mistakes.now(said)?.line ?? null;
  assert.equal(line(), null);
  mistakes.tell([said]);
  assert.equal(line(), 2);
  text.edit({ retain: 3 }, { insert: '# one\n# two\n' });
  assert.equal(line(), 4);
  mistakes.tell([said]); // another output has changed
  assert.equal(line(), 4);
  text.edit({ retain: 25 }, { insert: 'a' });
  assert.equal(line(), null);
  text.edit({ retain: 25 }, { delete: 1 });
  assert.equal(line(), 4);
  text.edit({ delete: 3 }, { retain: 12 }, { delete: 11 });
  assert.equal(line(), null);
  text.edit({ retain: 12 }, { insert: '    tl.lod\n' });
  assert.equal(line(), 3);
  text.edit({ delete: 24 }, { insert: '    tl.lod' }); // all is replaced
  assert.equal(line(), 1);
  mistakes.tell([]);
  assert.equal(line(), null);
  assert.equal(text.listeners.size, 0);
});
