/**
 * triton-lab in JupyterLab. This file only wires: what a part does stands in the part's own file.
 */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { EditorExtensionRegistry, IEditorExtensionRegistry } from '@jupyterlab/codemirror';
import { NotebookActions } from '@jupyterlab/notebook';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { isCodeCell, lastRunOf } from './cell.ts';
import { lineNotes, links } from './link.ts';
import { marks } from './marks.ts';
import { announceBefore, announceTo, cleanWhenSaved, hasTriton } from './notebook.ts';
import type { Session } from './notebook.ts';
import { plugins } from './plugins.ts';
import { SCENE_RANK, sceneFactory } from './scene.ts';

const cellMarks: JupyterFrontEndPlugin<void> = {
  id: 'triton-lab:cell-marks',
  description: 'Marks the %%triton line of a cell and shows where the cell last ran.',
  autoStart: true,
  requires: [IEditorExtensionRegistry],
  activate: (_app: JupyterFrontEnd, editors: IEditorExtensionRegistry) => {
    editors.addExtension({
      name: 'triton-lab:cell-marks',
      factory: ({ model }) =>
        isCodeCell(model)
          ? EditorExtensionRegistry.createImmutableExtension(marks(lastRunOf(model)))
          : null
    });
  }
};

const scenes: JupyterFrontEndPlugin<void> = {
  id: 'triton-lab:scenes',
  description: 'Draws the pictures in outputs, with and without a kernel.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  activate: ({ docRegistry }: JupyterFrontEnd, rendermime: IRenderMimeRegistry) => {
    rendermime.addFactory(sceneFactory, SCENE_RANK);
    const sessions = new WeakMap<object, Session>();
    NotebookActions.executionScheduled.connect((_, { notebook, cell }) => {
      const session = sessions.get(notebook);
      if (session) {
        announceBefore(cell.model, session);
      }
    });
    docRegistry.addWidgetExtension('Notebook', {
      createNew: (panel, context) => {
        cleanWhenSaved(context);
        announceTo(context.sessionContext, () => hasTriton(context));
        sessions.set((panel as NotebookPanel).content, context.sessionContext);
      }
    });
  }
};

export default [cellMarks, scenes, lineNotes, links, ...plugins];
