/**
 * The course, copied by the server into the folder that it serves, and opened.
 */

import { Notification } from '@jupyterlab/apputils';
import { ServerConnection } from '@jupyterlab/services';
import type { CommandRegistry } from '@lumino/commands';

import { OPEN_COURSE } from '../ids.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

/** As in `welcome.py`. */
const URL = 'triton-lab/course';
const absent = () =>
  tr('The server cannot copy the course. Run `triton-lab course` in a terminal, and open the folder that it names.');

interface ICourse {
  readonly path: string;
  readonly kept: readonly string[];
}

export function addCourse(commands: CommandRegistry, icon: CommandRegistry.ICommandOptions['icon']): void {
  commands.addCommand(OPEN_COURSE, {
    label: ({ launcher }) => (launcher ? tr('Triton course') : tr('Triton Course')),
    caption: () => tr('Copy the course of triton-lab into your folder, and open its first notebook. Your changes stay.'),
    icon,
    execute: async () => {
      try {
        const { path, kept } = await course();
        if (kept.length) {
          Notification.info(tr('The course has newer notebooks; yours are kept as you changed them: {names}.', { names: kept.join(', ') }), {
            autoClose: 8000
          });
        }
        return await commands.execute('docmanager:open', { path });
      } catch (error) {
        Notification.warning((error as Error).message, { autoClose: 10000 });
        return null;
      }
    }
  });
}

async function course(): Promise<ICourse> {
  const settings = ServerConnection.makeSettings();
  const response = await ServerConnection.makeRequest(`${settings.baseUrl}${URL}`, { method: 'POST' }, settings);
  if (response.status === 404 || response.status === 405) {
    throw new Error(absent());
  }
  const told = (await response.json()) as ICourse & { message?: string };
  if (!response.ok) {
    throw new Error(told.message || absent());
  }
  return told;
}
