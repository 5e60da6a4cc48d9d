/** The irregular nest: rows as long as the data say, visited one after the other. */

import { make } from "../drawing/dom.js";
import { svgOf } from "../drawing/drawing.js";
import { themeOf } from "../drawing/theme.js";
import { controlsOf } from "./controls.js";

const AHEAD = 0.25; // opacity of what has not been visited yet

/** @type {import("../part.js").Draw<import("../scenes.js").RaggedScene>} */
export function raggedOf(scene) {
  const { matrices, visits } = scene;
  const place = make("div", {});
  const told = make("div", { class: "tl-domain-told", "aria-live": "polite" }, scene.remark);
  /** The boxes of the matrices by their tags. @type {Map<string, SVGElement>} */
  const boxes = new Map();
  /** Outline a box, below the words. @param {SVGElement | undefined} box @param {string} fill */
  const mark = (box, fill) => {
    if (!box) return;
    const now = /** @type {SVGElement} */ (box.cloneNode());
    now.removeAttribute("data-tag");
    now.setAttribute("class", "tl-now");
    now.setAttribute("fill", fill);
    box.parentNode?.insertBefore(now, box.parentNode.querySelector("text"));
  };
  const stage = {
    count: visits.length,
    done: 0,
    go(/** @type {number} */ done) {
      stage.done = done;
      told.textContent = done ? visits[done - 1][0] : scene.remark;
      for (const box of place.querySelectorAll(".tl-now")) box.remove();
      visits.forEach(([, entry], v) => boxes.get(entry)?.setAttribute("opacity", String(done === 0 || v < done ? 1 : AHEAD)));
      if (!done) return;
      const [, entry, row] = visits[done - 1];
      mark(boxes.get(entry), "none");
      mark(boxes.get(row), boxes.get(entry)?.getAttribute("fill") ?? "none");
    },
  };
  const controls = controlsOf(stage);
  const step = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    /** @type {Record<string, number>} */
    const leads = { ArrowRight: stage.done + 1, ArrowLeft: stage.done - 1, Home: 1, End: stage.count, Escape: 0 };
    if (!(event.key in leads)) return;
    controls.go(leads[event.key]);
    event.preventDefault();
    event.stopPropagation();
  };
  const node = make(
    "div", { class: "tl-domain" }, make("div", { class: "tl-domain-title" }, scene.title),
    place, controls.node, told, make("pre", {}, scene.program),
  );
  return {
    node,
    draw() {
      const picture = svgOf(matrices, themeOf(node));
      picture.setAttribute("tabindex", "0");
      picture.addEventListener("keydown", step);
      Object.assign(picture.style, { maxWidth: "100%", height: "auto" });
      place.replaceChildren(picture);
      for (const box of /** @type {NodeListOf<SVGElement>} */ (picture.querySelectorAll("[data-tag]"))) boxes.set(box.dataset.tag ?? "", box);
      stage.go(stage.done);
    },
    stop: controls.stop,
  };
}
