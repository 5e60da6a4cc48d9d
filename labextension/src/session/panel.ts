/**
 * The side panel: the launches of the session of the notebook in front.
 */

import type { CommandRegistry } from '@lumino/commands';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import type { Current } from '../desk/current.ts';
import { COMPARE, OPEN_CARD, PIN } from '../ids.ts';
import { draw } from './list.ts';
import { filtered, pairOf } from './rows.ts';
import { tr, trn } from '../../../triton_lab/views/front/localization.js';

export class SessionPanel extends Widget {
  readonly #current: Current;
  readonly #commands: CommandRegistry;
  readonly #filter = document.createElement('input');
  readonly #compare = document.createElement('button');
  readonly #list = document.createElement('ul');
  readonly #note = document.createElement('p');

  constructor(current: Current, commands: CommandRegistry) {
    super();
    this.#current = current;
    this.#commands = commands;
    this.id = 'triton-lab-launches';
    this.addClass('triton-lab-session');
    const title = document.createElement('h2');
    title.textContent = tr('Launches');
    this.#filter.type = 'search';
    this.#filter.placeholder = tr('Filter: kernel, target, findings …');
    this.#filter.setAttribute('aria-label', tr('Filter the launches'));
    this.#filter.oninput = () => this.update();
    this.#compare.type = 'button';
    this.#compare.className = 'triton-lab-compare';
    this.#compare.textContent = tr('Compare');
    this.#compare.title = tr('Pin two launches to compare them');
    this.#compare.onclick = () => void commands.execute(COMPARE, { pinned: true });
    this.#list.setAttribute('aria-label', tr('Launches, newest first'));
    this.#note.setAttribute('role', 'status');
    const bar = document.createElement('div');
    bar.className = 'triton-lab-bar';
    bar.append(this.#filter, this.#compare);
    this.node.append(title, bar, this.#note, this.#list);
    current.changed.connect(() => this.update());
    this.update();
  }

  protected override onUpdateRequest(_: Message): void {
    const { panel, desk } = this.#current;
    const told = desk?.launches ?? null;
    const launches = told?.launches ?? [];
    const rows = filtered(launches, this.#filter.value);
    this.#compare.disabled = pairOf(launches, null) === null;
    if (!panel) {
      this.#note.textContent = tr('Open a notebook to see its launches here.');
    } else if (desk && !told) {
      this.#note.textContent = tr('The kernel of this notebook reports no launches. It is not running, or has no triton-lab.');
    } else if (launches.length === 0) {
      this.#note.textContent = tr('No launches yet. Run a cell that begins with %%triton.');
    } else if (rows.length === 0) {
      this.#note.textContent = tr('No launch matches the filter.');
    } else {
      this.#note.textContent = told?.dropped
        ? trn('The first launch is no longer listed.', 'The first {count} launches are no longer listed.', told.dropped, { count: told.dropped })
        : '';
    }
    draw(this.#list, rows, {
      open: number => void this.#commands.execute(OPEN_CARD, { number }),
      pin: number => void this.#commands.execute(PIN, { number }),
      cell: id => {
        const notebook = panel?.content;
        const index = notebook?.widgets.findIndex(cell => cell.model.id === id) ?? -1;
        if (!notebook || index < 0) {
          return null;
        }
        return () => {
          notebook.activeCellIndex = notebook.widgets.findIndex(cell => cell.model.id === id);
          void notebook.scrollToItem(notebook.activeCellIndex, 'smart');
          notebook.activate();
        };
      }
    });
  }
}
