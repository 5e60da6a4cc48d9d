/** A program with its maximal affine parts marked, and the domain of the part that was chosen. */

import { make } from "./dom.js";
import { domainOf } from "./polyhedral_domain.js";
import { DOMAIN_CSS } from "./polyhedral_words.js";

const CSS = `
.tl-parts { font: 12px "DejaVu Sans Mono", ui-monospace, monospace; line-height: 1.5; margin: 4px 0 10px; }
.tl-parts-line { display: block; width: 100%; text-align: left; font: inherit; color: #1f2328; background: none; border: 0; border-left: 6px solid transparent; padding: 0 8px; white-space: pre; }
.tl-parts-line[data-part] { cursor: pointer; }
.tl-parts-line.tl-chosen { background: #eeeeee; }
.tl-parts-reason { padding-left: 36px; font: 12px "DejaVu Sans", system-ui, sans-serif; }
`;

/** @param {any} scene @param {any} selection @returns {{node: HTMLElement, stop: () => void}} */
export function maximalOf(scene, selection) {
  const place = make("div", {});
  let stop = () => {};
  /** @type {HTMLElement[]} */
  const lines = [];
  const choose = (/** @type {number} */ part) => {
    for (const line of lines) line.classList.toggle("tl-chosen", line.dataset.part === String(part));
    stop();
    place.replaceChildren();
    stop = () => {};
    if (!scene.scenes[part]) {
      place.append(make("div", {}, `part ${part} has no loop: one instance`));
      return;
    }
    const shown = domainOf(scene.scenes[part], selection, false);
    stop = shown.stop;
    place.append(shown.node);
  };
  const listing = make("div", { class: "tl-parts" });
  for (const { text, part, reasons } of scene.lines) {
    if (part === null) listing.append(make("div", { class: "tl-parts-line" }, text || " "));
    else {
      const line = make("button", { type: "button", class: "tl-parts-line", style: `border-left-color:${scene.colours[part]}`, title: `part ${part}`, onclick: () => choose(part) }, text || " ");
      line.dataset.part = String(part);
      lines.push(line);
      listing.append(line);
    }
    for (const reason of reasons) listing.append(make("div", { class: "tl-parts-reason", style: `color:${scene.refused}` }, reason));
  }
  const node = make("div", { class: "tl-domain" }, make("style", {}, DOMAIN_CSS + CSS), make("div", { style: "font-weight:600;margin-bottom:4px" }, scene.title), listing, place);
  const first = scene.scenes.findIndex((/** @type {any} */ one) => one !== null);
  if (first >= 0) choose(first);
  return { node, stop: () => stop() };
}
