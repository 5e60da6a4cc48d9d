/** The bit matrix of a layout as a table whose columns can be picked. */

import { make } from "../drawing/dom.js";
import { tr } from "../localization.js";

/** @typedef {import("../scenes.js").MatrixScene} MatrixScene */

/** What a part of the hardware is called: a block of a cluster is a CTA. @param {string} part */
export const calledPart = (part) => (part === "block" ? "CTA" : part);

/** The part in the language of the page. @param {string} part */
export function partWord(part) {
  const words = { register: tr("register"), lane: tr("lane"), warp: tr("warp"), block: tr("CTA"), CTA: tr("CTA"), row: tr("row"), column: tr("column"), offset: tr("offset"), bank: tr("bank") };
  return Object.hasOwn(words, part) ? words[/** @type {keyof typeof words} */ (part)] : part;
}

/** @param {number[]} index */
export const indexText = (index) => `[${index.join(", ")}]`;

/**
 * @param {MatrixScene} matrix
 * @param {(bit: number) => void} onpick told of the column that somebody picks
 * @returns {{node: HTMLElement, light: (bits: Set<number>, pressed: number | null) => void}}
 */
export function matrixOf({ shape, bits }, onpick) {
  /** @type {HTMLElement[][]} */
  const columns = bits.map(() => []);
  const buttons = bits.map(({ part, bit, vector, empty }, k) =>
    make("button", {
      type: "button", tabindex: k ? -1 : 0, "aria-pressed": "false", onclick: () => onpick(k),
      "aria-label": empty
        ? tr("{part} {number}: no element", { part: partWord(part), number: 2 ** bit })
        : tr("{part} {number}: moves by {vector}", { part: partWord(part), number: 2 ** bit, vector: indexText(vector) }),
    }, String(2 ** bit)));
  const heads = partsOf(bits).map(([part, count]) => make("th", { colspan: count, scope: "colgroup" }, partWord(part)));
  const numbered = buttons.map((button, k) => {
    const cell = make("th", { scope: "col", class: startsPart(bits, k) }, button);
    columns[k].push(cell);
    return cell;
  });
  const rows = shape.flatMap((size, axis) => Array.from({ length: Math.log2(size) }, (_, bit) => {
    const cells = bits.map(({ vector }, k) => {
      const one = (vector[axis] >> bit) & 1;
      const cell = make("td", { class: `${startsPart(bits, k)} ${one ? "tl-one" : ""}`.trim() }, one ? "1" : "");
      columns[k].push(cell);
      return cell;
    });
    return make("tr", bit ? {} : { class: "tl-first" }, make("th", { scope: "row" }, tr("index {axis}: {number}", { axis, number: 2 ** bit })), ...cells);
  }));
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (at < 0 || !step || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = (at + step + buttons.length) % buttons.length;
    buttons.forEach((button, k) => (button.tabIndex = k === next ? 0 : -1));
    buttons[next].focus();
    event.preventDefault();
    event.stopPropagation();
  };
  const table = make(
    "table", { class: "tl-bits", onkeydown },
    make("thead", {}, make("tr", {}, make("td", {}), ...heads), make("tr", {}, make("td", {}), ...numbered)),
    make("tbody", {}, ...rows),
  );
  return {
    node: make("div", { class: "tl-scroll" }, table),
    light(lit, pressed) {
      columns.forEach((cells, k) => cells.forEach((cell) => cell.classList.toggle("tl-lit-bit", lit.has(k))));
      buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(k === pressed)));
    },
  };
}

/** The parts in order, and how many bits each has. @param {import("../scenes.js").BitScene[]} bits */
function partsOf(bits) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const { part } of bits) found.set(part, (found.get(part) ?? 0) + 1);
  return [...found];
}

/** The look of a column with which a part begins. @param {import("../scenes.js").BitScene[]} bits @param {number} k */
const startsPart = (bits, k) => (k && bits[k - 1].part !== bits[k].part ? "tl-starts" : "");
