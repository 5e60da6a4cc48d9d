import assert from 'node:assert/strict';
import { test } from 'node:test';

import { iterationPicker, layerPicker, oneProgramPicker, programPicker } from '../../../triton_lab/views/front/launch/pickers.js';
import { callProgram, listPrograms } from '../../../triton_lab/views/front/drawing/words.js';
import { programIn, writtenProgram } from '../../../triton_lab/views/front/launch/programs.js';
import { createSelection } from '../../../triton_lab/views/front/selection.js';
import { fake, fakePage } from './page.ts';

fakePage();

test('a slider picks a program, and lets go of it before the first', () => {
  const selection = createSelection({});
  const picker = programPicker([3, 2, 1], selection);
  const [label, , , told] = picker.nodes.map(fake);
  const slider = label!.find('input')!;
  slider.change(4);
  picker.update();
  assert.equal(selection.get().program, 4);
  assert.equal(told!.textContent, callProgram(4, [3, 2, 1]));
  slider.change(-1);
  picker.update();
  assert.equal(selection.get().program, null);
  assert.equal(told!.textContent, 'all 6 programs');
});

test('a picker follows what others pick', () => {
  const selection = createSelection({});
  const picker = iterationPicker(5, selection);
  selection.set({ iteration: 3 });
  picker.update();
  const [label, told] = picker.nodes.map(fake);
  assert.deepEqual([label!.find('input')!.value, told!.textContent], ['3', 'iteration 3']);
});

test('a picture of one program begins with the one that it shows', () => {
  const picker = oneProgramPicker([4, 1, 1], createSelection({}), () => 2);
  picker.update();
  const [label, , , told] = picker.nodes.map(fake);
  const slider = label!.find('input')!;
  assert.deepEqual([slider.value, slider.attributes.get('min'), told!.textContent], ['2', '0', 'program (2, 0, 0)']);
});

/** The field of a control, what is said beside it, and how to type into it. */
function typing(picker: { nodes: HTMLElement[] }) {
  const [, field, , , wrong] = picker.nodes.map(fake);
  const type = (words: string) => field!.change(words, 'change');
  return { field: field!, wrong: wrong!, type };
}

test('a program is picked by typing its number or its place', () => {
  const selection = createSelection({});
  const picker = programPicker([4, 3, 2], selection);
  picker.update();
  const { field, type } = typing(picker);
  for (const [words, program] of [
    ['5', 5], ['(3, 0, 0)', 3], ['3,1', 7], ['3, 2, 1', 23], ['1 1', 5], ['(2,)', 2], ['program (1, 0, 0)', 1], [' 0 ', 0]
  ] as const) {
    type(words);
    assert.equal(selection.get().program, program, words);
    assert.equal(field.attributes.get('aria-invalid'), 'false');
  }
  assert.equal(field.value, '(0, 0, 0)');
  for (const nothing of ['', 'all']) {
    type('5');
    type(nothing);
    assert.equal(selection.get().program, null, nothing);
  }
});

test('what is no program is told beside the field, and nothing is picked', () => {
  const selection = createSelection({ program: 2 });
  const picker = programPicker([4, 3, 1], selection);
  picker.update();
  const { field, wrong, type } = typing(picker);
  for (const [words, told] of [
    ['12', 'No program has number 12: the grid (4, 3, 1) has 12 programs, counted from 0.'],
    ['-1', /^No program has number -1/],
    ['4,0', 'There is no program (4, 0, 0): x goes from 0 to 3 in the grid (4, 3, 1).'],
    ['(0, 0, 1)', 'There is no program (0, 0, 1): z is always 0 in the grid (4, 3, 1).'],
    ['x', /^Write a program's number, such as 1, or its place, such as \(0, 0, 0\)\.$/],
    ['(1, 2', /^Write/], ['1.5', /^Write/], ['1,2,3,4', /^Write/], ['()', /^Write/]
  ] as const) {
    type(words);
    assert.equal(selection.get().program, 2, words);
    assert.equal(field.attributes.get('aria-invalid'), 'true', words);
    if (typeof told === 'string') assert.equal(wrong.textContent, told);
    else assert.match(wrong.textContent, told);
  }
  picker.update(); // something else was picked: the words stay
  assert.match(wrong.textContent, /^Write/);
  selection.set({ program: 3 });
  picker.update();
  assert.deepEqual([wrong.textContent, field.value], ['', '(3, 0, 0)']);
});

test('a grid of one axis is counted, and a control of a million programs has no more parts than one of three', () => {
  const selection = createSelection({});
  const picker = programPicker([1_000_000, 1, 1], selection);
  picker.update();
  const { field, type } = typing(picker);
  type('999999');
  assert.deepEqual([selection.get().program, field.value], [999999, '999999']);
  assert.equal(picker.nodes.length, programPicker([3, 1, 1], selection).nodes.length);
});

test('of a picture that keeps some programs the others cannot be picked', () => {
  const selection = createSelection({});
  const picker = oneProgramPicker([100, 1, 1], selection, () => 4, [4, 7, 9]);
  picker.update();
  const { wrong, type } = typing(picker);
  const slider = fake(picker.nodes[0]).find('input')!;
  assert.deepEqual([slider.attributes.get('max'), slider.value], ['2', '0']);
  slider.change(2);
  assert.equal(selection.get().program, 9);
  type('5');
  assert.equal(selection.get().program, 9);
  assert.equal(wrong.textContent, 'This picture has 3 programs, not program (5, 0, 0). Call values(..., programs=[5]).');
});

test('any program that is written is read back', () => {
  for (const grid of [[7, 1, 1], [3, 4, 1], [2, 3, 4], [1, 5, 1], [1, 1, 6]]) {
    const count = grid[0]! * grid[1]! * grid[2]!;
    for (let program = 0; program < count; program++) {
      assert.deepEqual(programIn(writtenProgram(program, grid), grid), { program });
      assert.deepEqual(programIn(callProgram(program, grid).split(', number')[0]!, grid), { program });
    }
  }
});

test('where there is nothing to choose there is no control', () => {
  const selection = createSelection({});
  assert.deepEqual(programPicker([1, 1, 1], selection).nodes, []);
  assert.deepEqual(layerPicker(['both'], 'both', () => assert.fail()), []);
});

test('layers are radio buttons of one group', () => {
  const chosen: string[] = [];
  const labels = layerPicker(['loads', 'stores'], 'stores', name => chosen.push(name)).map(fake);
  const radios = labels.map(label => label.find('input')!);
  assert.equal(new Set(radios.map(radio => radio.attributes.get('name'))).size, 1);
  assert.deepEqual(radios.map(radio => radio.attributes.has('checked')), [false, true]);
  radios[0]!.change('on', 'change');
  assert.deepEqual(chosen, ['loads']);
});

test('programs in words: runs of numbers', () => {
  assert.equal(listPrograms([0, 1, 2, 5], [8, 1, 1]), '4 programs: numbers 0–2, 5');
  assert.equal(listPrograms([3], [8, 1, 1]), callProgram(3, [8, 1, 1]));
});
