/** What stands beside the picture: legend, formulas as MathML, and the program. */

import { make } from "./dom.js";

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

/** @param {any} part @param {(key: string, element: Element) => void} keep */
function partOf(part, keep) {
  if (part.text !== undefined) {
    const element = token(part.text);
    if (part.key) keep(part.key, element);
    return element;
  }
  const rows = part.rows.map((/** @type {string[]} */ row, /** @type {number} */ k) => {
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
 * @param {any} scene
 * @param {Map<string, Element[]>} elements
 */
export function formulasOf(scene, elements) {
  const keep = (/** @type {string} */ key, /** @type {Element} */ element) => {
    elements.set(key, [...(elements.get(key) ?? []), element]);
    element.setAttribute("data-key", key);
  };
  return scene.formulas.map((/** @type {[string, any[]]} */ [statement, formulas]) =>
    make(
      "details", { open: statement === scene.formulas[scene.formulas.length - 1][0], class: "tl-formulas" },
      make("summary", {}, `Statement ${statement}`),
      ...formulas.map((formula) =>
        make(
          "div", {}, make("div", { class: "tl-note" }, formula.name),
          ...formula.lines.map((/** @type {any[]} */ line) => {
            const node = math("math", math("mrow", ...line.map((part) => partOf(part, keep))));
            return make("div", { class: "tl-formula" }, node);
          }),
        ),
      ),
    ),
  );
}

/** A background with the dashes of a line. @param {string} colour @param {number[]} dashes drawn, left out */
function dashed(colour, dashes) {
  if (!dashes.length) return colour;
  const [drawn, free] = dashes;
  return `repeating-linear-gradient(90deg,${colour} 0 ${drawn}px,transparent ${drawn}px ${drawn + free}px)`;
}

/** @param {any} scene */
export function domainLegendOf(scene) {
  const { style } = scene;
  const box = make("div", { class: "tl-boxed" }, make("div", { class: "tl-boxed-title" }, "legend"));
  const add = (/** @type {string} */ css, /** @type {string} */ text) =>
    box.append(make("div", { class: "tl-boxed-row" }, make("span", { class: "tl-boxed-sign" }, make("span", { style: css })), text));
  const { layers } = scene.time ?? scene;
  layers.forEach((/** @type {any} */ layer, /** @type {number} */ k) => {
    const fill = style.statements[k % style.statements.length];
    add(`width:12px;height:12px;border-radius:50%;background:${fill};border:1.5px solid ${style.ring}`, layers.length > 1 ? `statement ${layer.name}` : "statement");
  });
  const ramp = `linear-gradient(90deg, ${style.order.join(",")})`;
  add(`width:28px;height:10px;background:${ramp}`, "first to last visit");
  for (const kind of Object.keys(style.arrows)) {
    if (scene.arrows.some((/** @type {any} */ a) => a.kind === kind && !a.violated)) add(`width:28px;height:2px;background:${dashed(style.arrows[kind], style.dashes[kind])}`, `${kind} dependence`);
  }
  if (scene.tiles.length || scene.time?.tiles.length) add(`width:28px;height:2px;background:${style.tile}`, "tile");
  if (scene.time?.fronts || (scene.fronts && scene.dims.length < 3)) add(`width:28px;height:2px;background:${style.axis}`, "one instant");
  const wrong = scene.arrows.filter((/** @type {any} */ a) => a.violated);
  for (const text of new Set(wrong.map((/** @type {any} */ a) => (a.kind === "race" ? "race" : "violated")))) {
    add(`width:28px;height:3px;background:${style.violated}`, text);
  }
  if (scene.arrays.length) {
    add(`width:12px;height:12px;background:${style.read}`, "read");
    add(`width:12px;height:12px;background:${style.written}`, "written");
  }
  return box;
}

export const DOMAIN_CSS = `
.tl-domain { background: #ffffff; color: #1f2328; padding: 8px 12px; border-radius: 4px; font: 13px "DejaVu Sans", system-ui, sans-serif; }
.tl-domain-row { display: flex; flex-wrap: wrap; gap: 12px 24px; align-items: flex-start; }
.tl-domain-stage { position: relative; touch-action: none; }
.tl-domain-stage canvas { position: absolute; left: 0; top: 0; }
.tl-domain-bar { display: flex; flex-wrap: wrap; gap: 6px 10px; align-items: center; margin: 6px 0; }
.tl-domain-bar input[type="range"] { width: 220px; accent-color: #5b0f00; }
.tl-domain-bar button { min-width: 34px; height: 26px; border: 1px solid #595959; background: #ffffff; color: #1f2328; border-radius: 3px; cursor: pointer; }
.tl-domain-bar button:hover { background: #eeeeee; }
.tl-domain-bar select { height: 26px; background: #ffffff; color: #1f2328; border: 1px solid #595959; }
.tl-domain-told { min-height: 3.2em; max-width: 640px; font-variant-numeric: tabular-nums; }
.tl-domain .tl-note { color: #59636e; font-size: 11px; margin-top: 6px; }
.tl-formula { margin: 2px 0; }
.tl-formula math { font-size: 14px; }
.tl-bracketed { border: solid currentColor; border-width: 0 1.4px; border-radius: 9px; margin: 0 3px; padding: 0 2px; }
.tl-formulas summary { cursor: pointer; font-weight: 600; margin-top: 8px; }
.tl-lit { background: #fce5cd; outline: 1px solid #b45f06; }
.tl-boxed { border: 2px solid #595959; padding: 4px 14px 8px; display: inline-block; }
.tl-boxed-title { font-weight: 700; text-decoration: underline; text-align: center; margin-bottom: 4px; }
.tl-boxed-row { display: flex; align-items: center; gap: 10px; line-height: 1.6; }
.tl-boxed-sign { display: inline-flex; flex: none; width: 30px; justify-content: center; }
.tl-boxed-sign span { display: inline-block; }
.tl-domain pre { font: 12px "DejaVu Sans Mono", ui-monospace, monospace; line-height: 1.5; margin: 4px 0; color: #1f2328; background: none; max-width: 640px; overflow-x: auto; white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere; }
`;
