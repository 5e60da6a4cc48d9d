/** Findings: what is wrong with a launch; one that is picked shows its line and its first program. */

import { make, passage } from "../drawing/dom.js";

/**
 * @param {import("../scenes.js").FindingScene} finding
 * @param {import("../selection.js").Selection} selection
 * @param {import("../linked.js").Linked} [linked]
 */
export function findingOf(finding, selection, linked) {
  const where = finding.line === null
    ? ""
    : make(
      "button",
      {
        type: "button", class: "tl-link", title: "show this line and the first program concerned",
        onclick: () => {
          selection.set({ line: finding.line, program: finding.program });
          if (finding.line !== null) linked?.go(finding.line, true);
        },
      },
      `${finding.where ?? `line ${finding.line}`}:`,
    );
  return make(
    "div", { class: `tl-finding tl-${finding.severity}` },
    make("span", { class: "tl-icon", "aria-hidden": "true" }, finding.icon),
    make(
      "div", {},
      make("div", {}, make("b", {}, `${finding.severity}: `), where, where ? " " : "", finding.message),
      finding.excerpt.length ? passage({ class: "tl-excerpt" }, "where", finding.excerpt.join("\n")) : "",
      ...finding.orders.map((line) => make("div", {}, line)),
      make("div", { class: "tl-note" }, finding.hint, finding.fix ? " A fix, tried on copies:" : ""),
      ...(finding.fix ?? []).map(fixOf),
    ),
  );
}

/**
 * A line to write in place of another, and a button that copies it.
 * @param {[number, string, string]} edit
 */
function fixOf([line, before, after]) {
  const copy = make("button", {
    type: "button", class: "tl-link", title: `instead of ${before.trim()}`,
    onclick: () => navigator.clipboard?.writeText(after).then(() => (copy.textContent = "Copied")),
  }, "Copy");
  return make(
    "div", { class: "tl-fix" },
    make("span", { class: "tl-note" }, `line ${line}`), passage({ class: "tl-excerpt" }, "the fix", after), copy,
  );
}
