/**
 * Which line of a cell is its `%%triton` line.
 */

/** IPython strips blank lines and indentation before it looks for a magic, so both may stand in front. */
const MAGIC = /^\s*%%triton(?=\s|$)/;

/** The lines of a text, each when it is asked for: a magic is in the first of many. */
export function* linesOf(text: string): Generator<string> {
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    yield text.slice(start, end);
    start = end + 1;
  }
  yield text.slice(start);
}

/**
 * The number of the `%%triton` line, counted from 1, or null where the cell is not ours.
 *
 * A magic counts only on the first line with text: further down it would be an error in Python.
 */
export function magicLine(lines: Iterable<string>): number | null {
  let number = 0;
  for (const line of lines) {
    number += 1;
    if (line.trim() !== '') {
      return MAGIC.test(line) ? number : null;
    }
  }
  return null;
}
