/**
 * Commands that choose where cells run, and run them there.
 */

import { Notification } from '@jupyterlab/apputils';
import type { CommandRegistry } from '@lumino/commands';

import type { Current } from '../desk/current.ts';
import { noDesk } from '../desk/desk.ts';
import { CHOOSE, INSERT_TEMPLATE, RUN_ON, SET_ALL, SET_COMPILE, SET_TARGET } from '../ids.ts';
import type { SessionTarget, SessionText } from '../../../triton_lab/views/front/scenes.d.ts';
import { labelOf, openChooser, targetsOf } from './chooser.ts';
import { TARGETS, asked, withCompile, withTarget } from './line.ts';
import type { TargetName } from './line.ts';
import { canBeOurs, changeLine, lineOf } from './source.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

/** The targets that a cell is run on by a command of the palette. */
export const RUNS: readonly TargetName[] = ['cpu', 'gpu', 'both'];

function runLabel(target: unknown): string {
  if (target === 'cpu') {
    return tr('Run Cell on CPU');
  }
  if (target === 'gpu') {
    return tr('Run Cell on GPU');
  }
  return target === 'both' ? tr('Run Cell on GPU and CPU, and Compare') : tr('Run Cell on …');
}

export function addSwitchCommands(commands: CommandRegistry, current: Current): void {
  const told = () => current.desk?.targets ?? null;
  /** The text of the active cell, if it can have a magic line. */
  const source = () => {
    const cell = current.panel?.content.activeCell?.model;
    return cell?.type === 'code' && canBeOurs(cell.sharedModel) ? cell.sharedModel : null;
  };
  const line = () => {
    const cell = source();
    return cell && lineOf(cell);
  };
  const targetNamed = (name: unknown): SessionTarget =>
    targetsOf(told()).find(target => target.name === name) ?? { name: String(name), help: '', why: '' };
  const isTarget = (name: unknown): name is TargetName => (TARGETS as readonly unknown[]).includes(name);

  commands.addCommand(SET_TARGET, {
    label: ({ target }) => labelOf(targetNamed(target)),
    isToggled: ({ target }) => asked(line() ?? '').target === target,
    isToggleable: true,
    isEnabled: ({ target }) => source() !== null && targetNamed(target).why === '',
    execute: ({ target }) => {
      const cell = source();
      if (cell && isTarget(target)) {
        changeLine(cell, text => withTarget(text, target));
      }
    }
  });

  commands.addCommand(SET_ALL, {
    label: ({ target }) => labelOf({ ...targetNamed(target), help: '' }),
    isEnabled: ({ target }) => targetNamed(target).why === '',
    execute: ({ target }) => {
      for (const cell of current.panel?.content.widgets ?? []) {
        if (isTarget(target) && cell.model.type === 'code' && lineOf(cell.model.sharedModel) !== null) {
          changeLine(cell.model.sharedModel, text => withTarget(text, target));
        }
      }
    }
  });

  const gpuNamed = (name: unknown) => told()?.compile.find(one => one.name === name);
  commands.addCommand(SET_COMPILE, {
    label: ({ name }) => {
      const gpu = gpuNamed(name);
      return `${String(name)}: ${gpu?.why || gpu?.help || ''}`;
    },
    isToggled: ({ name }) => asked(line() ?? '').compile?.includes(String(name)) ?? false,
    isToggleable: true,
    isEnabled: ({ name }) => source() !== null && gpuNamed(name)?.why === '',
    execute: ({ name }) => {
      const cell = source();
      if (cell) {
        const before = asked(line() ?? '').compile ?? [];
        const without = before.filter(one => one !== name);
        const names = without.length < before.length ? without : [...before, String(name)];
        changeLine(cell, text => withCompile(text, names));
      }
    }
  });

  commands.addCommand(RUN_ON, {
    label: ({ target }) => {
      const label = runLabel(target);
      const { why } = targetNamed(target);
      return why ? `${label} (${why})` : label;
    },
    isEnabled: ({ target }) => source() !== null && targetNamed(target).why === '',
    execute: async ({ target }) => {
      await commands.execute(SET_TARGET, { target });
      await commands.execute('notebook:run-cell');
    }
  });

  commands.addCommand(CHOOSE, {
    label: () => tr('Choose the Target of the Cell …'),
    isEnabled: () => source() !== null,
    execute: () => {
      const cell = current.panel?.content.activeCell?.node;
      const button = cell?.querySelector<HTMLElement>('.triton-lab-choose') ?? cell;
      if (button) {
        openChooser(commands, told(), button);
      }
    }
  });

  commands.addCommand(INSERT_TEMPLATE, {
    label: ({ name }) => tr('Insert a Kernel: {name}', { name: String(name ?? 'elementwise') }),
    isEnabled: () => current.panel !== null,
    execute: async ({ name }) => {
      const { panel } = current;
      try {
        const desk = panel && current.anyDesk(panel);
        if (!panel || !desk) {
          throw new Error(noDesk());
        }
        const { content } = await desk.ask<SessionText>(`template ${String(name ?? 'elementwise')}`);
        await commands.execute('notebook:insert-cell-below');
        panel.content.activeCell?.model.sharedModel.setSource(content);
        current.refresh();
      } catch (error) {
        Notification.warning((error as Error).message, { autoClose: 8000 });
      }
    }
  });
}
