/** A question before a picture, which is shown once the reader has answered. */

import { make } from "./drawing/dom.js";
import { tr } from "./localization.js";

/** @typedef {import("./scenes.js").PredictionScene} Scene */

const LETTERS = "abcdefghi"; // the keys of the choices, which may be numbers themselves

/**
 * Whether an answer is right: the index of a choice, or a number.
 * @param {Pick<Scene, "choices" | "right" | "number" | "within">} scene @param {number} given
 */
export const isRight = ({ choices, right, number, within }, given) =>
  choices.length ? given === right : Math.abs(given - number) <= within + 1e-9 * Math.abs(number);

/**
 * @param {Scene} scene
 * @param {import("./selection.js").Selection} selection
 * @param {import("./part.js").Context} context
 * @returns {import("./part.js").Part}
 */
export function predictionOf(scene, selection, context) {
  const { question, choices, answer, why } = scene;
  const place = make("div");
  const verdict = make("div", { class: "tl-verdict", role: "status", "aria-live": "polite" });
  /** @type {import("./part.js").Part | null} */
  let part = null;
  let open = false;
  const buttons = choices.map((choice, k) => make("button", { type: "button", class: "tl-step tl-answer", onclick: () => give(k) }, make("kbd", {}, LETTERS[k] ?? ""), ` ${choice}`));
  const field = make("input", { type: "number", step: "any", class: "tl-count tl-typed", "aria-label": tr("your answer"), onkeydown: (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    typed();
  } });
  const check = make("button", { type: "button", class: "tl-step", onclick: () => typed() }, tr("answer"));
  const skip = make("button", { type: "button", class: "tl-link", onclick: () => reveal() }, tr("show the picture without an answer"));

  function typed() {
    if (field.value !== "" && Number.isFinite(Number(field.value))) give(Number(field.value));
  }
  /** @param {number} given */
  function give(given) {
    const right = isRight(scene, given);
    verdict.classList.toggle("tl-right", right);
    verdict.replaceChildren(make("b", {}, right ? tr("✓ Right: {answer}.", { answer }) : tr("✗ Not this: the answer is {answer}.", { answer })), " ", why);
    buttons.forEach((button, k) => {
      button.classList.toggle("tl-picked-answer", k === given);
      button.setAttribute("aria-pressed", String(k === given));
      button.classList.toggle("tl-right", k === scene.right);
    });
    reveal();
  }
  function reveal() {
    if (open) return;
    open = true;
    skip.remove();
    context.ask("picture", (found) => {
      part = context.draw(found, selection, context);
      place.replaceChildren(part.node);
      part.draw();
    });
  }
  /** @param {KeyboardEvent} event */
  const onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === field) return;
    const k = event.key.length === 1 ? LETTERS.indexOf(event.key.toLowerCase()) : -1;
    if (!(k in buttons) || place.contains(/** @type {Node} */ (event.target))) return;
    give(k);
    event.preventDefault();
    event.stopPropagation();
  };
  const node = make(
    "div", { class: "tl-prediction", onkeydown },
    make("div", { class: "tl-asked", tabindex: 0, role: "group", "aria-label": question }, make("div", { class: "tl-title" }, question), make("div", { class: "tl-controls" }, ...(choices.length ? buttons : [field, check]), skip), verdict),
    place,
  );
  return { node, draw: () => part?.draw(), stop: () => part?.stop?.() };
}
