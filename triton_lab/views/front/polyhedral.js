/** The widget of the polyhedral views: draws a scene by its kind, and a new one when Python sends it. */

import { make } from "./dom.js";
import { createSelection } from "./selection.js";
import { domainOf } from "./polyhedral_domain.js";
import { maximalOf } from "./polyhedral_maximal.js";
import { raggedOf } from "./polyhedral_ragged.js";

/** @typedef {{node: HTMLElement, stop: () => void}} Shown */

/** Several scenes and remarks below them. @param {any} scene @param {any} selection @returns {Shown} */
function pairOf(scene, selection) {
  const parts = scene.scenes.map((/** @type {any} */ one) => domainOf(one, selection, false));
  const remarks = scene.remarks.map((/** @type {string} */ remark) => make("div", {}, remark));
  const node = make("div", { class: "tl-domain" }, ...parts.map((/** @type {Shown} */ part) => part.node), ...remarks);
  return { node, stop: () => parts.forEach((/** @type {Shown} */ part) => part.stop()) };
}

/** Pictures and words in columns. @param {any} scene @returns {Shown} */
function columnsOf(scene) {
  const urls = scene.columns.map((/** @type {any} */ column) => URL.createObjectURL(new Blob([column.picture], { type: "image/png" })));
  const list = (/** @type {string[]} */ lines) => make("ul", {}, ...lines.map((line) => make("li", {}, line)));
  const columns = scene.columns.map((/** @type {any} */ column, /** @type {number} */ k) =>
    make(
      "div", { class: "tl-column" },
      make("h4", {}, column.title), make("img", { src: urls[k], width: column.width, alt: column.alt }),
      make("pre", {}, column.program), make("b", {}, "It can say"), list(column.can), make("b", {}, "It cannot say"), list(column.cannot),
      make("b", {}, "Measured"), list(column.measured),
    ),
  );
  const css = ".tl-column { flex: 1 1 250px; max-width: 440px; min-width: 0; } .tl-column img { max-width: 100%; } .tl-column ul { margin: 2px 0 8px; padding-left: 18px; }";
  const node = make("div", { class: "tl-domain" }, make("style", {}, css), make("div", { style: "font-weight:600" }, scene.title));
  node.append(make("div", { class: "tl-domain-row", style: "display:flex;flex-wrap:wrap;gap:24px" }, ...columns));
  return { node, stop: () => urls.forEach((/** @type {string} */ url) => URL.revokeObjectURL(url)) };
}

/** @param {any} scene @param {any} selection @param {boolean} live @returns {Shown} */
function partOfKind(scene, selection, live) {
  if (scene.kind === "pair") return pairOf(scene, selection);
  if (scene.kind === "ragged") return raggedOf(scene);
  if (scene.kind === "maximal") return maximalOf(scene, selection);
  if (scene.kind === "columns") return columnsOf(scene);
  return domainOf(scene, selection, live);
}

/**
 * Put a scene into an element; returns how to take it out again.
 * @param {any} scene
 * @param {HTMLElement} place
 * @param {any} selection
 * @param {boolean} [live] whether Python answers
 * @returns {() => void}
 */
export function show(scene, place, selection, live = false) {
  const { node, stop } = partOfKind(scene, selection, live);
  place.append(node);
  return () => {
    stop();
    node.remove();
  };
}

/** @param {{model: any, el: HTMLElement}} widget */
function render({ model, el }) {
  const selection = createSelection(model.get("selection"));
  const stop = selection.subscribe((/** @type {any} */ picked) => {
    model.set("selection", picked);
    model.save_changes();
  });
  let remove = show(model.get("scene"), el, selection, true);
  const again = () => {
    remove();
    remove = show(model.get("scene"), el, selection, true);
  };
  model.on("change:scene", again);
  return () => {
    stop();
    remove();
    model.off("change:scene", again);
  };
}

export default { render };
