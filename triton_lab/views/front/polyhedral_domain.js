/** The iteration domain, live: play its order, point at instances, elements and constraints, turn space, move sliders. */

import { numbers } from "./data.js";
import { make } from "./dom.js";
import { DomainStage } from "./polyhedral_stage.js";
import { DOMAIN_CSS, domainLegendOf, formulasOf } from "./polyhedral_words.js";
import { controlsOf } from "./polyhedral_controls.js";

/**
 * The transformed space: the same visits, where the schedule puts them.
 * @param {any} scene @param {any[]} layers @param {DomainStage} domain @param {(words: string) => void} tell
 */
function timeOf(scene, layers, domain, tell) {
  const { style, order, time } = scene;
  const stage = new DomainStage({ ...time, style, order, arrays: [], accesses: [] }, layers, (words) => tell(words));
  stage.other = domain;
  domain.other = stage;
  const own = stage.describe.bind(stage);
  stage.describe = (v) => {
    const there = domain.turns.get(stage.places[v]);
    return there === undefined ? `${own(v)} in time` : domain.describe(there);
  };
  stage.node.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    const box = stage.node.getBoundingClientRect();
    stage.point(event.clientX - box.left, event.clientY - box.top);
  });
  stage.node.addEventListener("pointerleave", () => stage.point(-100, -100));
  return stage;
}

/** @param {DomainStage} domain @param {DomainStage} time */
function beside(domain, time) {
  const named = (/** @type {string} */ name, /** @type {DomainStage} */ stage) => make("div", {}, make("div", { class: "tl-note" }, name), stage.node);
  return make("div", { class: "tl-domain-row" }, named("Domain", domain), named("Time", time));
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

/**
 * The domain with its controls and words.
 * @param {any} scene
 * @param {any} selection
 * @param {boolean} live whether Python answers
 * @returns {{node: HTMLElement, stop: () => void}}
 */
export function domainOf(scene, selection, live) {
  const unpacked = (/** @type {any} */ part) => part.layers.map((/** @type {any} */ layer) => ({ ...layer, points: numbers(layer.points) }));
  /** @type {Map<string, Element[]>} */
  const elements = new Map();
  const told = make("div", { class: "tl-domain-told", "aria-live": "polite" });
  const rest = scene.dims.length === 3 ? "Drag to turn; point at an instance, an element or a row of a matrix." : "Point at an instance, an element, a line or a row of a matrix.";
  const formulas = formulasOf(scene, elements);
  let lit = "";
  const light = (/** @type {string} */ key) => {
    for (const element of elements.get(lit) ?? []) element.classList.remove("tl-lit");
    for (const element of elements.get(key) ?? []) element.classList.add("tl-lit");
    lit = key;
  };
  const stage = new DomainStage(scene, unpacked(scene), (words, key) => {
    told.textContent = words || rest;
    light(key);
  });
  const time = scene.time ? timeOf(scene, unpacked(scene.time), stage, (/** @type {string} */ words) => (told.textContent = words || rest)) : null;
  told.textContent = rest;
  for (const [key, found] of elements) {
    for (const element of found) {
      element.addEventListener("pointerenter", () => {
        stage.light(key);
        stage.top([]);
        light(key);
      });
      element.addEventListener("pointerleave", () => {
        stage.light("");
        stage.top([]);
        light("");
      });
    }
  }
  /** @type {{x: number, y: number} | null} */
  let grip = null;
  stage.node.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (stage.space) grip = { x: event.clientX, y: event.clientY };
  });
  stage.node.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (grip && event.buttons) {
      stage.drag(event.clientX - grip.x, event.clientY - grip.y);
      grip = { x: event.clientX, y: event.clientY };
      return;
    }
    grip = null;
    const box = stage.node.getBoundingClientRect();
    stage.point(event.clientX - box.left, event.clientY - box.top);
  });
  stage.node.addEventListener("pointerleave", () => stage.point(-100, -100));
  const controls = controlsOf(scene, inInstants(stage), selection, live);
  const notes = scene.notes.map((/** @type {[string, string]} */ [text, colour]) => make("div", { style: `color:${colour}` }, text));
  const node = make(
    "div", { class: "tl-domain" },
    make("style", {}, DOMAIN_CSS),
    make("div", { style: "font-weight:600;margin-bottom:4px" }, scene.title),
    make(
      "div", { class: "tl-domain-row" },
      make("div", {}, time ? beside(stage, time) : stage.node, controls.node, told, make("pre", {}, scene.program), ...notes),
      make("div", {}, domainLegendOf(scene), ...formulas),
    ),
  );
  return { node, stop: controls.stop };
}
