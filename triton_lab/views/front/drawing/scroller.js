/** What may be larger than its place: it scrolls there, and words say where it goes on. */

import { make } from "./dom.js";
import { tr } from "../localization.js";

/**
 * @param {HTMLElement} box with `overflow: auto`
 * @param {string} what is in it, such as `The picture`
 * @returns {HTMLElement} the words, to be put under the box
 */
export function goesOn(box, what) {
  const words = make("div", { class: "tl-note tl-goes-on", hidden: true });
  const update = () => {
    const [right, below] = [box.scrollWidth - box.clientWidth - box.scrollLeft, box.scrollHeight - box.clientHeight - box.scrollTop];
    const [left, above] = [box.scrollLeft, box.scrollTop];
    const sides = Object.entries({ [tr("above")]: above, [tr("below")]: below, [tr("to the left")]: left, [tr("to the right")]: right });
    const cut = sides.filter(([, pixels]) => pixels >= 2).map(([side]) => side);
    words.hidden = !cut.length;
    words.textContent = cut.length ? tr("{what} continues {sides}. Scroll, or use the arrow keys.", { what, sides: cut.join(", ") }) : "";
  };
  box.addEventListener("scroll", update, { passive: true });
  const sizes = new ResizeObserver(update);
  const observe = () => [box, ...box.children].forEach((one) => sizes.observe(one));
  new MutationObserver(observe).observe(box, { childList: true });
  observe();
  return words;
}

/**
 * Scroll the box, and nothing else, so far that this is seen in it.
 * @param {HTMLElement} box
 * @param {import("./readout.js").Box} place in the window
 */
export function reveal(box, place) {
  const seen = box.getBoundingClientRect();
  const by = (/** @type {number} */ start, /** @type {number} */ end, /** @type {number} */ from, /** @type {number} */ to) =>
    start < from ? start - from : end > to ? end - to : 0;
  box.scrollLeft += by(place.left, place.right, seen.left, seen.left + box.clientWidth);
  box.scrollTop += by(place.top, place.bottom, seen.top, seen.top + box.clientHeight);
}
