/**
 * Pictures in HTML outputs of a notebook, where nothing else of the lab runs. `loader.js` runs this script once in a
 * page, with the list of the pictures that wait for it; outputs that come later are drawn as they are added to it.
 */

import { catalogueFrom, useCatalogue } from "./localization.js";
import { drawWhenNear } from "./nearby.js";

const given = document.currentScript?.dataset;
useCatalogue(catalogueFrom(JSON.parse(given?.texts ?? "null")));

const waiting = /** @type {Record<string, HTMLElement[]>} */ (/** @type {unknown} */ (globalThis))[given?.queue ?? ""] ?? [];
waiting.splice(0).forEach(drawWhenNear);
waiting.push = (/** @type {HTMLElement[]} */ ...places) => {
  places.forEach(drawWhenNear);
  return 0;
};
