/** The formulas beside the picture, as MathML. */

import { make } from "../drawing/dom.js";
import { goesOn } from "../drawing/scroller.js";
import { tr } from "../localization.js";

/** @typedef {import("../scenes.js").FormulaWords | import("../scenes.js").FormulaMatrix} Part */

/**
 * A MathML element.
 * @param {string} tag
 * @param {...(Node | string)} children
 */
function math(tag, ...children) {
  const element = document.createElementNS("http://www.w3.org/1998/Math/MathML", tag);
  element.append(...children);
  return element;
}

/** @param {string} text */
function token(text) {
  return math(/^[−\d]+$/.test(text) ? "mn" : /^[=≥+<>≤]$/.test(text) ? "mo" : "mtext", text.replaceAll(" ", "\u00a0"));
}

/** @param {Part} part @param {(key: string, element: Element) => void} keep */
function formulaPart(part, keep) {
  if ("text" in part) {
    const element = token(part.text);
    if (part.key) keep(part.key, element);
    return element;
  }
  const rows = part.rows.map((row, k) => {
    const element = math("mtr", ...row.map((entry) => math("mtd", token(entry))));
    if (part.keys[k]) keep(part.keys[k], element);
    return element;
  });
  // Round brackets are borders: few math fonts have brackets that grow.
  const table = math("mtable", ...rows);
  table.setAttribute("class", "tl-bracketed");
  return math("mrow", table);
}

/**
 * The formulas of all statements; `elements` gets the elements of each key.
 * @param {import("../scenes.js").IterationScene} scene
 * @param {Map<string, Element[]>} elements
 */
export function formulasOf(scene, elements) {
  const keep = (/** @type {string} */ key, /** @type {Element} */ element) => {
    const known = elements.get(key);
    if (known) known.push(element);
    else elements.set(key, [element]);
    element.setAttribute("data-key", key);
  };
  return scene.formulas.map(([statement, formulas]) => {
    const box = make(
      "div", { class: "tl-scroll", tabindex: 0, role: "group", "aria-label": tr("formulas of {statement}", { statement }) },
      ...formulas.map((formula) =>
        make(
          "div", {}, make("div", { class: "tl-note" }, formula.name),
          ...formula.lines.map((line) => make("div", { class: "tl-formula" }, ...sidesOf(line).map((side) =>
            math("math", math("mrow", ...side.map((part) => formulaPart(part, keep))))))),
        ),
      ),
    );
    return make(
      "details", { open: statement === scene.formulas[scene.formulas.length - 1][0], class: "tl-formulas" },
      make("summary", {}, tr("Statement {statement}", { statement })), box, goesOn(box, tr("The formula")),
    );
  });
}

/** A line where it may be broken: after a matrix, before what it equals. @param {Part[]} line @returns {Part[][]} */
export function sidesOf(line) {
  /** @type {Part[][]} */
  const sides = [[]];
  line.forEach((part, k) => {
    if (k && "text" in part && /^\s*=/.test(part.text) && "rows" in line[k - 1]) sides.push([]);
    sides[sides.length - 1].push(part);
  });
  return sides;
}
