/** The film of a pipeline: step or drag through its moments; the work that a moment is about lights up. */

import { make, shape } from "../drawing/dom.js";
import { svgOf } from "../drawing/drawing.js";
import { reveal } from "../drawing/scroller.js";
import { themeOf } from "../drawing/theme.js";
import { tr } from "../localization.js";

/**
 * @param {import("../scenes.js").PipelineScene} scene
 * @param {import("../selection.js").Selection} _selection
 * @param {Pick<import("../part.js").Context, "linked">} context
 * @returns {import("../part.js").Part}
 */
export function pipelineOf(scene, _selection, { linked } = {}) {
  const { moments, left, step, bottom, picture } = scene;
  const title = make("div", { class: "tl-title" }, scene.title);
  if (!moments.length) return { node: make("div", {}, title, make("div", { class: "tl-note" }, tr("Nothing happens asynchronously in this program."))), draw: () => {} };
  let at = 0;
  const told = make("output", { class: "tl-told", "aria-live": "polite" });
  const slider = make("input", { type: "range", min: 0, max: moments.length - 1, step: 1, value: 0, "aria-label": tr("moment"), oninput: () => go(Number(slider.value)) });
  const back = make("button", { type: "button", class: "tl-step", onclick: () => go(at - 1) }, tr("◀ back"));
  const on = make("button", { type: "button", class: "tl-step", onclick: () => go(at + 1) }, tr("forward ▶"));
  const plot = make("div", { class: "tl-scroll", tabindex: 0, role: "group", "aria-label": scene.title, onkeydown: (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, Home: -moments.length, End: moments.length }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    go(at + by);
  } });
  const cursor = shape("rect", { y: 0, width: step, height: bottom, fill: "currentColor", "fill-opacity": 0.12, "pointer-events": "none" });

  /** @param {number} number */
  function go(number) {
    at = Math.min(moments.length - 1, Math.max(0, number));
    update();
  }
  function update() {
    const { told: words, line, tags } = moments[at];
    slider.value = String(at);
    told.textContent = line
      ? tr("moment {number} of {last}: line {line}, {text}", { number: at, last: moments.length - 1, line, text: words })
      : tr("moment {number} of {last}: {text}", { number: at, last: moments.length - 1, text: words });
    cursor.setAttribute("x", String(left + at * step));
    for (const box of plot.querySelectorAll("[data-tag]")) box.classList.toggle("tl-glow", tags.includes(box.getAttribute("data-tag") ?? ""));
    if (plot.contains(cursor)) reveal(plot, cursor.getBoundingClientRect());
    linked?.point(line ? [line] : []);
  }
  const node = make(
    "div", {}, title,
    make("div", { class: "tl-controls" }, back, slider, on), told, plot,
    make("div", { class: "tl-note" }, scene.note),
  );
  return {
    node,
    draw() {
      const drawn = svgOf(picture, themeOf(node));
      Object.assign(drawn.style, { minWidth: `${Math.min(picture.width, 640)}px`, maxWidth: "100%", height: "auto" });
      drawn.append(cursor);
      // A click goes to the moment under the pointer: on a wait, the work that it waits for lights up.
      drawn.addEventListener("click", (event) => {
        const box = drawn.getBoundingClientRect();
        const x = ((event.clientX - box.left) * picture.width) / box.width;
        if (x >= left) go(Math.floor((x - left) / step));
      });
      plot.replaceChildren(drawn);
      update();
    },
  };
}
