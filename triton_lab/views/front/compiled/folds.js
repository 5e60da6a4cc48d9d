/** Which lines can be folded away under which. */

const LABEL = /^(?:[\w$.]+|\d+):(?:\s|$)/;

/**
 * For each line the last that is folded away under it, -1 where it heads nothing: what stands in braces, what stands
 * between two labels, and in Python what is further in.
 * @param {string} stage "source" or the name of a stage
 * @param {string[]} lines
 * @returns {Int32Array}
 */
export function foldsOf(stage, lines) {
  return stage === "source" ? indented(lines) : braced(lines);
}

/** @param {string[]} lines */
function indented(lines) {
  const ends = new Int32Array(lines.length).fill(-1);
  const indent = (/** @type {string} */ line) => line.length - line.trimStart().length;
  lines.forEach((line, k) => {
    if (!/:\s*(?:#.*)?$/.test(line)) return;
    let end = k;
    for (let next = k + 1; next < lines.length && (!lines[next].trim() || indent(lines[next]) > indent(line)); next++) {
      if (lines[next].trim()) end = next;
    }
    if (end > k) ends[k] = end;
  });
  return ends;
}

/** @param {string[]} lines */
function braced(lines) {
  const ends = new Int32Array(lines.length).fill(-1);
  /** @type {number[]} */
  const open = [];
  /** @type {{line: number, depth: number} | null} */
  let label = null;
  const close = (/** @type {number} */ k) => {
    if (label && k - 1 > label.line) ends[label.line] = k - 1;
    label = null;
  };
  lines.forEach((line, k) => {
    const bare = line.trim();
    if (bare.startsWith("}") && open.length) {
      if (label && label.depth >= open.length) close(k);
      const first = /** @type {number} */ (open.pop());
      if (k - 1 > first) ends[first] = k - 1;
    }
    if (LABEL.test(line) || /^\s*\^bb\d/.test(line) || line.startsWith("Function:")) {
      if (label && label.depth >= open.length) close(k);
      label = { line: k, depth: open.length };
    }
    if (/[{(]$/.test(bare) && bare.includes("{")) open.push(k);
  });
  close(lines.length);
  return ends;
}
