/** Findings: what is wrong with a launch; one that is picked shows its line and its first program. */

import { make, passage } from "../drawing/dom.js";
import { countOf } from "../drawing/words.js";

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
 * How many there are beside those that are `told`, the gravest first: `1 more error, 2 notes`.
 * @param {{severity: string}[]} rest
 * @param {{severity: string}[]} told
 */
export function countedOf(rest, told) {
  const severities = ["error", "warning", "note"];
  return severities.map((severity) => {
    const number = rest.filter((one) => one.severity === severity).length;
    const more = told.some((one) => one.severity === severity) ? "more " : "";
    return number ? countOf(number, `${more}${severity}`) : "";
  }).filter(Boolean).join(", ");
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
