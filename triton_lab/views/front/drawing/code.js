/** Lines of source code. */

import { make } from "./dom.js";

/** A line of code; where it is too long it goes on below, further in than it began. @param {string} text */
export function codeOf(text) {
  const indent = text.length - text.trimStart().length;
  return make("span", { class: "tl-code", style: `--tl-indent:${indent + 4}ch` }, text);
}
