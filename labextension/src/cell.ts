/**
 * A JupyterLab code cell, seen as the marks want it.
 */

import type { ICodeCellModel } from '@jupyterlab/cells';
import type { CodeEditor } from '@jupyterlab/codeeditor';

import type { ILastRun } from './marks.ts';
import { lastTarget } from './target.ts';
import type { OutputMetadata } from './target.ts';

/** Of all that an editor can show (files, consoles, Markdown), only code cells have outputs. */
export function isCodeCell(model: CodeEditor.IModel): model is ICodeCellModel {
  return 'outputs' in model;
}

export function lastRunOf(cell: ICodeCellModel): ILastRun {
  const { outputs } = cell;

  function* metadata(): Iterable<OutputMetadata> {
    for (let index = 0; index < outputs.length; index++) {
      yield outputs.get(index).metadata;
    }
  }

  return {
    target: () => lastTarget(metadata()),
    subscribe: listener => {
      outputs.changed.connect(listener);
      return () => {
        outputs.changed.disconnect(listener);
      };
    }
  };
}
