/** The widget: draws the scene that Python sends, and shares the selection with Python. */

import { catalogueFrom } from "./localization.js";
import { leftBehind } from "./place.js";
import { createSelection } from "./selection.js";
import { showSliders } from "./sliders.js";
import { show } from "./view.js";

/** @typedef {import("./scenes.js").Scene} Scene */
/** @typedef {import("./scenes.js").Picked} Picked */

/**
 * A widget's state, as anywidget hands it over.
 * @typedef {import("./supply.js").Channel & {
 *   get: {(name: "scene"): Scene, (name: "selection"): Picked, (name: "texts"): unknown},
 *   set: (name: "selection", value: Picked) => void,
 *   save_changes: () => void,
 *   on: (name: "change:scene" | "change:selection", then: () => void) => void,
 *   off: (name: "change:scene" | "change:selection", then: () => void) => void,
 * }} Model
 */

/** @param {{model: Model & import("./sliders.js").Model, el: HTMLElement}} widget */
function render({ model, el }) {
  const stopSliders = showSliders(model, el);
  const selection = createSelection(model.get("selection"));
  // The line under the pointer passes too quickly to be told.
  const tell = (/** @type {import("./selection.js").Picked} */ { pointed: _, under: __, ...picked }) => {
    if (JSON.stringify(picked) === JSON.stringify(model.get("selection"))) return;
    model.set("selection", picked);
    model.save_changes();
  };
  let stop = selection.subscribe(tell);
  const follow = () => selection.set(model.get("selection"));
  model.on("change:selection", follow);
  /** @type {import("./place.js").Place} */
  const open = {}; // a scene that takes the place of another opens where that one was
  const texts = catalogueFrom(model.get("texts"));
  let remove = show(model.get("scene"), el, selection, model, false, open, undefined, texts);
  const replace = () => {
    remove();
    selection.clear();
    stop = selection.subscribe(tell);
    remove = show(model.get("scene"), el, selection, model, false, leftBehind(open), undefined, texts);
  };
  model.on("change:scene", replace);
  return () => {
    stopSliders();
    stop();
    remove();
    model.off("change:selection", follow);
    model.off("change:scene", replace);
  };
}

export default { render };
