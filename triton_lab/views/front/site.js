/** A site's page: draws each scene that it carries when somebody comes near it. */

import { decoded, unzipped } from "./packed.js";
import { createSelection } from "./selection.js";
import { show } from "./view.js";

const MOST_CARRIED = 1 << 30; // bytes: the site is our own
const NEAR = "600px";

/** @param {Element} place */
async function drawIn(place) {
  const scene = decoded(await unzipped(place.querySelector("script")?.textContent ?? "", MOST_CARRIED));
  const drawn = document.createElement("div");
  show(/** @type {import("./scenes.js").Scene} */ (scene), drawn, createSelection({}), null, true);
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
