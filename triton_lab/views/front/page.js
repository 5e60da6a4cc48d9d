/** A page that stands alone: draws the scene that it carries. */

import { decoded, unzipped } from "./packed.js";
import { createSelection } from "./selection.js";
import { show } from "./view.js";

const MOST = 1 << 30; // bytes: the page is our own

const carried = document.querySelector("main script");
if (carried?.parentElement) {
  const scene = decoded(await unzipped(carried.textContent ?? "", MOST));
  show(/** @type {import("./scenes.js").Scene} */ (scene), carried.parentElement, createSelection({}));
}
