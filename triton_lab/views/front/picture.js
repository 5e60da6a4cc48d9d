/** A picture as an anywidget without a kernel: its model carries the packed scene. */

import { decoded, unzipped } from "./packed.js";
import { createSelection } from "./selection.js";
import { show } from "./view.js";

const MOST = 1 << 24; // bytes

/** @param {{model: {get: (name: "packed") => string}, el: HTMLElement}} widget */
async function render({ model, el }) {
  const scene = /** @type {import("./scenes.js").Scene} */ (decoded(await unzipped(model.get("packed"), MOST)));
  return show(scene, el, createSelection({}), null, true);
}

export default { render };
