/**
 * The code cells of a notebook: which of them a record is of, and what follows their outputs.
 */

import type { ICodeCellModel } from '@jupyterlab/cells';

import { isCodeCell } from './cell.ts';
import { cellOf } from './linktext.ts';
import type { ISource } from './linktext.ts';

/** As much of a notebook's list of cells as it takes to follow them. */
export interface ICells extends Iterable<unknown> {
  readonly changed: { connect(listener: () => void): unknown };
}

/** The code cells of a notebook, in order. */
export function codeCells(cells: Iterable<unknown>): ICodeCellModel[] {
  return [...cells].filter((cell): cell is ICodeCellModel => isCodeCell(cell as never));
}

/** The cell of these that has a source, which ran there as number `count`. */
export function cellWith(count: number, source: ISource, cells: readonly ICodeCellModel[]): ICodeCellModel | undefined {
  const candidates = cells.map(cell => ({
    count: cell.executionCount,
    lines: () => cell.sharedModel.getSource().split('\n')
  }));
  return cells[cellOf(count, source, candidates)];
}

/** All that the outputs of these cells say under a MIME type. */
export function saidUnder(mime: string, cells: readonly ICodeCellModel[]): { cell: ICodeCellModel; data: unknown }[] {
  return cells.flatMap(cell =>
    Array.from({ length: cell.outputs.length }, (_, k) => ({ cell, data: cell.outputs.get(k).data[mime] })).filter(
      ({ data }) => data !== undefined
    )
  );
}

/** Call `told` with the code cells, now and once after all that changes together in their outputs and numbers. */
export function followOutputs(cells: ICells, told: (code: readonly ICodeCellModel[]) => unknown): void {
  const followed = new WeakSet<object>();
  let due = false;
  const later = () => {
    if (!due) {
      due = true;
      queueMicrotask(refresh);
    }
  };
  const refresh = () => {
    due = false;
    const code = codeCells(cells);
    for (const cell of code) {
      if (!followed.has(cell)) {
        followed.add(cell);
        cell.outputs.changed.connect(later);
        cell.stateChanged.connect((_, { name }) => name === 'executionCount' && later());
      }
    }
    told(code);
  };
  cells.changed.connect(later);
  later();
}
