/** The iteration domain, live: play its order, point at instances, elements and constraints, turn space, move sliders. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { svgOf } from "../drawing/drawing.js";
import { goesOn } from "../drawing/scroller.js";
import { themeOf } from "../drawing/theme.js";
import { askedOf, controlsOf } from "./controls.js";
import { choosing, pointOf } from "./instances.js";
import { movingOf } from "./moving.js";
import { DomainStage } from "./stage.js";
import { formulasOf } from "./words.js";
import { tr } from "../localization.js";

/** @typedef {import("../scenes.js").IterationScene} Scene */
/** @typedef {import("../part.js").Part} Part */

const ROW_GAP = 50; // pixels between domain and time
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

/** A stage with its name. @param {DomainStage} stage */
const titled = (stage) => make("div", {}, make("div", { class: "tl-note" }, stage.scene.name), ...framed(stage));

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
 * @param {Pick<import("../part.js").Context, "live" | "ask" | "open"> | null} context null for a domain that no one can change
 * @returns {Part}
 */
export function domainOf(scene, selection, context = null) {
  const live = Boolean(context?.live);
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
  const choose = (/** @type {number[]} */ visits) => {
    stage.choose(visits);
    if (live) selection.set({ instance: visits.length ? pointOf(stage, visits[0]) : null });
  };
  choosing(stage, choose);
  const slot = make("div", { class: "tl-domain-time" });
  /** @type {DomainStage | null} */
  let time = null;
  const showTime = (/** @type {import("../scenes.js").PlaneScene | null} */ plane) => {
    stage.other = time = plane && timeOf(scene, plane, stage, (words) => (told.textContent = words || rest));
    slot.replaceChildren(...(time ? [titled(time)] : []));
    if (!time) return null;
    const own = time;
    own.chosen = stage.chosen.flatMap((v) => own.turns.get(stage.places[v]) ?? []);
    own.onlit = (statements) => statements.length && stage.onlit(statements);
    choosing(own, (visits) => choose(visits.flatMap((v) => stage.turns.get(own.places[v]) ?? [])));
    return time;
  };
  showTime(scene.time);
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
  const asked = live ? askedOf(scene, selection) : null;
  let controls = controlsOf(inInstants(stage));
  const bar = make("div", {}, controls.node);
  const controlAgain = () => {
    controls.stop();
    controls = controlsOf(inInstants(stage));
    bar.replaceChildren(controls.node);
  };
  const program = make("pre", {}, ...linesOf(scene));
  const notes = make("div", { role: "status" }, ...notesOf(scene.notes));
  stage.onlit = (statements) => {
    for (const line of program.querySelectorAll("[data-statement]")) line.classList.toggle("tl-lit", statements.includes(line.getAttribute("data-statement") ?? ""));
  };
  stage.choose(scene.chosen);
  let ready = false; // the theme is known
  const moving = context && movingOf(scene, stage, {
    place: context.open ?? {},
    ask: live ? (name, then) => context.ask(name.replace("order/", selection.get().automatic ? "order/isl/" : "order/own/"), then) : null,
    time(plane) {
      const shown = showTime(plane ?? scene.time);
      if (shown && ready) shown.draw(themeOf(node));
      if (ready && arrange()) stage.draw(themeOf(node));
      return shown;
    },
    words(written, lines) {
      program.toggleAttribute("aria-busy", !written);
      if (written) program.replaceChildren(...linesOf(written));
      notes.replaceChildren(...notesOf(lines));
      controlAgain();
    },
  });
  const legend = make("div");
  const node = make(
    "div", { class: "tl-domain" },
    make("div", { class: "tl-domain-title" }, scene.title),
    make(
      "div", { class: "tl-domain-row" },
      make(
        "div", {},
        make("div", { class: "tl-domain-row" }, scene.time || moving ? titled(stage) : make("div", {}, ...framed(stage)), slot),
        make("div", { class: "tl-domain-row" }, make("div", {}, bar, ...(moving ? [moving.node] : []), ...(asked ? [asked] : []), told), make("div", { class: "tl-domain-words" }, program, notes)),
      ),
      make("div", { class: "tl-domain-side" }, legend, ...formulas),
    ),
  );
  // Its size is not known before it is in the page.
  const arrange = () => {
    if (!node.clientWidth) return false;
    const room = node.clientWidth - DOMAIN_PADDING;
    // The arrays leave room for time beside the domain.
    const left = time ? room - time.plot.width - ROW_GAP : room;
    return stage.arrange(left >= stage.plot.width ? left : room);
  };
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
      if (!ready) moving?.start();
      ready = true;
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
  return domainOf(scene, selection, context);
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

/** The lines of a program, with the statement that each runs. @param {{program: string, runs: string[]}} scene */
function linesOf({ program, runs }) {
  return program.split("\n").flatMap((line, k) => [k ? "\n" : "", runs[k] ? make("span", { "data-statement": runs[k] }, line) : line]);
}

/** @param {[string, string][]} notes */
const notesOf = (notes) => notes.map(([text, tone]) => make("div", { class: `tl-tone-${tone}` }, text));

/** The loops of an order, and whether it is legal. @type {import("../part.js").Draw<import("../scenes.js").MovedScene>} */
export function movedOf(scene) {
  return { node: make("div", {}, make("pre", {}, ...linesOf(scene)), ...notesOf(scene.notes)), draw: () => {} };
}
