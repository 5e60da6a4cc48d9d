/**
 * What does not compile in the cells of a notebook, for as long as outputs say so, and where that is by now: a mistake
 * goes with its line while the cell is edited.
 */

import { EditorState } from '@codemirror/state';
import type { Transaction } from '@codemirror/state';
import type { ICodeCellModel } from '@jupyterlab/cells';
import { Signal } from '@lumino/signaling';

import type { Mistake } from '../../../triton_lab/views/front/scenes.d.ts';
import { cellWith, followOutputs, saidUnder } from '../cells.ts';
import type { ICells } from '../cells.ts';
import { lineAfter } from '../lines.ts';
import { MISTAKE, mistakeOf } from './mistake.ts';

/** Mistakes of some cell are others now, or elsewhere. */
export const moved = new Signal<object, void>({});

type Changed = ICodeCellModel['sharedModel']['changed'];
/** How a text was changed: in pieces, from its beginning on. */
type Delta = readonly { readonly retain?: number; readonly insert?: unknown; readonly delete?: number }[];
type Text = Pick<ICodeCellModel['sharedModel'], 'getSource'> & { readonly changed: Pick<Changed, 'connect' | 'disconnect'> };

/** What is wrong in one cell, told by its own outputs or by those of cells that launched its kernels. */
export class Mistakes {
  readonly #text: Text;
  /** Each by what an output says, with the line that it is in now. */
  #now = new Map<string, Mistake>();
  /** The text with these lines, as long as there are any. */
  #state: EditorState | null = null;
  /** Others are told. */
  readonly changed = new Signal<this, void>(this);

  constructor(text: Text) {
    this.#text = text;
  }

  get list(): readonly Mistake[] {
    return [...this.#now.values()];
  }

  /** Put these, as outputs say them, in place of all others. Those that were told before stay where they are. */
  tell(mistakes: readonly Mistake[]): void {
    if (!this.#now.size && !mistakes.length) {
      return;
    }
    this.#now = new Map(mistakes.map(one => [keyOf(one), this.#now.get(keyOf(one)) ?? one]));
    if (!mistakes.length) {
      this.#text.changed.disconnect(this.#follow);
      this.#state = null;
    } else if (!this.#state) {
      // Places in it are counted as in the cell's text.
      this.#state = EditorState.create({ doc: this.#text.getSource(), extensions: EditorState.lineSeparator.of('\n') });
      this.#text.changed.connect(this.#follow);
    }
    this.changed.emit();
  }

  /** What an output says, where it is now; null where its line is another now, and may be right. */
  now(said: Mistake): Mistake | null {
    const mistake = this.#now.get(keyOf(said));
    const doc = this.#state?.doc;
    const isSame = mistake && doc && mistake.line <= doc.lines && doc.line(mistake.line).text === mistake.text;
    return isSame ? mistake : null;
  }

  readonly #follow = (_: unknown, { sourceChange }: { sourceChange?: Delta }) => {
    if (!sourceChange || !this.#state) {
      return;
    }
    const edit = this.#state.update({ changes: changesOf(sourceChange) });
    this.#state = edit.state;
    this.#now = new Map([...this.#now].map(([key, one]) => [key, { ...one, line: lineOf(one, edit) }]));
    moved.emit();
  };
}

/** A line that is deleted is waited for where it was: it may be put back. */
function lineOf({ line, text }: Mistake, edit: Transaction): number {
  const { doc } = edit.startState;
  if (line > doc.lines) {
    return line;
  }
  return lineAfter(line, text, edit) ?? edit.state.doc.lineAt(edit.changes.mapPos(doc.line(line).from)).number;
}

/** Its changes, each at its place in the text before all of them. */
function changesOf(delta: Delta): { from: number; to: number; insert: string }[] {
  let at = 0;
  return delta.map(({ retain = 0, insert, delete: gone = 0 }) => {
    const from = at + retain;
    at = from + gone;
    return { from, to: at, insert: typeof insert === 'string' ? insert : '' };
  });
}

const keyOf = (said: Mistake) => JSON.stringify(said);

const known = new WeakMap<object, Mistakes>();
/** For each cell the cells that its outputs' mistakes are in. */
const homes = new WeakMap<object, Map<string, ICodeCellModel>>();

export function mistakesIn(cell: ICodeCellModel): Mistakes {
  const mine = known.get(cell) ?? new Mistakes(cell.sharedModel);
  known.set(cell, mine);
  return mine;
}

/** Where a mistake is now that an output of a cell says; null where its line is another now. */
export function placeOf(said: Mistake, cell: object): { cell: ICodeCellModel; mistake: Mistake } | null {
  const home = homes.get(cell)?.get(keyOf(said));
  const mistake = home && mistakesIn(home).now(said);
  return mistake ? { cell: home, mistake } : null;
}

/** Keep what the outputs of a notebook's cells say up to date. */
export function keepMistakes(cells: ICells): void {
  followOutputs(cells, code => {
    const found = new Map<ICodeCellModel, Mistake[]>(code.map(cell => [cell, []]));
    code.forEach(cell => homes.delete(cell));
    for (const { cell, data } of saidUnder(MISTAKE, code)) {
      const mistake = mistakeOf(data);
      const home = mistake && homeOf(mistake, cell, code);
      if (mistake && home) {
        found.get(home)?.push(mistake);
        homes.set(cell, (homes.get(cell) ?? new Map<string, ICodeCellModel>()).set(keyOf(mistake), home));
      }
    }
    found.forEach((list, cell) => mistakesIn(cell).tell(list));
    moved.emit();
  });
}

/** The cell that a mistake is in: the one that says so, or that of a kernel which it launched. */
function homeOf({ execution, line, text }: Mistake, cell: ICodeCellModel, code: readonly ICodeCellModel[]) {
  return execution === null ? cell : cellWith(execution, { first: line, lines: [text] }, code);
}
