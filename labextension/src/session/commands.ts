/**
 * Commands about launches: of the active cell, or one that is named by its number.
 */

import { Clipboard, MainAreaWidget, Notification } from '@jupyterlab/apputils';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { CommandRegistry } from '@lumino/commands';
import type { Widget } from '@lumino/widgets';

import type { SessionCard, SessionLaunch, SessionLaunches, SessionText } from '../../../triton_lab/views/front/scenes.d.ts';
import type { Current } from '../desk/current.ts';
import { Refused, noDesk } from '../desk/desk.ts';
import type { Desk } from '../desk/desk.ts';
import { COMPARE, COPY_HTML, OPEN_CARD, PIN, SHOW_LAUNCHES } from '../ids.ts';
import { Beside } from './beside.ts';
import { lastOf, pairOf } from './rows.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

let shown = 0;

/** `add` puts a widget beside the notebook, `reveal` shows the list. */
export function addSessionCommands(
  commands: CommandRegistry,
  current: Current,
  rendermime: IRenderMimeRegistry,
  add: (widget: Widget, beside: string) => void,
  reveal: () => void
): void {
  const listed = (): readonly SessionLaunch[] => current.desk?.launches?.launches ?? [];
  const chosen = (number: unknown): SessionLaunch | null =>
    typeof number === 'number'
      ? (listed().find(launch => launch.number === number) ?? null)
      : lastOf(listed(), current.panel?.content.activeCell?.model.id);

  /** Do something with the kernel; what it refuses is told. */
  const attempt = async (then: (desk: Desk) => Promise<void>) => {
    try {
      const { desk } = current;
      if (!desk) {
        throw new Refused(noDesk());
      }
      await then(desk);
    } catch (error) {
      if (!(error instanceof Refused)) {
        throw error;
      }
      Notification.warning(error.message, { autoClose: 8000 });
    }
  };
  const launch = (number: unknown): SessionLaunch => {
    const found = chosen(number);
    if (!found) {
      throw new Refused(tr('No launch of this cell is listed. Run the cell, or choose a launch from the list.'));
    }
    return found;
  };
  const show = async (desk: Desk, part: string, label: string) => {
    const { panel } = current;
    const card = await desk.ask<SessionCard>(part);
    if (!panel || panel.isDisposed) {
      return;
    }
    const content = new Beside(card, panel.sessionContext, rendermime);
    const widget = new MainAreaWidget({ content });
    widget.id = `triton-lab-beside-${++shown}`;
    widget.title.label = label;
    widget.title.caption = card.title;
    widget.title.closable = true;
    panel.disposed.connect(() => widget.dispose());
    add(widget, panel.id);
  };

  commands.addCommand(SHOW_LAUNCHES, { label: () => tr('Show the Launches of this Session'), execute: reveal });

  commands.addCommand(OPEN_CARD, {
    label: () => tr("Open the Cell's Card beside the Notebook"),
    isEnabled: () => current.panel !== null,
    execute: ({ number }) =>
      attempt(async desk => {
        const { number: which, kernel } = launch(number);
        await show(desk, `card ${which}`, `${kernel} ${which}`);
      })
  });

  commands.addCommand(PIN, {
    label: () => tr("Pin the Cell's Launch, or Unpin It"),
    isEnabled: () => current.panel !== null,
    execute: ({ number }) =>
      attempt(async desk => {
        await desk.ask<SessionLaunches>(`pin ${launch(number).number}`);
      })
  });

  commands.addCommand(COMPARE, {
    label: () => tr('Compare with the Pinned Launch'),
    isEnabled: () => current.panel !== null,
    execute: ({ number, pinned }) =>
      attempt(async desk => {
        const pair = pairOf(listed(), pinned ? null : chosen(number));
        if (!pair) {
          throw new Refused(tr('Pin a launch first, to compare another one with it.'));
        }
        await show(desk, `compare ${pair.join(' ')}`, tr('Launches {first} and {second}', { first: pair[0], second: pair[1] }));
      })
  });

  commands.addCommand(COPY_HTML, {
    label: () => tr("Copy the Cell's Card as HTML"),
    isEnabled: () => current.panel !== null,
    execute: ({ number }) =>
      attempt(async desk => {
        const { content } = await desk.ask<SessionText>(`page ${launch(number).number}`);
        Clipboard.copyToSystem(content);
        Notification.success(tr('The card is copied as an HTML page. Paste it into a file, and open the file.'), {
          autoClose: 4000
        });
      })
  });
}
