/** Draws the picture that an element of a page carries as a packed scene, when the reader scrolls near it. */

import { carriedBy } from "./packed.js";
import { createSelection } from "./selection.js";
import { show } from "./view.js";

const NEAR = "600px";

/** @param {HTMLElement} place */
async function drawIn(place) {
  const scene = await carriedBy(place.querySelector("script"));
  const drawn = document.createElement("div");
  place.style.minHeight = `${place.clientHeight}px`; // what lies below may be what the reader looks at
  show(scene, drawn, createSelection({}), null, true);
  place.replaceChildren(drawn);
}

const watching = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watching.unobserve(target);
      // The still picture stays where the live one cannot be drawn.
      drawIn(/** @type {HTMLElement} */ (target)).catch((/** @type {unknown} */ error) => console.error("triton-lab:", error));
    }
  },
  { rootMargin: NEAR },
);

/** @param {HTMLElement} place its first script is the scene; what else it holds stands there until the scene is drawn */
export const drawWhenNear = (place) => watching.observe(place);
