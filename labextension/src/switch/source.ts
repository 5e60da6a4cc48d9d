/**
 * The magic line in a cell's text.
 */

import { linesOf, magicLine } from '../magic.ts';

/** As much of a cell's shared model as it takes to change its text, such that it can be undone. */
export interface ISource {
  getSource(): string;
  updateSource(start: number, end: number, value?: string): void;
}

/** The cell's `%%triton` line, or null where the cell is not ours. */
export function lineOf(cell: Pick<ISource, 'getSource'>): string | null {
  for (const line of linesOf(cell.getSource())) {
    if (line.trim() !== '') {
      return magicLine([line]) === null ? null : line;
    }
  }
  return null;
}

/** Whether a cell is ours, or could be: no other magic has it. */
export function canBeOurs(cell: Pick<ISource, 'getSource'>): boolean {
  return lineOf(cell) !== null || !cell.getSource().trimStart().startsWith('%%');
}

/** Change the line; a cell without one gets it as its first. */
export function changeLine(cell: ISource, change: (line: string) => string): void {
  const source = cell.getSource();
  const lines = source.split('\n');
  const number = magicLine(lines);
  if (number === null) {
    cell.updateSource(0, 0, `${change('%%triton')}\n`);
    return;
  }
  const line = lines[number - 1]!;
  const start = lines.slice(0, number - 1).reduce((length, one) => length + one.length + 1, 0);
  const changed = change(line);
  if (changed !== line) {
    cell.updateSource(start, start + line.length, changed);
  }
}
