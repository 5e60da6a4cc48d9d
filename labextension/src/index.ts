/**
 * triton-lab in JupyterLab. This file only wires: what a part does stands in the part's own file.
 */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { EditorExtensionRegistry, IEditorExtensionRegistry } from '@jupyterlab/codemirror';

import { isCodeCell, lastRunOf } from './cell.ts';
import { marks } from './marks.ts';

const cellMarks: JupyterFrontEndPlugin<void> = {
  id: 'triton-lab:cell-marks',
  description: 'Marks the %%triton line of a cell and tells where the cell last ran.',
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

export default [cellMarks];
