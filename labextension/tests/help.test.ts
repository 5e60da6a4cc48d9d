import assert from 'node:assert/strict';
import { test } from 'node:test';

import { extractor } from '../src/help/extractor.ts';
import { nameAt } from '../src/help/hover.ts';
import { mistakeOf, placeIn } from '../src/help/mistake.ts';

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
