/**
 * What a notebook's outputs say of the lines of its kernels, by the cell in which those lines stand.
 */

import type { ICodeCellModel } from '@jupyterlab/cells';

import type { FindingNote, NotedSource } from '../../triton_lab/views/front/scenes.d.ts';
import { cellWith, followOutputs, saidUnder } from './cells.ts';
import type { ICells } from './cells.ts';
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

/** Keep the notes of all cells of a notebook as its outputs have them. */
export function keepNotes(cells: ICells): void {
  followOutputs(cells, async code => {
    const found = new Map<ICodeCellModel, NotedSource[]>();
    for (const source of await annotationsIn(code)) {
      const cell = source.cell === null ? undefined : cellWith(source.cell, source, code);
      if (cell) {
        found.set(cell, [...(found.get(cell) ?? []), source]);
      }
    }
    code.forEach(cell => notesOf(cell).tell(merged(found.get(cell) ?? [])));
  });
}

async function annotationsIn(cells: readonly ICodeCellModel[]): Promise<NotedSource[]> {
  const scenes = () => saidUnder(SCENE, cells).filter(({ data }) => hasNotes(data));
  if (scenes().length === 0) {
    return [];
  }
  const { annotationsOf } = await front();
  return scenes().flatMap(({ data }) => annotationsOf(data)); // as they are by now
}

const hasNotes = (data: unknown) => typeof data === 'object' && data !== null && 'annotations' in data;

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
