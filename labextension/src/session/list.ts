/**
 * The list of launches, drawn: one tab stop, the arrow keys go from launch to launch.
 */

import type { SessionLaunch } from '../../../triton_lab/views/front/scenes.d.ts';
import { factsOf, findingsOf } from './rows.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

export interface IActions {
  open(number: number): void;
  pin(number: number): void;
  /** Go to the cell; null where it is not in the notebook. */
  cell(id: string): (() => void) | null;
}

export function draw(list: HTMLElement, rows: readonly SessionLaunch[], actions: IActions): void {
  const focused = (document.activeElement as HTMLElement | null)?.closest<HTMLElement>('li');
  const kept = focused && list.contains(focused) ? focused.dataset['number'] : undefined;
  const part = document.activeElement?.className;
  const items = rows.map(row => item(row, actions));
  list.replaceChildren(...items);
  for (const one of items) {
    one.addEventListener('focusin', () => reach(list, one));
  }
  const current = items.find(one => one.dataset['number'] === kept) ?? items[0];
  if (current) {
    reach(list, current);
    if (kept !== undefined) {
      (current.querySelector<HTMLElement>(`[class="${part}"]`) ?? first(current)).focus();
    }
  }
  list.onkeydown = event => {
    const at = items.findIndex(one => one.contains(event.target as Node));
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    const to = next === undefined ? undefined : items[next];
    if (to) {
      event.preventDefault();
      reach(list, to);
      first(to).focus();
    }
  };
}

function first(row: HTMLElement): HTMLElement {
  return row.querySelector<HTMLElement>('button')!;
}

/** The buttons of one row alone can be reached with the Tab key. */
function reach(list: HTMLElement, row: HTMLElement): void {
  for (const button of list.querySelectorAll('button')) {
    button.tabIndex = row.contains(button) ? 0 : -1;
  }
}

function item(row: SessionLaunch, actions: IActions): HTMLLIElement {
  const node = document.createElement('li');
  node.dataset['number'] = String(row.number);
  const open = button('triton-lab-open', () => actions.open(row.number));
  const name = span('triton-lab-kernel', '');
  name.append(span('triton-lab-number', `${row.number}`), row.kernel, span('triton-lab-grid', row.grid));
  const found = span('triton-lab-findings', findingsOf(row));
  found.dataset['severity'] = row.severity ?? '';
  open.append(name, found);
  open.disabled = !row.kept;
  open.title = row.kept
    ? tr('Open the card of launch {number} beside the notebook', { number: row.number })
    : tr('No longer stored, because many launches followed it. Run its cell again.');
  const foot = document.createElement('div');
  foot.append(span('triton-lab-facts', factsOf(row)));
  const go = row.cell === null ? null : actions.cell(row.cell);
  if (go) {
    const to = button('triton-lab-cell', go, tr('cell'));
    to.title = tr('Go to the cell of launch {number}', { number: row.number });
    to.setAttribute('aria-label', to.title);
    foot.append(to);
  }
  const pin = button('triton-lab-pin', () => actions.pin(row.number), row.pinned ? tr('pinned') : tr('pin'));
  pin.setAttribute('aria-pressed', String(row.pinned));
  pin.setAttribute('aria-label', tr('Pin launch {number}, {kernel}', { number: row.number, kernel: row.kernel }));
  pin.title = row.pinned ? tr('Unpin the launch') : tr('Pin the launch, to compare it with another');
  pin.disabled = !row.kept;
  foot.append(pin);
  node.append(open, foot);
  return node;
}

function button(name: string, then: () => void, text = ''): HTMLButtonElement {
  const node = document.createElement('button');
  node.type = 'button';
  node.className = name;
  node.textContent = text;
  node.onclick = then;
  return node;
}

function span(name: string, text: string): HTMLSpanElement {
  const node = document.createElement('span');
  node.className = name;
  node.textContent = text;
  return node;
}
