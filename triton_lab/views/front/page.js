/** A page that stands alone: draws the scenes that it carries, one that is folded away when it is opened. */

import { catalogueFrom, useCatalogue } from "./localization.js";
import { carriedBy } from "./packed.js";
import { createSelection } from "./selection.js";
import { show } from "./view.js";

useCatalogue(catalogueFrom(JSON.parse(document.querySelector("script.tl-texts")?.textContent ?? "null")));

/** @param {Element} carried */
async function drawCarried(carried) {
  const scene = await carriedBy(carried);
  if (carried.parentElement) show(scene, carried.parentElement, createSelection({}));
}

for (const carried of document.querySelectorAll('main script[type="application/gzip"]')) {
  const folded = carried.closest("details");
  if (folded && !folded.open) folded.addEventListener("toggle", () => drawCarried(carried), { once: true });
  else await drawCarried(carried);
}

// A page may follow the reader's system, which may change while it is open.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ({ matches }) => {
  document.documentElement.dataset.theme = matches ? "dark" : "light";
});
