/** The scene that an element of a page of ours carries as its text. */

import { decoded, unzipped } from "./packed.js";

const MOST_CARRIED = 1 << 30; // bytes: the page is our own

/**
 * @param {Element | null} carrier
 * @returns {Promise<import("./scenes.js").Scene>}
 */
export async function carriedBy(carrier) {
  return /** @type {import("./scenes.js").Scene} */ (decoded(await unzipped(carrier?.textContent ?? "", MOST_CARRIED)));
}
