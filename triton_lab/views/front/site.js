/** A site's page: draws each of its scenes when the reader scrolls near it. */

import { drawWhenNear } from "./nearby.js";

let moved = false; // the reader has gone elsewhere since the address was opened

/** Pictures grow when they are drawn: until the reader moves, the section of the address stays in view. */
function landAgain() {
  if (moved || location.hash.length < 2) return;
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView({ behavior: "instant" });
}
for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(kind, () => (moved = true), { capture: true, passive: true });
addEventListener("hashchange", () => (moved = false)); // after the click on a link
const growth = new ResizeObserver(landAgain);

for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".triton-lab-picture"))) {
  drawWhenNear(place);
  growth.observe(place);
}
