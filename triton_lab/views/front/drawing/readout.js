/** What is told of a cell, beside it: never below the fold, and out of the pointer's way. */

import { make } from "./dom.js";

const BESIDE = 8; // pixels between the cell and its words
const INSET = 4; // and between the words and the end of the window

/** @typedef {{left: number, top: number, right: number, bottom: number}} Box in the window, CSS pixels */

/**
 * Where words go: below and to the right of what they tell of; on the other side where the window ends.
 * @param {Box} told
 * @param {[number, number]} size of the words, width and height
 * @param {[number, number]} view the window's
 * @returns {[number, number]} left and top, within the window
 */
export function placeBeside(told, [width, height], [right, bottom]) {
  const fit = (/** @type {number} */ place, /** @type {number} */ length, /** @type {number} */ end) =>
    Math.max(INSET, Math.min(place, end - length - INSET));
  const below = told.bottom + BESIDE + height + INSET <= bottom;
  const beside = told.right + BESIDE + width + INSET <= right;
  return [
    fit(beside ? told.right + BESIDE : told.left - BESIDE - width, width, right),
    fit(below ? told.bottom + BESIDE : told.top - BESIDE - height, height, bottom),
  ];
}

/**
 * The status line says the same to a screen reader: these words are for eyes alone.
 * @param {() => Box | null} where what is told of, anew whenever the page scrolls
 */
export function readoutOf(where) {
  // In the top layer: no output that scrolls or is moved cuts it off.
  const node = make("div", { class: "tl-readout", popover: "manual", "aria-hidden": "true" });
  const place = () => {
    const box = where();
    if (!box || !node.isConnected) return hide();
    const { width, height } = node.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const [left, top] = placeBeside(box, [width, height], [clientWidth, clientHeight]);
    node.style.left = `${left}px`;
    node.style.top = `${top}px`;
  };
  const hide = () => {
    window.removeEventListener("scroll", place, true);
    if (node.isConnected && node.matches(":popover-open")) node.hidePopover();
  };
  return {
    node,
    hide,
    /** Put the words where it is now. */
    place: () => node.isConnected && node.matches(":popover-open") && place(),
    /** @param {string} words */
    show(words) {
      if (!node.isConnected) return;
      node.replaceChildren(...words.split(" · ").map((part) => make("div", {}, part)));
      if (!node.matches(":popover-open")) node.showPopover();
      window.addEventListener("scroll", place, { capture: true, passive: true });
      place();
    },
  };
}
