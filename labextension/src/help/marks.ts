/**
 * Marks in editors for what does not compile, for as long as the outputs say so and the line is the same.
 */

import { forceLinting, linter } from '@codemirror/lint';
import type { Diagnostic } from '@codemirror/lint';
import { Compartment } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { EditorView, ViewPlugin } from '@codemirror/view';
import type { ICodeCellModel } from '@jupyterlab/cells';
import { Signal } from '@lumino/signaling';

import type { Mistake } from '../../../triton_lab/views/front/scenes.d.ts';
import { cellWith, followOutputs, saidUnder } from '../cells.ts';
import type { ICells } from '../cells.ts';
import { MISTAKE, mistakeOf, placeIn } from './mistake.ts';

/** What is wrong in one cell, told by its own outputs or by those of cells that launched its kernels. */
class Mistakes {
  list: readonly Mistake[] = [];
  readonly changed = new Signal<this, void>(this);
}

const known = new WeakMap<object, Mistakes>();

function mistakesIn(cell: object): Mistakes {
  const mine = known.get(cell) ?? new Mistakes();
  known.set(cell, mine);
  return mine;
}

/** Keep what the outputs of a notebook's cells say up to date. */
export function keepMistakes(cells: ICells): void {
  followOutputs(cells, code => {
    const found = new Map<ICodeCellModel, Mistake[]>(code.map(cell => [cell, []]));
    for (const { cell, data } of saidUnder(MISTAKE, code)) {
      const mistake = mistakeOf(data);
      const home = mistake && homeOf(mistake, cell, code);
      if (mistake && home) {
        found.get(home)?.push(mistake);
      }
    }
    for (const [cell, list] of found) {
      const mine = mistakesIn(cell);
      if (mine.list.length || list.length) {
        mine.list = list;
        mine.changed.emit();
      }
    }
  });
}

/** The cell that a mistake is in: the one that says so, or that of a kernel which it launched. */
function homeOf({ execution, line, text }: Mistake, cell: ICodeCellModel, code: readonly ICodeCellModel[]) {
  return execution === null ? cell : cellWith(execution, { first: line, lines: [text] }, code);
}

function diagnostics(view: EditorView, mistakes: readonly Mistake[]): Diagnostic[] {
  const lines = [...view.state.doc.iterLines()];
  return mistakes.flatMap(mistake => {
    const place = placeIn(mistake, lines);
    const message = [mistake.message, mistake.advice].filter(Boolean).join('\n');
    return place ? [{ ...place, severity: 'error', source: 'Triton', message }] : [];
  });
}

/** The marks of one cell's editor; a cell without any pays nothing. */
export function mistakeMarks(cell: object): Extension {
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
