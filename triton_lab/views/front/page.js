/** A page that stands alone: draws the scene that it carries. */

import { createSelection } from "./selection.js";
import { show } from "./view.js";

/**
 * The scene with `{base64: text}` replaced by the bytes.
 * @param {unknown} value
 * @returns {unknown}
 */
function decoded(value) {
  if (Array.isArray(value)) return /** @type {unknown[]} */ (value).map(decoded);
  if (value === null || typeof value !== "object") return value;
  if ("base64" in value && typeof value.base64 === "string") return bytesOf(value.base64);
  const entries = Object.entries(/** @type {Record<string, unknown>} */ (value));
  return Object.fromEntries(entries.map(([key, item]) => [key, decoded(item)]));
}

/** @param {string} text in base64 */
const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** @param {unknown} value */
const decode = (value) => /** @type {import("./scenes.js").Scene} */ (decoded(value));

const carried = document.querySelector("main script");
if (carried?.parentElement) {
  const bytes = new Blob([bytesOf(carried.textContent ?? "")]);
  const text = await new Response(bytes.stream().pipeThrough(new DecompressionStream("gzip"))).text();
  show(decode(JSON.parse(text)), carried.parentElement, createSelection({}));
}
