/** The launch card: what ran, on what, what is wrong with it, and pictures that share one selection. */

import { make, passage } from "../drawing/dom.js";
import { tabsOf } from "../drawing/tabs.js";
import { findingOf } from "./findings.js";
import { pickedOf } from "./picked.js";
import { sourceOf } from "./source.js";
import { tableOf } from "./storage.js";
import { partOf } from "../part.js";

const ON_TOP = 2; // findings that stand above the tabs, if they are errors or warnings

/**
 * @param {import("../scenes.js").CardScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {import("../part.js").Part}
 */
export function cardOf(scene, selection, context) {
  const picked = pickedOf(scene.grid, selection);
  /** @type {{name: string, make: () => import("../part.js").Part}[]} */
  const tabs = scene.tabs.map((tab) => ({ name: tab.label, make: () => partOf(tab, selection, context) }));
  let first = Math.max(0, scene.tabs.findIndex((tab) => tab.name === scene.opened));
  const top = scene.findings.filter((one) => one.severity !== "note").slice(0, ON_TOP);
  if (scene.tabs.length && scene.findings.length > top.length) {
    tabs.push({ name: `Findings (${scene.findings.length})`, make: () => listOf(scene.findings, selection) });
    if (scene.show[0] === "findings") first = tabs.length - 1;
  }
  const { open } = context;
  const before = tabs.findIndex((tab) => tab.name === open?.tab);
  const panel = tabsOf(tabs, "tl-tabs", before < 0 ? first : before, (name) => open && (open.tab = name));
  const source = scene.tabs.length && scene.source.lines.length ? sectionOf(scene, selection) : null;
  const node = make(
    "div", { class: "tl-card", onkeydown: picked.onkeydown },
    make(
      "div", { class: "tl-header" },
      make("span", { class: "tl-kernel" }, scene.title),
      make("span", { class: "tl-facts", title: scene.unchecked }, scene.facts.join(" · ")),
      tabs.length ? picked.node : "",
    ),
    scene.table.length ? tableOf(scene.headings, scene.table) : "",
    ...scene.scalars.map((words) => make("div", { class: "tl-note" }, words)),
    scene.failure && !scene.told ? passage({ class: "tl-failure" }, "the error", scene.failure) : "",
    ...(scene.tabs.length ? top : scene.findings).map((one) => findingOf(one, selection)),
    scene.failure && scene.told
      ? make("details", { class: "tl-section" }, make("summary", {}, "The error as it was raised"), passage({ class: "tl-failure" }, "the error", scene.failure))
      : "",
    scene.configs.length ? configsOf(scene.configs) : "",
    ...scene.remarks.map((words) => make("div", { class: "tl-note" }, words)),
    source ? source.node : "",
    tabs.length ? panel.node : "",
  );
  return {
    node,
    draw() {
      source?.draw();
      panel.draw();
    },
    stop: panel.stop,
  };
}

/**
 * The source, open if it was asked for; it stands above the tabs so that any picture can answer it.
 * @param {import("../scenes.js").CardScene} scene
 * @param {import("../selection.js").Selection} selection
 */
function sectionOf(scene, selection) {
  const source = sourceOf(scene.source, selection);
  const node = make(
    "details", { class: "tl-section", open: scene.show.includes("source") }, make("summary", {}, "Source"), source.node,
  );
  // A finding's line is to be seen.
  selection.subscribe(({ line }) => line != null && (node.open = true));
  return { node, draw: source.draw };
}

/** @param {import("../scenes.js").FindingScene[]} findings @param {import("../selection.js").Selection} selection */
function listOf(findings, selection) {
  return { node: make("div", {}, ...findings.map((one) => findingOf(one, selection))), draw: () => {} };
}

/** @param {string[][]} configs */
function configsOf(configs) {
  return make(
    "details", { class: "tl-configs" },
    make("summary", {}, `autotuned: ${configs.length} configs, fastest ${configs[0][0]}`),
    tableOf(["config", "time"], configs),
  );
}
