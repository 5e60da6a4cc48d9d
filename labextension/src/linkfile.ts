/**
 * Kernels that are in a file of their own: found among what is open, or opened at their line.
 */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';

import { editorView } from './linked.ts';
import type { IFiles } from './linked.ts';
import { underRoot } from './linktext.ts';

/** The files below the server's root, by their path on the machine of the kernel. */
export function filesOf(shell: JupyterFrontEnd.IShell, documents: IDocumentManager, root: string): IFiles {
  const pathOf = (file: string) => underRoot(file, root);
  const editors = (file: string) => {
    const path = pathOf(file);
    return path === null
      ? []
      : [...shell.widgets('main')].flatMap(widget => {
          const view = documents.contextForWidget(widget)?.path === path ? viewIn(widget) : null;
          return view ? [view] : [];
        });
  };
  return {
    editors,
    async open(file, line) {
      const path = pathOf(file);
      const there = path !== null && (await documents.services.contents.get(path, { content: false }).then(() => true, () => false));
      if (!there) {
        Notification.info(`The kernel is in ${file}, line ${line}: outside of the folder that this server shows.`);
        return null;
      }
      const widget = documents.openOrReveal(path);
      await widget?.revealed;
      await widget?.context.ready;
      return editors(file)[0] ?? null;
    }
  };
}

/** The editor of a file's widget. */
function viewIn(widget: unknown) {
  const content = (widget as { content?: { editor?: unknown } }).content;
  return editorView(content?.editor);
}
