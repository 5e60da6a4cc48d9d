/** A slider whose value is shown in words. */

import { make } from "./dom.js";

const REST = 4000 / 60; // ms: four frames

/**
 * A slider with its value in words; it tells what was chosen once it rests.
 * @param {string} name @param {number} value @param {number} low @param {number} high
 * @param {(chosen: number) => string} told @param {(chosen: number) => void} choose
 */
export function sliderOf(name, value, low, high, told, choose) {
  const shown = make("span", {}, told(value));
  let waiting = 0;
  /** @type {HTMLInputElement} */
  const slider = make("input", {
    type: "range", min: low, max: high, value, "aria-label": name,
    oninput: () => {
      shown.textContent = slider.ariaValueText = told(Number(slider.value));
      clearTimeout(waiting);
      waiting = setTimeout(() => choose(Number(slider.value)), REST);
    },
  });
  slider.ariaValueText = told(value);
  return make("label", {}, `${name} = `, shown, " ", slider);
}
