/**
 * The line above an error that leads to its place in the editor, as long as there is one.
 */

import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookTracker, Notebook } from '@jupyterlab/notebook';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';

import type { Mistake } from '../../../triton_lab/views/front/scenes.d.ts';
import { MISTAKE, mistakeOf } from './mistake.ts';
import { moved, placeOf } from './mistakes.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

/** Where a mistake is in the notebook around its output. */
interface IFound {
  readonly notebook: Notebook;
  readonly cell: ICodeCellModel;
  readonly mistake: Mistake;
}
type Find = (said: Mistake, from: Node) => IFound | null;

class PlaceRenderer extends Widget implements IRenderMime.IRenderer {
  readonly #find: Find;
  readonly #button = document.createElement('button');
  #said: Mistake | null = null;

  constructor(find: Find) {
    super();
    this.#find = find;
    this.addClass('triton-lab-place');
    this.#button.type = 'button';
    this.#button.onclick = () => {
      const found = this.#said && this.#find(this.#said, this.node);
      if (found) {
        go(found);
      }
    };
    moved.connect(this.#update, this);
  }

  renderModel({ data }: IRenderMime.IMimeModel): Promise<void> {
    this.#said = mistakeOf(data[MISTAKE]);
    const text = data['text/plain'];
    this.node.textContent = this.#said ? '' : typeof text === 'string' ? text : '';
    if (this.#said) {
      this.node.append(this.#button);
    }
    this.#update();
    return Promise.resolve();
  }

  protected override onAfterAttach(): void {
    this.#update();
  }

  #update(): void {
    const found = this.#said && this.#find(this.#said, this.node);
    this.#button.hidden = !found;
    if (found) {
      this.#button.textContent = wordsOf(found.mistake);
    }
  }
}

function wordsOf({ execution, line, start }: Mistake): string {
  const place = { line, column: start + 1, number: execution ?? 0 };
  return execution === null
    ? tr('Does not compile: go to line {line}, column {column}', place)
    : tr('Does not compile: go to cell [{number}], line {line}, column {column}', place);
}

function go({ notebook, cell, mistake: { line, start } }: IFound): void {
  const index = notebook.widgets.findIndex(({ model }) => model === cell);
  notebook.activeCellIndex = index;
  void notebook.scrollToItem(index, 'smart').then(() => {
    notebook.mode = 'edit';
    const { editor } = notebook.widgets[index] ?? {};
    editor?.focus();
    editor?.setCursorPosition({ line: line - 1, column: start });
  });
}

export const placeFactory = (tracker: INotebookTracker): IRenderMime.IRendererFactory => ({
  safe: true,
  mimeTypes: [MISTAKE],
  createRenderer: () =>
    new PlaceRenderer((said, from) => {
      const notebook = tracker.find(panel => panel.node.contains(from))?.content;
      const own = notebook?.widgets.find(({ node }) => node.contains(from));
      const place = own && placeOf(said, own.model);
      return notebook && place ? { notebook, ...place } : null;
    })
});
