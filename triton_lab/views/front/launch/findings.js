/** Findings: what is wrong with a launch; one that is picked shows its line and its first program. */

import { make } from "../drawing/dom.js";

/**
 * @param {import("../scenes.js").FindingScene} finding
 * @param {import("../selection.js").Selection} selection
 */
export function findingOf(finding, selection) {
  const where = finding.line === null
    ? ""
    : make(
      "button",
      {
        type: "button", class: "tl-link", title: "show this line and the first program concerned",
        onclick: () => selection.set({ line: finding.line, program: finding.program }),
      },
      `line ${finding.line}:`,
    );
  return make(
    "div", { class: `tl-finding tl-${finding.severity}` },
    make("span", { class: "tl-icon", "aria-hidden": "true" }, finding.icon),
    make(
      "div", {},
      make("div", {}, make("b", {}, `${finding.severity}: `), where, where ? " " : "", finding.message),
      finding.excerpt.length ? make("pre", { class: "tl-excerpt" }, finding.excerpt.join("\n")) : "",
      make("div", { class: "tl-note" }, finding.hint),
    ),
  );
}
