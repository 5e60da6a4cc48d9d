/** The sliders above a picture that Python makes anew for other values, and the lines below them. */

import { make } from "./drawing/dom.js";
import { sliderOf } from "./drawing/slider.js";
import { onThemeChange, themeOf } from "./drawing/theme.js";
import { keepKeys } from "./keys.js";

/**
 * What a slider chooses among: each value in words, or whole numbers from `low` in steps. The position of a value is its
 * number among them.
 * @typedef {{name: string, at: number, words: string[]} | {name: string, at: number, low: number, step: number, count: number}} Slider
 *
 * A widget's state, as anywidget hands it over.
 * @typedef {{
 *   get: {(name: "sliders"): Slider[] | undefined, (name: "said" | "proved"): string, (name: "chosen"): Record<string, number>},
 *   set: (name: "chosen", value: Record<string, number>) => void,
 *   save_changes: () => void,
 *   on: (name: "change:said" | "change:proved", then: () => void) => void,
 *   off: (name: "change:said" | "change:proved", then: () => void) => void,
 * }} Model
 */

/**
 * Puts the sliders into an element, if the widget has any.
 * @param {Model} model
 * @param {HTMLElement} place
 * @returns {() => void} how to stop listening
 */
export function showSliders(model, place) {
  const sliders = model.get("sliders");
  if (!sliders?.length) return () => {};
  const bar = make("div", { class: "tl-domain-bar" });
  for (const slider of sliders) {
    const { name, at } = slider;
    const [count, told] = "words" in slider
      ? [slider.words.length, (/** @type {number} */ k) => slider.words[k]]
      : [slider.count, (/** @type {number} */ k) => String(slider.low + k * slider.step)];
    bar.append(sliderOf(name, model.get("chosen")[name] ?? at, 0, count - 1, told, (k) => {
      model.set("chosen", { ...model.get("chosen"), [name]: k });
      model.save_changes();
    }));
  }
  const said = make("div", { class: "tl-note", role: "status" }, "");
  const proved = make("div", { class: "tl-note" }, "");
  const follow = () => {
    said.textContent = model.get("said");
    proved.textContent = model.get("proved");
  };
  follow();
  model.on("change:said", follow);
  model.on("change:proved", follow);
  const box = make("div", { class: "tl-view tl-sliders" }, bar, said, proved);
  place.append(box);
  const colour = () => (box.dataset.theme = themeOf(box));
  colour();
  const stop = onThemeChange(colour);
  const release = keepKeys(box);
  return () => {
    stop();
    release();
    model.off("change:said", follow);
    model.off("change:proved", follow);
  };
}
