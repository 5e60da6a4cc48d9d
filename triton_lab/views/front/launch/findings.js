/** Findings: what is wrong with a launch; one that is picked shows its line and its first program. */

import { make, passage } from "../drawing/dom.js";
import { countOf } from "../drawing/words.js";
import { tr } from "../localization.js";

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
        type: "button", class: "tl-link", title: tr("show this line and the first program of the finding"),
        onclick: () => {
          selection.set({ line: finding.line, program: finding.program });
          if (finding.line !== null) linked?.go(finding.line, true);
        },
      },
      `${finding.where ?? tr("line {number}", { number: finding.line ?? "" })}:`,
    );
  return make(
    "div", { class: `tl-finding tl-${finding.severity}` },
    make("span", { class: "tl-icon", "aria-hidden": "true" }, finding.icon),
    make(
      "div", {},
      make("div", {}, make("b", {}, `${severityOf(finding.severity)}: `), where, where ? " " : "", finding.message),
      finding.excerpt.length ? passage({ class: "tl-excerpt" }, tr("where"), finding.excerpt.join("\n")) : "",
      ...finding.orders.map((line) => make("div", {}, line)),
      make(
        "div", { class: "tl-hint" },
        make("div", { class: "tl-note" }, finding.hint, finding.fix ? ` ${tr("A fix, tried on copies:")}` : ""), pageOf(finding),
      ),
      ...(finding.fix ?? []).map(fixOf),
    ),
  );
}

/**
 * What the kind of a finding means, folded below its name, which stands beside what to do.
 * @param {import("../scenes.js").FindingScene} finding
 */
function pageOf({ sort, about, page }) {
  if (!sort || !about) return "";
  // A saved output may come from anyone: only an address of the web is a link.
  const link = page && /^https?:\/\//.test(page)
    ? make("div", {}, make("a", { href: page, target: "_blank", rel: "noopener noreferrer" }, page))
    : "";
  return make(
    "details", { class: "tl-about" },
    make("summary", {}, sort), ...about.map((words) => make("div", {}, words)), link,
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
    if (!number) return "";
    const more = told.some((one) => one.severity === severity);
    return severitiesOf(number, severity, more);
  }).filter(Boolean).join(", ");
}

/**
 * A line to write in place of another, and a button that copies it.
 * @param {[number, string, string]} edit
 */
function fixOf([line, before, after]) {
  return make(
    "div", { class: "tl-fix" },
    make("span", { class: "tl-note" }, tr("line {number}", { number: line })), passage({ class: "tl-excerpt" }, tr("the fix"), after),
    copyOf(after, tr("instead of {code}", { code: before.trim() })),
  );
}

/** A button that copies code. @param {string} code @param {string} title */
function copyOf(code, title) {
  const copy = make("button", {
    type: "button", class: "tl-link", title,
    onclick: () => navigator.clipboard?.writeText(code).then(() => (copy.textContent = tr("Copied"))),
  }, tr("Copy"));
  return copy;
}

/** A call that compares the launch with what is expected, to be copied into a cell. @param {string} call */
export function comparingOf(call) {
  return make(
    "div", { class: "tl-comparing" },
    make("span", { class: "tl-note" }, tr("Is it right? Compare with what you expect:")),
    passage({ class: "tl-excerpt" }, tr("the call"), call), copyOf(call, tr("for a new cell")),
  );
}

/** A severity in the language of the page. @param {string} severity */
const severityOf = (severity) => (severity === "error" ? tr("error") : severity === "warning" ? tr("warning") : tr("note"));

/** `2 errors`, `2 more errors`. @param {number} count @param {string} severity @param {boolean} more */
function severitiesOf(count, severity, more) {
  if (severity === "error") return more ? countOf(count, "more error") : countOf(count, "error");
  if (severity === "warning") return more ? countOf(count, "more warning") : countOf(count, "warning");
  return more ? countOf(count, "more note") : countOf(count, "note");
}
