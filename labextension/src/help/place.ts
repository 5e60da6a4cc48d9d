/**
 * The line above an error that leads to its place in the editor.
 */

import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';

import type { Mistake } from '../../../triton_lab/views/front/scenes.d.ts';
import { MISTAKE, mistakeOf } from './mistake.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

type Go = (mistake: Mistake, from: Node) => void;

class PlaceRenderer extends Widget implements IRenderMime.IRenderer {
  readonly #go: Go;

  constructor(go: Go) {
    super();
    this.#go = go;
    this.addClass('triton-lab-place');
  }

  renderModel({ data }: IRenderMime.IMimeModel): Promise<void> {
    const mistake = mistakeOf(data[MISTAKE]);
    const text = data['text/plain'];
    this.node.textContent = mistake ? '' : typeof text === 'string' ? text : '';
    if (mistake) {
      const button = document.createElement('button');
      button.type = 'button';
      const place = { line: mistake.line, column: mistake.start + 1, number: mistake.execution ?? 0 };
      button.textContent =
        mistake.execution === null
          ? tr('Does not compile: go to line {line}, column {column}', place)
          : tr('Does not compile: go to cell [{number}], line {line}, column {column}', place);
      button.onclick = () => this.#go(mistake, this.node);
      this.node.append(button);
    }
    return Promise.resolve();
  }
}

export const placeFactory = (tracker: INotebookTracker): IRenderMime.IRendererFactory => ({
  safe: true,
  mimeTypes: [MISTAKE],
  createRenderer: () =>
    new PlaceRenderer((mistake, from) => {
      const notebook = tracker.find(panel => panel.node.contains(from))?.content;
      const index = notebook?.widgets.findIndex(({ node, model }) =>
        mistake.execution === null
          ? node.contains(from)
          : 'executionCount' in model && model.executionCount === mistake.execution
      );
      if (!notebook || index === undefined || index < 0) {
        return;
      }
      notebook.activeCellIndex = index;
      void notebook.scrollToItem(index, 'smart').then(() => {
        notebook.mode = 'edit';
        const { editor } = notebook.widgets[index] ?? {};
        if (editor && mistake.line <= editor.lineCount) {
          editor.focus();
          editor.setCursorPosition({ line: mistake.line - 1, column: mistake.start });
        }
      });
    })
});
