/**
 * A notebook's file, seen as the pictures in it want it.
 */

import type { DocumentRegistry } from '@jupyterlab/docregistry';

import { dropWidgets } from './output.ts';
import type { IOutputs } from './output.ts';

/** From now on, what is saved names no widget in place of our pictures. */
export function cleanWhenSaved(context: DocumentRegistry.IContext<DocumentRegistry.IModel>): void {
  context.saveState.connect(({ model }, state) => {
    if (state !== 'started' || !('cells' in model)) {
      return;
    }
    for (const cell of model.cells as Iterable<{ readonly outputs?: IOutputs }>) {
      if (cell.outputs) {
        dropWidgets(cell.outputs);
      }
    }
  });
}
