/** The bit matrix of a layout, whose columns can be picked. */

import { make } from "../drawing/dom.js";
import { svgOf } from "../drawing/drawing.js";
import { tr } from "../localization.js";

/** What a part of the hardware is called: a block of a cluster is a CTA. @param {string} part */
export const calledPart = (part) => ({ block: "CTA", lane: "thread" }[part] ?? part);

/** The part in the language of the page. @param {string} part */
export function partWord(part) {
  const words = { register: tr("register"), lane: tr("thread"), thread: tr("thread"), warp: tr("warp"), block: tr("CTA"), CTA: tr("CTA"), row: tr("row"), column: tr("column"), offset: tr("offset"), bank: tr("bank") };
  return Object.hasOwn(words, part) ? words[/** @type {keyof typeof words} */ (part)] : part;
}

/** @param {number[]} index */
export const indexText = (index) => `[${index.join(", ")}]`;

/**
 * The drawing of a matrix, whose columns are picked by a click or by keys.
 * @param {import("../scenes.js").BitScene[]} bits the columns
 * @param {import("../scenes.js").DrawingScene} drawing
 * @param {(bit: number) => void} onpick told of the column that somebody picks
 */
export function matrixOf(bits, drawing, onpick) {
  let [lit, reach] = [/** @type {Set<number>} */ (new Set()), 0]; // the columns that stand out; the one that the Tab key comes to
  /** @type {number | null} */
  let pressed = null;
  /** @type {SVGElement[]} the bit over each column, as a button */
  let heads = [];
  const columnAt = (/** @type {Event} */ event) => Number(/** @type {SVGElement} */ (event.target).dataset?.tag ?? -1);
  const node = make("div", {
    class: "tl-scroll tl-bits",
    onclick: (/** @type {Event} */ event) => columnAt(event) >= 0 && onpick(columnAt(event)),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const [at, step] = [columnAt(event), { ArrowRight: 1, ArrowLeft: -1, Enter: 0, " ": 0 }[event.key]];
      if (at < 0 || step === undefined || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      if (!step) return onpick(at);
      reach = (at + step + bits.length) % bits.length;
      show();
      heads[reach].focus();
    },
  });
  const show = () => {
    for (const box of node.querySelectorAll("[data-tag]")) box.classList.toggle("tl-lit-bit", lit.has(Number(box.getAttribute("data-tag"))));
    heads.forEach((head, k) => {
      head.setAttribute("aria-pressed", String(k === pressed));
      head.setAttribute("tabindex", k === reach ? "0" : "-1");
    });
  };
  return {
    node,
    /** @param {"light" | "dark"} theme */
    draw(theme) {
      const picture = svgOf(drawing, theme);
      picture.setAttribute("role", "group");
      heads = bits.map(({ part, bit, vector, empty }, k) => {
        const head = /** @type {SVGElement} */ (picture.querySelector(`[data-tag="${k}"]`));
        head.setAttribute("role", "button");
        head.setAttribute("aria-label", empty
          ? tr("{part} {number}: no element", { part: partWord(part), number: 2 ** bit })
          : tr("{part} {number}: moves by {vector}", { part: partWord(part), number: 2 ** bit, vector: indexText(vector) }));
        return head;
      });
      node.replaceChildren(picture);
      show();
    },
    /** @param {Set<number>} columns @param {number | null} one */
    light(columns, one) {
      [lit, pressed] = [columns, one];
      show();
    },
  };
}
