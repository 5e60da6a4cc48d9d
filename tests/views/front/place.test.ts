import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  chosenAgain, fitPlace, isFaulty, leftBehind, noteChosen, notePicked, pickedAgain, placeName, placeWords,
} from '../../../triton_lab/views/front/place.js';
import type { Place } from '../../../triton_lab/views/front/place.js';
import type { CardScene } from '../../../triton_lab/views/front/scenes.d.ts';
import { callProgram } from '../../../triton_lab/views/front/drawing/words.js';

const LINES: CardScene['source']['lines'] = [
  ['def add(x, y):', [], null],
  ['    a = tl.load(x)', ['load'], null],
  ['    b = tl.load(y)', ['load'], null],
  ['    tl.store(y, a + b)', ['store'], null],
];

function card(change: Partial<CardScene> = {}): CardScene {
  const tabs = [{ name: 'tiling', label: 'Tiling' }, { name: 'storage', label: 'Storage' }];
  const whole: Partial<CardScene> = {
    kind: 'card', title: 'add[8, 1, 1]', grid: [8, 1, 1], show: ['tiling'], tabs, findings: [], failure: '',
    source: { first: 3, lines: LINES },
  };
  return { ...whole, ...change } as CardScene;
}

function noted(picked: object): Place {
  const place: Place = {};
  fitPlace(place, card());
  notePicked(place, card(), picked);
  return place;
}

test('what was picked is picked again', () => {
  const picked = { program: 5, iteration: 2, step: 9, line: 6 };
  assert.deepEqual(pickedAgain(noted(picked), card()), picked);
});

test('what the new launch has not is left out', () => {
  const smaller = card({ grid: [4, 1, 1], source: { first: 3, lines: [['pass', [], null]] } });
  assert.deepEqual(pickedAgain(noted({ program: 5, step: 9, line: 6 }), smaller), {});
  assert.deepEqual(pickedAgain(noted({ program: null, line: null }), card()), {});
  assert.deepEqual(pickedAgain({}, card()), {});
});

test('a line is followed where editing moves it, and where it is edited itself', () => {
  const moved: CardScene['source']['lines'] = [LINES[0]!, ['    # new', [], null], ...LINES.slice(1)];
  assert.equal(pickedAgain(noted({ line: 5 }), card({ source: { first: 3, lines: moved } })).line, 6);
  const edited = LINES.with(2, ['    b = tl.load(y + 1)', ['load'], null]);
  assert.equal(pickedAgain(noted({ line: 5 }), card({ source: { first: 3, lines: edited } })).line, 5);
  const fewer = LINES.toSpliced(2, 1);
  assert.equal(pickedAgain(noted({ line: 5 }), card({ source: { first: 3, lines: fewer } })).line, undefined);
  // Of lines that say the same, the nearest.
  const twice = [...LINES, LINES[1]!];
  assert.equal(pickedAgain(noted({ line: 4 }), card({ source: { first: 3, lines: twice } })).line, 4);
});

test('another kernel begins anew, and another --show opens what it says', () => {
  const place: Place = { ...noted({ program: 3, line: 6 }), tab: 'storage', chosen: { tiling: { label: 'y', rank: 0 } } };
  const other = structuredClone(place);
  fitPlace(other, card({ title: 'sub[8, 1, 1]' }));
  assert.deepEqual([other.picked, other.chosen, other.tab], [undefined, undefined, 'storage']);
  fitPlace(place, card({ show: ['grid'] }));
  assert.deepEqual([place.tab, place.picked?.program], [undefined, 3]);
});

test('an item is the same though its line is another', () => {
  const items = (...labels: string[]) => labels.map(label => ({ name: `value/${label}`, label, lines: [] }));
  const place: Place = {};
  noteChosen(place, items('a · line 3', 'acc · line 4', 'acc · line 7'), 2);
  assert.equal(chosenAgain(place, items('acc · line 5', 'a · line 7', 'acc · line 8')), 2);
  assert.equal(chosenAgain(place, items('a · line 4', 'acc · line 5')), 1);
  assert.equal(chosenAgain(place, items('b · line 4')), null);
  assert.equal(chosenAgain(place, [{ name: 'tiling/acc', label: 'acc · line 7', lines: [] }]), null);
  assert.equal(chosenAgain({}, items('a')), null);
});

test('an error is a fault, a note is none', () => {
  const finding = (severity: string) => card({ findings: [{ severity } as CardScene['findings'][number]] });
  assert.deepEqual([card(), finding('note'), finding('warning')].map(isFaulty), [false, false, false]);
  assert.deepEqual([card({ failure: 'boom' }), finding('error')].map(isFaulty), [true, true]);
});

test('a place in words', () => {
  const place: Place = { ...noted({ program: 5, line: 6 }), tab: 'storage' };
  assert.equal(placeWords(place, card(), callProgram), 'Storage · program (5, 0, 0) · line 6');
  assert.equal(placeWords({}, card(), callProgram), '');
});

test('a name tells kernels apart, and each of many launches is left behind', () => {
  assert.equal(placeName(card()), 'card add');
  const place: Place = { each: { 3: {} } };
  assert.deepEqual([leftBehind(place).earlier, place.each![3]!.earlier], [true, true]);
});
