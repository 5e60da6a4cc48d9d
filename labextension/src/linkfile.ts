/**
 * Kernels that are in a file of their own: found among what is open, or opened at their line.
 */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';

import { editorView } from './linked.ts';
import type { IFiles } from './linked.ts';
import { mayBe, pathsOf } from './linktext.ts';
import { tr } from '../../triton_lab/views/front/localization.js';

/** The files that the server shows, by what a notebook's cards call them. */
export function filesOf(shell: JupyterFrontEnd.IShell, documents: IDocumentManager, root: string): IFiles {
  const editors = (file: string, from: string) =>
    [...shell.widgets('main')].flatMap(widget => {
      const path = documents.contextForWidget(widget)?.path;
      const view = path !== undefined && mayBe(file, path, root, from) ? viewIn(widget) : null;
      return view ? [view] : [];
    });
  const { contents } = documents.services;
  const isThere = (path: string) => contents.get(path, { content: false }).then(() => true, () => false);
  return {
    editors,
    async open(file, line, from) {
      for (const path of pathsOf(file, root, from)) {
        if (editors(file, from).length || (await isThere(path))) {
          const widget = documents.openOrReveal(path);
          await widget?.revealed;
          await widget?.context.ready;
          return editors(file, from)[0] ?? null;
        }
      }
      Notification.info(tr('The kernel is in {file}, line {line}: outside of the folder that this server shows.', { file, line }));
      return null;
    }
  };
}

/** The editor of a file's widget. */
function viewIn(widget: unknown) {
  const content = (widget as { content?: { editor?: unknown } }).content;
  return editorView(content?.editor);
}
