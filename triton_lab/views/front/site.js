/** A site's page: draws each of its scenes when the reader scrolls near it. */

import { carriedBy } from "./packed.js";
import { createSelection } from "./selection.js";
import { show } from "./view.js";

const NEAR = "600px";

/** @param {Element} place */
async function drawIn(place) {
  const scene = await carriedBy(place.querySelector("script"));
  const drawn = document.createElement("div");
  show(scene, drawn, createSelection({}), null, true);
  place.replaceChildren(drawn);
}

const watching = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watching.unobserve(target);
      // The still picture stays where the live one cannot be drawn.
      drawIn(target).catch((/** @type {unknown} */ error) => console.error("triton-lab:", error));
    }
  },
  { rootMargin: NEAR },
);
for (const place of document.querySelectorAll(".triton-lab-picture")) watching.observe(place);
