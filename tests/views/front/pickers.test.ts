import assert from 'node:assert/strict';
import { test } from 'node:test';

import { iterationPicker, layerPicker, oneProgramPicker, programPicker } from '../../../triton_lab/views/front/launch/pickers.js';
import { callProgram, listPrograms } from '../../../triton_lab/views/front/drawing/words.js';
import { createSelection } from '../../../triton_lab/views/front/selection.js';
import { fake, fakePage } from './page.ts';

fakePage();

test('a slider picks a program, and lets go of it before the first', () => {
  const selection = createSelection({});
  const picker = programPicker([3, 2, 1], selection);
  const [label, told] = picker.nodes.map(fake);
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
  const [label, told] = picker.nodes.map(fake);
  const slider = label!.find('input')!;
  assert.deepEqual([slider.value, slider.attributes.get('min'), told!.textContent], ['2', '0', 'program (2, 0, 0)']);
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

test('programs in words: runs of numbers, six of them at most', () => {
  assert.equal(listPrograms([0, 1, 2, 5], [8, 1, 1]), '4 programs: numbers 0–2, 5');
  assert.match(listPrograms([0, 2, 4, 6, 8, 10, 12, 14], [20, 1, 1]), /^8 programs: numbers 0, 2, 4, 6, 8, 10, …$/);
  assert.equal(listPrograms([3], [8, 1, 1]), callProgram(3, [8, 1, 1]));
});
