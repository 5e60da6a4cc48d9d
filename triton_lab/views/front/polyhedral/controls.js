/** Below the domain: play, step and scrub; sliders for parameters and a choice of dimensions where Python answers. */

import { make } from "../drawing/dom.js";
import { sliderOf } from "../drawing/slider.js";
import { tr } from "../localization.js";

/**
 * @param {{count: number, done: number, go: (done: number) => void}} stage
 */
export function controlsOf(stage) {
  let timer = 0;
  /** @type {HTMLInputElement} */
  const scrub = make("input", {
    type: "range", min: 0, max: stage.count, value: stage.done, "aria-label": tr("visits made"),
    oninput: () => {
      pause();
      go(Number(scrub.value));
    },
  });
  const count = make("span", {}, "");
  const go = (/** @type {number} */ done) => {
    stage.go(Math.max(0, Math.min(stage.count, done)));
    scrub.value = String(stage.done);
    count.textContent = `${stage.done} / ${stage.count}`;
  };
  const pause = () => {
    cancelAnimationFrame(timer);
    timer = 0;
    play.textContent = "▶";
  };
  const start = () => {
    if (stage.done === stage.count) go(0);
    play.textContent = "⏸";
    // The whole order takes ten seconds at most, and a step a quarter of a second at most.
    const each = Math.min(250, 10000 / Math.max(1, stage.count));
    const [began, first] = [performance.now(), stage.done];
    const tick = (/** @type {number} */ now) => {
      const due = first + Math.floor((now - began) / each) + 1;
      if (due !== stage.done) go(due);
      if (stage.done < stage.count) timer = requestAnimationFrame(tick);
      else pause();
    };
    timer = requestAnimationFrame(tick);
  };
  const button = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {() => void} */ act) =>
    make("button", { type: "button", "aria-label": name, title: name, onclick: act }, sign);
  const step = (/** @type {number} */ by) => {
    pause();
    go(stage.done + by);
  };
  const play = button("▶", tr("play the order"), () => (timer ? pause() : start()));
  const node = make("div", {}, make(
    "div", { class: "tl-domain-bar" },
    button("«", tr("to the start"), () => step(-stage.count)), button("−1", tr("a step back"), () => step(-1)), play,
    button("+1", tr("a step forward"), () => step(1)), button("»", tr("to the end"), () => step(stage.count)), scrub, count,
  ));
  count.textContent = `${stage.done} / ${stage.count}`;
  const goThere = (/** @type {number} */ done) => {
    pause();
    go(done);
  };
  return { node, stop: pause, go: goThere };
}

/**
 * What only Python can change.
 * @param {import("../scenes.js").IterationScene} scene
 * @param {import("../selection.js").Selection} selection
 */
export function askedOf(scene, selection) {
  const bar = make("div", { class: "tl-domain-bar" });
  const { parameters, iterators, hidden } = scene.controls;
  const automatic = Boolean(selection.get().automatic);
  bar.append(make(
    "button", { type: "button", onclick: () => selection.set({ automatic: !automatic }) },
    automatic ? tr("the original order") : tr("isl's order"),
  ));
  for (const [name, [value, low, high]] of Object.entries(parameters)) {
    bar.append(sliderOf(name, value, low, high, String, (chosen) => selection.set({ parameters: { ...selection.get().parameters, [name]: chosen } })));
  }
  // Iterators that are not drawn: one step below the least value shows all of them at once.
  const at = Object.fromEntries(Object.entries(hidden).flatMap(([name, [value]]) => (value === null ? [] : [[name, value]])));
  for (const [name, [value, low, high]] of Object.entries(hidden)) {
    const told = (/** @type {number} */ chosen) => (chosen < low ? tr("all") : String(chosen));
    bar.append(sliderOf(name, value ?? low - 1, low - 1, high, told, (chosen) => {
      const { [name]: _, ...others } = at;
      selection.set({ at: chosen < low ? others : { ...others, [name]: chosen } });
    }));
  }
  if (iterators.length > 2) {
    /** @type {string[][]} */
    const choices = [];
    for (const a of iterators) for (const b of iterators) if (a !== b) choices.push([a, b]);
    if (iterators.length >= 3) choices.unshift(iterators.slice(0, 3));
    /** @type {HTMLSelectElement} */
    const select = make(
      "select", {
        "aria-label": tr("dimensions"),
        onchange: () => selection.set({ dims: choices[Number(select.value)] }),
      },
      ...choices.map((dims, k) => make("option", { value: k, selected: dims.join() === scene.dims.join() }, dims.join(", "))),
    );
    bar.append(make("label", {}, `${tr("draw")} `, select));
  }
  return bar;
}
