/** The iteration domain, live: play its order, point at instances, elements and constraints, turn space, move sliders. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { svgOf } from "../drawing/drawing.js";
import { goesOn } from "../drawing/scroller.js";
import { themeOf } from "../drawing/theme.js";
import { askedOf, controlsOf } from "./controls.js";
import { choosing, pointOf } from "./instances.js";
import { DomainStage } from "./stage.js";
import { formulasOf } from "./words.js";
import { tr } from "../localization.js";

/** @typedef {import("../scenes.js").IterationScene} Scene */
/** @typedef {import("../part.js").Part} Part */

const DOMAIN_PADDING = 24; // pixels, left and right together, as in `view.css`

/** The layers with their points as numbers: in space, those of their circles. @param {import("../scenes.js").PlaneScene} scene */
function layersOf({ layers, solid }) {
  const circles = solid?.items.filter((item) => item.what === "circles") ?? [];
  return layers.map((layer, k) => ({ ...layer, points: numbers(circles[k]?.places ?? layer.points) }));
}

/**
 * The transformed space: the same visits, where the schedule puts them.
 * @param {Scene} scene @param {import("../scenes.js").PlaneScene} time @param {DomainStage} domain @param {(words: string) => void} tell
 */
function timeOf(scene, time, domain, tell) {
  const stage = new DomainStage({ ...time, order: scene.order, arrays: [], accesses: [] }, layersOf(time), tell);
  stage.other = domain;
  domain.other = stage;
  const own = stage.describe.bind(stage);
  stage.describe = (v) => {
    const there = domain.turns.get(stage.places[v]);
    return there === undefined ? tr("{visit} in time", { visit: own(v) }) : domain.describe(there);
  };
  stage.node.addEventListener("pointermove", (event) => pointAt(stage, event));
  stage.node.addEventListener("pointerleave", () => stage.point(-100, -100));
  return stage;
}

/** @param {DomainStage} stage @param {PointerEvent} event */
function pointAt(stage, event) {
  const box = stage.node.getBoundingClientRect();
  stage.point(event.clientX - box.left, event.clientY - box.top);
}

/** A stage where it may be wider than the page. @param {DomainStage} stage */
function framed(stage) {
  const { name } = stage.scene;
  const box = make("div", { class: "tl-scroll", tabindex: 0, role: "group", "aria-label": name }, stage.node);
  return [box, goesOn(box, tr("The picture"))];
}

/** @param {DomainStage} domain @param {DomainStage} time */
function beside(domain, time) {
  const named = (/** @type {DomainStage} */ stage) => make("div", {}, make("div", { class: "tl-note" }, stage.scene.name), ...framed(stage));
  return make("div", { class: "tl-domain-row" }, named(domain), named(time));
}

/** A stage that goes from instant to instant. @param {DomainStage} stage */
function inInstants(stage) {
  const every = [...new Set(stage.instants)];
  return {
    count: every.length,
    done: stage.done ? every.length : 0,
    go(/** @type {number} */ done) {
      this.done = done;
      stage.go(done ? stage.until(every[done - 1]) : 0);
    },
  };
}

/** Pointing at a domain, and turning it where it is a space. @param {DomainStage} stage */
function follow(stage) {
  /** @type {{x: number, y: number} | null} */
  let grip = null;
  stage.node.addEventListener("pointerdown", (event) => {
    if (stage.space) grip = { x: event.clientX, y: event.clientY };
  });
  stage.node.addEventListener("pointermove", (event) => {
    if (grip && event.buttons) {
      stage.drag(event.clientX - grip.x, event.clientY - grip.y);
      grip = { x: event.clientX, y: event.clientY };
      return;
    }
    grip = null;
    pointAt(stage, event);
  });
  stage.node.addEventListener("pointerleave", () => stage.point(-100, -100));
}

/**
 * The domain with its controls and words.
 * @param {Scene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {boolean} live whether Python answers
 * @returns {Part}
 */
export function domainOf(scene, selection, live = false) {
  /** @type {Map<string, Element[]>} */
  const elements = new Map();
  const told = make("div", { class: "tl-domain-told", "aria-live": "polite" });
  const rest = scene.dims.length === 3 ? tr("Drag to turn; point at an instance, an element or a row of a matrix.") : tr("Point at an instance, an element, a line or a row of a matrix.");
  const formulas = formulasOf(scene, elements);
  let lit = "";
  const light = (/** @type {string} */ key) => {
    for (const element of elements.get(lit) ?? []) element.classList.remove("tl-lit");
    for (const element of elements.get(key) ?? []) element.classList.add("tl-lit");
    lit = key;
  };
  const stage = new DomainStage(scene, layersOf(scene), (words, key) => {
    told.textContent = words || rest;
    light(key);
  });
  const time = scene.time ? timeOf(scene, scene.time, stage, (words) => (told.textContent = words || rest)) : null;
  const choose = (/** @type {number[]} */ visits) => {
    stage.choose(visits);
    if (live) selection.set({ instance: visits.length ? pointOf(stage, visits[0]) : null });
  };
  choosing(stage, choose);
  if (time) choosing(time, (visits) => choose(visits.flatMap((v) => stage.turns.get(time.places[v]) ?? [])));
  stage.choose(scene.chosen);
  for (const [key, found] of elements) {
    for (const element of found) {
      const lightBoth = (/** @type {string} */ now) => {
        stage.light(now);
        stage.top(now ? [] : stage.resting());
        light(now);
      };
      element.addEventListener("pointerenter", () => lightBoth(key));
      element.addEventListener("pointerleave", () => lightBoth(""));
    }
  }
  follow(stage);
  const controls = controlsOf(inInstants(stage), live ? askedOf(scene, selection) : null);
  const notes = scene.notes.map(([text, tone]) => make("div", { class: `tl-tone-${tone}` }, text));
  const legend = make("div");
  const node = make(
    "div", { class: "tl-domain" },
    make("div", { class: "tl-domain-title" }, scene.title),
    make(
      "div", { class: "tl-domain-row" },
      make("div", {}, ...(time ? [beside(stage, time)] : framed(stage)), controls.node, told, make("pre", {}, scene.program), ...notes),
      make("div", {}, legend, ...formulas),
    ),
  );
  // Its size is not known before it is in the page.
  const arrange = () => node.clientWidth > 0 && stage.arrange(node.clientWidth - DOMAIN_PADDING);
  const resized = new ResizeObserver(() => {
    if (arrange()) stage.draw(themeOf(node));
  });
  resized.observe(node);
  return {
    node,
    draw() {
      arrange();
      const theme = themeOf(node);
      legend.replaceChildren(svgOf(scene.legend, theme));
      stage.draw(theme);
      time?.draw(theme);
    },
    stop() {
      resized.disconnect();
      controls.stop();
    },
  };
}

/** @type {import("../part.js").Draw<Scene>} */
export function iterationOf(scene, selection, context) {
  return domainOf(scene, selection, context.live);
}

/** Several domains and remarks below them. @type {import("../part.js").Draw<import("../scenes.js").PairScene>} */
export function pairOf(scene, selection) {
  const parts = scene.scenes.map((one) => domainOf(one, selection));
  const remarks = scene.remarks.map((remark) => make("div", {}, remark));
  return {
    node: make("div", { class: "tl-domain" }, ...parts.map((part) => part.node), ...remarks),
    draw: () => parts.forEach((part) => part.draw()),
    stop: () => parts.forEach((part) => part.stop?.()),
  };
}
