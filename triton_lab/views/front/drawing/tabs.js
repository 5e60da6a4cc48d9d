/** Tabs; a tab's content is made when it is first shown. Arrow keys move between them, others are the content's. */

import { emptyCanvases, make } from "./dom.js";
import { explain, explanationOf } from "./explained.js";

/** @typedef {{node: HTMLElement, draw: () => void, stop?: () => void, onkeydown?: (event: KeyboardEvent) => void}} Shown */

/**
 * @param {{name: string, make: () => Shown}[]} tabs
 * @param {string} look
 * @param {number} first
 * @param {(number: number) => void} onpick called with the number of the opened tab
 */
export function tabsOf(tabs, look = "tl-tabs", first = 0, onpick = () => {}) {
  /** @type {(Shown | undefined)[]} */
  const parts = [];
  const place = make("div", { role: "tabpanel" });
  let shown = first;
  let ready = false;
  /** @param {number} number */
  const show = (number) => {
    const before = parts[shown];
    if (before && number !== shown) emptyCanvases(before.node);
    shown = number;
    buttons.forEach((button, k) => {
      button.setAttribute("aria-selected", String(k === number));
      button.tabIndex = k === number ? 0 : -1;
    });
    const part = (parts[number] ??= tabs[number].make());
    place.replaceChildren(part.node);
    place.setAttribute("aria-label", tabs[number].name);
    if (ready) part.draw();
  };
  const buttons = tabs.map(({ name }, k) => make("button", { role: "tab", type: "button", onclick: () => pick(k) }, name));
  if (look === "tl-tabs") tabs.forEach(({ name }, k) => explain(buttons[k], explanationOf(name, "tab"), buttons[k], true));
  const pick = (/** @type {number} */ number) => {
    onpick(number);
    show(number);
  };
  const toShown = (/** @type {KeyboardEvent} */ event) => parts[shown]?.onkeydown?.(event);
  /** @param {KeyboardEvent} event */
  const onkeydown = (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return toShown(event);
    pick((shown + step + tabs.length) % tabs.length);
    buttons[shown].focus();
    event.preventDefault();
    event.stopPropagation();
  };
  const list = make("div", { role: "tablist", class: look, onkeydown }, ...buttons);
  if (tabs.length) show(first);
  return {
    node: make("div", {}, tabs.length > 1 ? list : "", place),
    show,
    shown: () => shown,
    onkeydown: toShown,
    draw() {
      ready = true;
      parts[shown]?.draw();
    },
    stop: () => parts.forEach((part) => part?.stop?.()),
  };
}
