/** The launch card: what ran, on what, what is wrong with it, and pictures that share one selection. */

import { make, passage } from "../drawing/dom.js";
import { tabsOf } from "../drawing/tabs.js";
import { callProgram } from "../drawing/words.js";
import { comparingOf, countedOf, findingOf } from "./findings.js";
import { pickedOf } from "./picked.js";
import { sourceOf } from "./source.js";
import { tableOf } from "../drawing/table.js";
import { partOf } from "../part.js";
import { fitPlace, isFaulty, notePicked, pickedAgain, placeWords } from "../place.js";
import { scoped } from "../selection.js";
import { tr } from "../localization.js";

const ON_TOP = 2; // findings that stand above the tabs, if they may explain a wrong result

/**
 * If the kernel ran before, its card opens at the same place; errors of the launch come first.
 * @param {import("../scenes.js").CardScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {import("../part.js").Part}
 */
export function cardOf(scene, selection, context) {
  const place = context.open ?? {};
  fitPlace(place, scene);
  const words = place.earlier && isFaulty(scene) ? placeWords(place, scene, callProgram) : "";
  place.earlier = false;
  if (!words) return bodyOf(scene, selection, { ...context, open: place });
  const node = make("div");
  const own = scoped(selection, () => node.isConnected);
  const goBack = () => {
    own.stop();
    part.stop?.();
    selection.set({ program: null, iteration: null, line: null, pointed: null });
    part = bodyOf(scene, selection, { ...context, open: place });
    node.replaceChildren(part.node);
    part.draw();
    /** @type {HTMLElement | null} */ (node.querySelector("[role=tab][aria-selected=true]"))?.focus();
  };
  const back = make("button", { type: "button", class: "tl-link", title: tr("your place before the cell ran again"), onclick: goBack }, tr("back to {place}", { place: words }));
  // What is picked at the fault is of this launch alone.
  let part = bodyOf(scene, own.selection, { ...context, open: {} }, back);
  node.append(part.node);
  return {
    node,
    draw: () => part.draw(),
    stop() {
      own.stop();
      part.stop?.();
    },
  };
}

/**
 * @param {import("../scenes.js").CardScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context & {open: import("../place.js").Place}} context
 * @param {HTMLElement | ""} back
 * @returns {import("../part.js").Part}
 */
function bodyOf(scene, selection, context, back = "") {
  const { open } = context;
  const linked = context.link?.(scene, selection, context.ask);
  context = { ...context, linked };
  selection.set(pickedAgain(open, scene));
  const forget = selection.subscribe((now) => notePicked(open, scene, now));
  const picked = pickedOf(scene.grid, selection);
  /** @type {{name: string, make: () => import("../part.js").Part}[]} */
  const tabs = scene.tabs.map((tab) => ({ name: tab.label, make: () => partOf(tab, selection, context) }));
  let first = Math.max(0, scene.tabs.findIndex((tab) => tab.name === scene.opened));
  const top = scene.findings.filter((one) => one.severity !== "note" || one.explains).slice(0, ON_TOP);
  if (scene.tabs.length && scene.findings.length > top.length) {
    tabs.push({ name: tr("Findings ({count})", { count: scene.findings.length }), make: () => listOf(scene.findings, selection, linked) });
    if (scene.show[0] === "findings") first = tabs.length - 1;
  }
  const names = [...scene.tabs.map((tab) => tab.name), "findings"].slice(0, tabs.length);
  const before = names.indexOf(open.tab ?? "");
  const panel = tabsOf(tabs, "tl-tabs", before < 0 ? first : before, (number) => (open.tab = names[number]));
  const toFindings = () => {
    open.tab = "findings";
    panel.show(tabs.length - 1);
    /** @type {HTMLElement | null} */ (panel.node.querySelector("[role=tab][aria-selected=true]"))?.focus();
  };
  // The tab is the last of many, and does not say what it has.
  const rest = scene.findings.filter((one) => !top.includes(one));
  const more = scene.tabs.length && rest.length
    ? make("div", { class: "tl-note" }, `${rest[0].icon} `, make("button", { type: "button", class: "tl-link", onclick: toFindings }, countedOf(rest, top)))
    : "";
  const source = scene.tabs.length && scene.source.lines.length ? sectionOf(scene, selection, open, linked) : null;
  const raised = scene.failure && scene.told
    ? make("details", { class: "tl-section" }, make("summary", {}, tr("The original error")), passage({ class: "tl-failure" }, tr("the error"), scene.failure))
    : "";
  const node = make(
    "div", { class: "tl-card", onkeydown: picked.onkeydown },
    make(
      "div", { class: "tl-header" },
      make("span", { class: "tl-kernel" }, scene.title),
      make("span", { class: "tl-facts", title: scene.unchecked }, scene.facts.join(" · ")),
      back, tabs.length ? picked.node : "",
    ),
    scene.table.length ? tableOf(scene.headings, scene.table) : "",
    scene.scalars.length ? make("div", { class: "tl-note" }, scene.scalars.join(" · ")) : "",
    scene.failure && !scene.told ? passage({ class: "tl-failure" }, tr("the error"), scene.failure) : "",
    ...(scene.tabs.length ? top : scene.findings).map((one) => findingOf(one, selection, linked)),
    more,
    ...scene.remarks.map((words) => make("div", { class: "tl-note" }, words)),
    raised || source ? make("div", { class: "tl-folded" }, source ? source.node : "", raised) : "",
    tabs.length ? panel.node : "",
    scene.compare ? comparingOf(scene.compare) : "",
  );
  return {
    node,
    draw() {
      source?.draw();
      panel.draw();
    },
    stop() {
      forget();
      linked?.stop();
      panel.stop();
    },
  };
}

/**
 * The source, open if it was asked for; it stands above the tabs so that any picture can answer it.
 * @param {import("../scenes.js").CardScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../place.js").Place} place
 * @param {import("../linked.js").Linked} [linked]
 */
function sectionOf(scene, selection, place, linked) {
  const source = sourceOf(scene.source, selection, linked);
  const file = scene.source.place?.path.split("/").pop();
  const opens = linked && file
    ? make("button", { type: "button", class: "tl-link", onclick: () => linked.go(scene.source.first, true) }, tr("open {file} at line {line}", { file, line: scene.source.first }))
    : "";
  const node = make(
    "details",
    { class: "tl-section", open: place.source ?? scene.show.includes("source"), ontoggle: () => (place.source = node.open) },
    make("summary", {}, tr("Source")), opens, source.node,
  );
  // A finding's line is to be seen; where the source stands beside the stages of the compiler, it is.
  selection.subscribe(({ line }) => line != null && !node.closest(".tl-card")?.querySelector(".tl-stages") && (node.open = true));
  return { node, draw: source.draw };
}

/**
 * @param {import("../scenes.js").FindingScene[]} findings
 * @param {import("../selection.js").Selection} selection
 * @param {import("../linked.js").Linked} [linked]
 */
function listOf(findings, selection, linked) {
  return { node: make("div", {}, ...findings.map((one) => findingOf(one, selection, linked))), draw: () => {} };
}
