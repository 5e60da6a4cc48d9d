/** A table under headings that are explained. */

import { make } from "./dom.js";
import { explanationOf, wordOf } from "./explained.js";

const SHORT = 20; // characters: numbers are not broken at their signs, sentences are wrapped

/**
 * @param {string[]} headings
 * @param {string[][]} rows
 */
export function tableOf(headings, rows) {
  const head = make("tr", {}, ...headings.map((words) => make("th", { scope: "col" }, words && wordOf(words, explanationOf(words, "heading")))));
  const body = rows.map((row) =>
    make("tr", {}, ...row.map((words, k) => (k ? make("td", { class: words.length <= SHORT ? "tl-short" : "" }, words) : make("th", { scope: "row" }, words)))),
  );
  return make("table", { class: "tl-table" }, make("thead", {}, head), make("tbody", {}, ...body));
}

/**
 * A table that is folded away under a few words.
 * @param {string} summary
 * @param {string[]} headings
 * @param {string[][]} rows
 */
export function foldedTable(summary, headings, rows) {
  return make(
    "details", { class: "tl-section" },
    make("summary", {}, summary), make("div", { class: "tl-scroll", tabindex: 0, role: "group", "aria-label": summary }, tableOf(headings, rows)),
  );
}
