/** The widget: draws a scene by its kind, follows the theme, and shares the selection with Python. */

import { accessesOf } from "./accesses.js";
import { gridOf } from "./grid.js";
import { cardOf } from "./card.js";
import { make } from "./dom.js";
import { createSelection } from "./selection.js";
import { onThemeChange, themeOf } from "./theme.js";
import { tilingOf } from "./tiling.js";
import { timelineOf } from "./timeline.js";
import { storageOf } from "./storage.js";
import { differenceOf } from "./difference.js";
import { launchesOf, nestedOf } from "./launches.js";
import { originsOf } from "./origins.js";
import { choiceOf, followOf, wordsOf } from "./part.js";
import { stepsOf } from "./steps.js";
import { createSupply } from "./supply.js";
import { variableOf } from "./variable.js";

/** @type {Record<string, import("./part.js").Context["draw"]>} */
const KINDS = {
  tiling: tilingOf, storage: storageOf, card: cardOf, difference: differenceOf, accesses: accessesOf, grid: gridOf,
  variable: variableOf, steps: stepsOf, origins: originsOf, choice: choiceOf, follow: followOf, words: wordsOf,
  launches: launchesOf, nested: nestedOf, timeline: timelineOf,
};

/**
 * Put a scene into an element; returns how to take it out again.
 * @param {any} scene
 * @param {HTMLElement} place
 * @param {import("./selection.js").Selection} selection
 * @param {any} model who makes the parts that are not there yet; null on a page without a kernel
 * @returns {() => void}
 */
export function show(scene, place, selection, model = null) {
  const supply = createSupply(scene.parts ?? {}, model);
  const context = {
    ask: supply.ask,
    has: supply.has,
    draw: (/** @type {any} */ part, /** @type {any} */ own, /** @type {any} */ same) => KINDS[part.kind](part, own, same),
  };
  const part = context.draw(scene, selection, context);
  const root = make("div", { class: "tl-view" }, part.node);
  place.append(root);
  const draw = () => {
    root.dataset.theme = themeOf(root);
    part.draw();
  };
  draw();
  // A widget may be drawn before it is put into the page, where no font and no theme can be known.
  const attached = new ResizeObserver(() => {
    if (!root.isConnected) return;
    attached.disconnect();
    draw();
  });
  if (!root.isConnected) attached.observe(root);
  const stop = onThemeChange(draw);
  const release = keepKeys(root);
  return () => {
    attached.disconnect();
    stop();
    release();
    supply.stop();
    part.stop?.();
    root.remove();
  };
}

/**
 * JupyterLab takes arrow keys and Enter for the notebook before anything inside an output hears of
 * them, unless an attribute says not to. Keys with Shift, Ctrl or Meta stay with the notebook.
 * @param {HTMLElement} root
 * @returns {() => void}
 */
function keepKeys(root) {
  /** @param {KeyboardEvent} event */
  const decide = (event) => {
    if (!root.contains(/** @type {Node} */ (event.target))) return;
    const ours = !(event.ctrlKey || event.metaKey || event.altKey) && !(event.shiftKey && event.key.length > 1);
    root.toggleAttribute("data-lm-suppress-shortcuts", ours);
  };
  // On the way down from the window, so before the document's own listeners.
  window.addEventListener("keydown", decide, true);
  return () => window.removeEventListener("keydown", decide, true);
}

/** @param {{model: any, el: HTMLElement}} widget */
function render({ model, el }) {
  const selection = createSelection(model.get("selection"));
  // The line under the pointer passes too quickly to be told.
  const tell = (/** @type {import("./selection.js").Picked} */ { pointed, ...picked }) => {
    if (JSON.stringify(picked) === JSON.stringify(model.get("selection"))) return;
    model.set("selection", picked);
    model.save_changes();
  };
  let stop = selection.subscribe(tell);
  const follow = () => selection.set(model.get("selection"));
  model.on("change:selection", follow);
  let remove = show(model.get("scene"), el, selection, model);
  const replace = () => {
    remove();
    selection.clear();
    stop = selection.subscribe(tell);
    remove = show(model.get("scene"), el, selection, model);
  };
  model.on("change:scene", replace);
  return () => {
    stop();
    remove();
    model.off("change:selection", follow);
    model.off("change:scene", replace);
  };
}

export default { render };
