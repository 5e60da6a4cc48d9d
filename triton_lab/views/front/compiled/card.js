/** What was compiled: a table of what it takes, and where no launch is shown a card with all pictures of it. */

import { make } from "../drawing/dom.js";
import { tabsOf } from "../drawing/tabs.js";
import { tableOf } from "../drawing/table.js";
import { partOf } from "../part.js";

/**
 * @param {import("../scenes.js").CompiledScene} scene
 * @returns {import("../part.js").Part}
 */
export function compiledOf({ title, problems, headings, table }) {
  const node = make(
    "div", {},
    make("div", { class: "tl-title" }, title),
    ...problems.map((problem) => make("div", { class: "tl-wrong", role: "note" }, problem)),
    make("div", { class: "tl-scroll tl-indented", tabindex: 0, role: "group", "aria-label": title }, tableOf(headings, table)),
  );
  return { node, draw: () => {} };
}

/**
 * @param {import("../scenes.js").CompilationScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {import("../part.js").Part}
 */
export function compilationOf(scene, selection, context) {
  const tabs = scene.tabs.map((tab) => ({ name: tab.label, make: () => partOf(tab, selection, context) }));
  const panel = tabsOf(tabs);
  const node = make(
    "div", { class: "tl-card" },
    make(
      "div", { class: "tl-header" },
      make("span", { class: "tl-kernel" }, scene.title),
      make("span", { class: "tl-facts" }, scene.facts.join(" · ")),
    ),
    panel.node,
  );
  return { node, draw: panel.draw, stop: panel.stop };
}
