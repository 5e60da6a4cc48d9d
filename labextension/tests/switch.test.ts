import assert from 'node:assert/strict';
import { test } from 'node:test';

import { asked, withCompile, withTarget } from '../src/switch/line.ts';
import { canBeOurs, changeLine, lineOf } from '../src/switch/source.ts';

test('the line says what is asked for', () => {
  for (const [line, target, compile] of [
    ['%%triton', 'auto', null],
    ['%%triton cpu --show values,source', 'cpu', null],
    ['  %%triton --limit 5 both', 'both', null],
    ['%%triton --compile gpu', 'gpu', []],
    ['%%triton --compile sm_90,gfx942 cpu', 'cpu', ['sm_90', 'gfx942']],
    ['%%triton gpu --compile=sm_80 --show none', 'gpu', ['sm_80']]
  ] as const) {
    assert.deepEqual(asked(line), { target, compile }, line);
  }
});

test('another target takes the place of the one before, and nothing else changes', () => {
  for (const [line, target, expected] of [
    ['%%triton', 'cpu', '%%triton cpu'],
    ['%%triton  --show grid', 'both', '%%triton both  --show grid'],
    ['%%triton cpu --show grid', 'gpu', '%%triton gpu --show grid'],
    ['  %%triton --limit 5 cpu', 'auto', '  %%triton --limit 5'],
    ['%%triton', 'auto', '%%triton'],
    ['%%triton --compile sm_90', 'cpu', '%%triton cpu --compile sm_90']
  ] as const) {
    assert.equal(withTarget(line, target), expected);
    assert.equal(asked(withTarget(line, target)).target, target);
  }
});

test('what is compiled for is added, changed and taken away', () => {
  assert.equal(withCompile('%%triton cpu', ['sm_90']), '%%triton cpu --compile sm_90');
  assert.equal(withCompile('%%triton --compile sm_90 cpu', ['sm_90', 'sm_80']), '%%triton --compile sm_90,sm_80 cpu');
  assert.equal(withCompile('%%triton --compile=sm_90 cpu', []), '%%triton cpu');
  assert.equal(withCompile('%%triton --compile cpu', ['gfx942']), '%%triton --compile gfx942 cpu');
});

function cell(source: string) {
  const changes: unknown[] = [];
  return {
    changes,
    getSource: () => source,
    updateSource: (start: number, end: number, value = '') => {
      changes.push([start, end, value]);
      source = source.slice(0, start) + value + source.slice(end);
    }
  };
}

test('a cell changes in its magic line alone, and one without gets it', () => {
  const ours = cell('\n%%triton cpu\nf[grid](x)');
  changeLine(ours, line => withTarget(line, 'both'));
  assert.equal(ours.getSource(), '\n%%triton both\nf[grid](x)');
  changeLine(ours, line => line);
  assert.equal(ours.changes.length, 1);
  const plain = cell('f[grid](x)');
  changeLine(plain, line => withTarget(line, 'cpu'));
  assert.equal(plain.getSource(), '%%triton cpu\nf[grid](x)');
  assert.equal(lineOf(plain), '%%triton cpu');
});

test('a cell of another magic is left alone', () => {
  assert.equal(canBeOurs(cell('%%time\nf()')), false);
  assert.equal(canBeOurs(cell('f()')), true);
  assert.equal(canBeOurs(cell('%%triton\nf()')), true);
});
