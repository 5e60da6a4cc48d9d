/** A card beside an editor that shows the kernel's lines: what is pointed at in the one lights up in the other. */

/**
 * What shows the lines of a card's kernel, told of each card that is drawn. Of what is pointed at in a picture, `point`
 * is told the lines; `go` leads to a line, and `opens` the file if need be.
 * @typedef {{point: (lines: number[]) => void, go: (line: number, opens?: boolean) => void, stop: () => void}} Linked
 * @typedef {(scene: import("./scenes.js").CardScene, selection: import("./selection.js").Selection, ask: import("./supply.js").Supply) => Linked} Link
 */

/** Different lines, ascending. @param {(number | null)[]} lines @returns {number[]} */
export const linesIn = (lines) => [...new Set(lines)].filter((line) => line !== null).sort((a, b) => a - b);

/**
 * Go to the picked line if what was clicked is of it, else to the first of its lines.
 * @param {Linked | undefined} linked @param {number[]} lines @param {import("./selection.js").Selection} selection
 */
export function goToOne(linked, lines, selection) {
  const { line = null } = selection.get();
  if (lines.length) linked?.go(line !== null && lines.includes(line) ? line : lines[0]);
}
