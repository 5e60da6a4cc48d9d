/** Knobs on a picture: dragged by the pointer, moved by keys. */

import { make } from "./dom.js";

/**
 * A knob that keys move, too.
 * @template Step
 * @param {string} kind its classes
 * @param {string} name
 * @param {Record<string, Step>} steps what each key does
 * @param {(step: Step) => void} move
 */
export function knobOf(kind, name, steps, move) {
  return make("button", {
    type: "button", class: kind, role: "slider", "aria-label": name, title: name,
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (!Object.hasOwn(steps, event.key) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      move(steps[event.key]);
    },
  });
}

/**
 * Tell where the pointer drags a knob; what lies under it is not pressed.
 * @param {HTMLElement} node @param {(event: PointerEvent) => void} to @param {() => void} begin
 */
export function dragged(node, to, begin = () => {}) {
  node.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    node.setPointerCapture(event.pointerId);
    begin();
  });
  node.addEventListener("pointermove", (event) => {
    event.stopPropagation();
    if (node.hasPointerCapture(event.pointerId)) to(event);
  });
  node.addEventListener("click", (event) => event.stopPropagation());
}
