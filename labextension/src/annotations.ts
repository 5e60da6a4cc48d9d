/**
 * What a notebook's outputs say of the lines of its kernels, by the cell in which those lines stand.
 */

import type { ICodeCellModel } from '@jupyterlab/cells';
import type { CellList } from '@jupyterlab/notebook';

import type { FindingNote, NotedSource } from '../../triton_lab/views/front/scenes.d.ts';
import { isCodeCell } from './cell.ts';
import { cellOf } from './linktext.ts';
import { SCENE } from './output.ts';

/** Loaded with the first output that has notes, as the pictures are: it has what judges data of strangers. */
const front = () => import('./front.ts');

/** What is told of one cell's lines, now. */
export class CellNotes {
  readonly #listeners = new Set<() => void>();
  #said = '[]';
  #sources: readonly NotedSource[] = [];

  get sources(): readonly NotedSource[] {
    return this.#sources;
  }

  /** Tell something else; what is the same is not told again. */
  tell(sources: readonly NotedSource[]): void {
    const said = JSON.stringify(sources);
    if (said !== this.#said) {
      this.#said = said;
      this.#sources = sources;
      [...this.#listeners].forEach(listener => listener());
    }
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

const notes = new WeakMap<object, CellNotes>();

/** The notes of a cell, by its model: whoever asks first makes them. */
export function notesOf(cell: object): CellNotes {
  const own = notes.get(cell) ?? new CellNotes();
  notes.set(cell, own);
  return own;
}

/** A cell, as a source is looked for in it. */
export const candidate = (cell: ICodeCellModel) => ({
  count: cell.executionCount,
  lines: () => cell.sharedModel.getSource().split('\n')
});

/** The code cells of a notebook, in order. */
export function codeCells(cells: Iterable<unknown>): ICodeCellModel[] {
  return [...cells].filter((cell): cell is ICodeCellModel => isCodeCell(cell as never));
}

/** Keep the notes of all cells of a notebook as its outputs have them. */
export function keepNotes(cells: CellList): void {
  const known = new WeakSet<object>();
  let due = false;
  const later = () => {
    if (!due) {
      due = true;
      // Once for all that changes together: a run changes outputs, and the number beside the cell.
      queueMicrotask(() => void refresh());
    }
  };
  const refresh = async () => {
    due = false;
    const code = codeCells(cells);
    for (const cell of code) {
      if (!known.has(cell)) {
        known.add(cell);
        cell.outputs.changed.connect(later);
        cell.stateChanged.connect((_, { name }) => name === 'executionCount' && later());
      }
    }
    const found = new Map<ICodeCellModel, NotedSource[]>();
    for (const source of await annotationsIn(code)) {
      const cell = source.cell === null ? undefined : code[cellOf(source.cell, source, code.map(candidate))];
      if (cell) {
        found.set(cell, [...(found.get(cell) ?? []), source]);
      }
    }
    code.forEach(cell => notesOf(cell).tell(merged(found.get(cell) ?? [])));
  };
  cells.changed.connect(later);
  later();
}

async function annotationsIn(cells: readonly ICodeCellModel[]): Promise<NotedSource[]> {
  const data = cells.flatMap(({ outputs }) =>
    Array.from({ length: outputs.length }, (_, k) => outputs.get(k).data[SCENE]).filter(
      one => typeof one === 'object' && one !== null && 'annotations' in one
    )
  );
  if (data.length === 0) {
    return [];
  }
  const { annotationsOf } = await front();
  return data.flatMap(annotationsOf);
}

/** Launches of the same kernel as one: what lines did is told of the last, and what is wrong of all. */
export function merged(sources: readonly NotedSource[]): NotedSource[] {
  const found = new Map<string, NotedSource>();
  for (const source of sources) {
    const key = JSON.stringify([source.first, source.lines]);
    const before = found.get(key)?.findings ?? [];
    const told = new Set(before.map(saidBy));
    found.set(key, { ...source, findings: [...before, ...source.findings.filter(one => !told.has(saidBy(one)))] });
  }
  return [...found.values()];
}

const saidBy = ({ line, message }: FindingNote) => `${line} ${message}`;
