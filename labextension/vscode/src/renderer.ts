/**
 * VS Code's renderer of our output type: draws the scene that an output carries, with the drawing code of all views.
 *
 * It has no way to the kernel, so a part that was not saved with the output says to run the cell again. The scene is
 * data of a stranger, as in JupyterLab: it is checked before it is drawn, and nothing in it is ever run.
 */

import { whyNot } from '../../src/attempt.ts';
import * as drawing from '../../src/front.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';
import theme from '../../../triton_lab/views/front/theme.css';
import rules from '../../../triton_lab/views/front/view.css';

/** What VS Code hands over, as far as it is needed here. */
export interface IOutputItem {
  readonly id: string;
  json(): unknown;
}

export interface IRenderer {
  renderOutputItem(item: IOutputItem, element: HTMLElement, signal?: AbortSignal): Promise<void>;
  disposeOutputItem(id?: string): void;
}

/** Called once for each notebook. */
export function activate(): IRenderer {
  const style = document.createElement('style');
  style.textContent = theme + rules;
  document.head.append(style);
  /** How to take out what is drawn, by the id of its output. */
  const drawn = new Map<string, () => void>();
  const dispose = (id: string) => {
    drawn.get(id)?.();
    drawn.delete(id);
  };
  return {
    async renderOutputItem(item, element, signal) {
      dispose(item.id);
      try {
        const { scene: text } = drawing.savedOf(item.json());
        const scene = text === undefined ? null : await drawing.sceneOf(text);
        if (signal?.aborted) {
          return;
        }
        element.replaceChildren();
        if (scene === null) {
          element.textContent = tr('This picture was too large to be saved with the notebook. Choose another presentation of this output to see it.');
        } else {
          drawn.set(item.id, drawing.showSaved(scene, element, drawing.createSelection({}), null));
        }
      } catch (error) {
        element.textContent = whyNot(error, drawing);
      }
    },
    disposeOutputItem(id) {
      (id === undefined ? [...drawn.keys()] : [id]).forEach(dispose);
    }
  };
}
