/**
 * What an output says of a kernel that does not compile, and where that is in a text.
 */

import type { Mistake } from '../../../triton_lab/views/front/scenes.d.ts';

/** As in `views/compile_error_mark.py`. */
export const MISTAKE = 'application/vnd.triton-lab.mistake.v1+json';

/** What an output carries, or null where it is none of ours: notebooks come from anywhere. */
export function mistakeOf(data: unknown): Mistake | null {
  const one = data as Partial<Mistake> | null;
  if (typeof one !== 'object' || one === null || one.version !== 1) {
    return null;
  }
  const { execution, line, start, end, text, message, advice } = one;
  const whole = [line, start, end].every(number => Number.isInteger(number) && number! >= 0);
  const told = [text, message, advice].every(words => typeof words === 'string');
  const placed = execution === null || Number.isInteger(execution);
  return whole && told && placed && line! > 0 ? (one as Mistake) : null;
}

export interface IPlace {
  readonly from: number;
  readonly to: number;
}

/** Where it is in a text of lines; null where the line is another now, and nobody knows whether it still is wrong. */
export function placeIn({ line, start, end, text }: Mistake, lines: readonly string[]): IPlace | null {
  if (lines[line - 1] !== text) {
    return null;
  }
  const before = lines.slice(0, line - 1).reduce((length, one) => length + one.length + 1, 0);
  const to = Math.min(end, text.length);
  return { from: before + Math.min(start, Math.max(0, to - 1)), to: before + to };
}
