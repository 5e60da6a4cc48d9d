/** A proof: the verdicts, the assumptions folded away below them, and what is refuted. */

import { make } from "./drawing/dom.js";
import { trn } from "./localization.js";

/**
 * @param {import("./scenes.js").ProofScene} scene
 * @param {import("./selection.js").Selection} selection
 * @param {import("./part.js").Context} context
 * @returns {import("./part.js").Part}
 */
export function proofOf(scene, selection, context) {
  const { assumptions } = scene;
  const [verdicts, ...refuted] = [scene.drawing, ...(scene.refuted ? [scene.refuted] : [])].map((one) => context.draw(one, selection, context));
  const count = assumptions.length;
  const folded = count
    ? [make("details", { class: "tl-section" }, make("summary", {}, trn("as long as {count} condition holds", "as long as {count} conditions hold", count, { count })), make("ul", {}, ...assumptions.map((one) => make("li", {}, one))))]
    : [];
  return { node: make("div", {}, verdicts.node, ...folded, ...refuted.map((part) => part.node)), draw: () => [verdicts, ...refuted].forEach((part) => part.draw()) };
}
