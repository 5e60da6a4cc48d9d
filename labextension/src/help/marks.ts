/**
 * Marks in editors for what does not compile, as long as outputs say so and its line is the same.
 */

import { forceLinting, linter } from '@codemirror/lint';
import type { Diagnostic } from '@codemirror/lint';
import { Compartment } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { EditorView, ViewPlugin } from '@codemirror/view';
import type { ICodeCellModel } from '@jupyterlab/cells';

import type { Mistake } from '../../../triton_lab/views/front/scenes.d.ts';
import { placeIn } from './mistake.ts';
import { mistakesIn } from './mistakes.ts';

function diagnostics(view: EditorView, mistakes: readonly Mistake[]): Diagnostic[] {
  const lines = [...view.state.doc.iterLines()];
  return mistakes.flatMap(mistake => {
    const place = placeIn(mistake, lines);
    const message = [mistake.message, mistake.advice].filter(Boolean).join('\n');
    return place ? [{ ...place, severity: 'error', source: 'Triton', message }] : [];
  });
}

/** The marks of one cell's editor; a cell without any pays nothing. */
export function mistakeMarks(cell: ICodeCellModel): Extension {
  const mine = mistakesIn(cell);
  const part = new Compartment();
  const marks = linter(view => diagnostics(view, mine.list), { delay: 100 });
  return [
    part.of([]),
    ViewPlugin.define(view => {
      let shown = false;
      let there = true;
      const tell = () => {
        if (!there) {
          return;
        }
        if (mine.list.length > 0 !== shown) {
          shown = !shown;
          view.dispatch({ effects: part.reconfigure(shown ? marks : []) });
        }
        if (shown) {
          forceLinting(view);
        }
      };
      mine.changed.connect(tell);
      queueMicrotask(tell); // a view that is being made takes no transaction
      return {
        destroy() {
          there = false;
          mine.changed.disconnect(tell);
        }
      };
    })
  ];
}
