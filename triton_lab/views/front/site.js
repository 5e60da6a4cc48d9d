/** A site's page: draws each of its scenes when the reader scrolls near it. */

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

let moved = false; // the reader has gone elsewhere since the address was opened

/** Pictures grow when they are drawn: until the reader moves, the section of the address stays in view. */
function landAgain() {
  if (moved || location.hash.length < 2) return;
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView({ behavior: "instant" });
}
for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(kind, () => (moved = true), { capture: true, passive: true });
addEventListener("hashchange", () => (moved = false)); // after the click on a link
const growth = new ResizeObserver(landAgain);

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
for (const place of document.querySelectorAll(".triton-lab-picture")) {
  watching.observe(place);
  growth.observe(place);
}
