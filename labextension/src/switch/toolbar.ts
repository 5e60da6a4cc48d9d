/**
 * The target of the active cell in the notebook's toolbar.
 */

import type { NotebookPanel } from '@jupyterlab/notebook';
import { Widget } from '@lumino/widgets';

import { hasTriton } from '../notebook.ts';
import { asked } from './line.ts';
import { lineOf } from './source.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

/** So long a text has been left alone before the button looks at it, in ms: nobody waits for it who types. */
const CALM = 200;

export class TargetButton extends Widget {
  readonly #panel: NotebookPanel;
  readonly #button = document.createElement('button');
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(panel: NotebookPanel, open: (button: HTMLElement, panel: NotebookPanel) => void) {
    super();
    this.#panel = panel;
    this.addClass('triton-lab-toolbar');
    this.#button.type = 'button';
    this.#button.setAttribute('aria-haspopup', 'menu');
    this.#button.onclick = () => open(this.#button, panel);
    this.node.append(this.#button);
    const { content, context } = panel;
    const update = () => this.#update();
    const later = () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(update, CALM);
    };
    content.activeCellChanged.connect(update);
    context.model.contentChanged.connect(later);
    void context.ready.then(update);
    this.disposed.connect(() => {
      clearTimeout(this.#timer);
      content.activeCellChanged.disconnect(update);
      context.model.contentChanged.disconnect(later);
    });
    update();
  }

  #update(): void {
    if (this.isDisposed || this.#panel.isDisposed) {
      return;
    }
    const cell = this.#panel.content.activeCell?.model;
    const line = cell?.type === 'code' ? lineOf(cell.sharedModel) : null;
    const target = line === null ? null : asked(line).target;
    this.setHidden(!hasTriton(this.#panel.context));
    this.#button.disabled = target === null;
    this.#button.textContent = `Triton: ${target ?? '–'}`;
    this.#button.title =
      target === null
        ? tr('Select a cell that begins with %%triton to choose where it runs.')
        : tr('Where the selected cell runs: {target}. Choose another target.', { target });
  }
}
