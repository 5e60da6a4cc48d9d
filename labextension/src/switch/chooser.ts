/**
 * The menu of targets: what there is, and why the rest is not.
 */

import { MenuSvg } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';

import type { SessionTarget, SessionTargets } from '../../../triton_lab/views/front/scenes.d.ts';
import { SET_ALL, SET_COMPILE, SET_TARGET } from '../ids.ts';
import { TARGETS } from './line.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

/** What can be chosen: as the kernel tells it, else all that there could be. */
export function targetsOf(told: SessionTargets | null): readonly SessionTarget[] {
  return told?.known ? told.targets : TARGETS.map(name => ({ name, help: '', why: '' }));
}

/** A target as a menu shows it: what it means, or why it is not there. */
export function labelOf({ name, help, why }: SessionTarget): string {
  const label = { auto: tr('Auto'), cpu: tr('CPU'), gpu: tr('GPU'), both: tr('GPU and CPU') }[name] ?? name;
  const words = why || help.replace(/\s*\(the default\)$/, '');
  return words ? `${label}: ${words}` : label;
}

/** Open the menu below a button, which gets the focus back. */
export function openChooser(commands: CommandRegistry, told: SessionTargets | null, button: HTMLElement): void {
  const menu = new MenuSvg({ commands });
  menu.addClass('triton-lab-menu');
  const targets = targetsOf(told);
  for (const { name } of targets) {
    menu.addItem({ command: SET_TARGET, args: { target: name } });
  }
  if (told?.compile.length) {
    menu.addItem({ type: 'separator' });
    const compile = new MenuSvg({ commands });
    compile.addClass('triton-lab-menu');
    compile.title.label = tr('Compile for');
    for (const { name } of told.compile) {
      compile.addItem({ command: SET_COMPILE, args: { name } });
    }
    menu.addItem({ type: 'submenu', submenu: compile });
  }
  menu.addItem({ type: 'separator' });
  const all = new MenuSvg({ commands });
  all.addClass('triton-lab-menu');
  all.title.label = tr('All %%triton cells');
  for (const { name } of targets) {
    all.addItem({ command: SET_ALL, args: { target: name } });
  }
  menu.addItem({ type: 'submenu', submenu: all });
  const { left, bottom } = button.getBoundingClientRect();
  menu.aboutToClose.connect(() => {
    if (button.isConnected) {
      button.focus();
    }
  });
  menu.open(left, bottom);
}
