/** Words that are explained when they are pointed at or come to with the Tab key: the explanations are `glossary.py`'s. */

import { englishOf, tr } from "../localization.js";
import { make } from "./dom.js";
import { GLOSSARY } from "./glossary.js";
import { placeBeside } from "./readout.js";

/**
 * What is told of a word, "" for nothing.
 * @param {string} word as it is shown @param {string} kind where one word means several things
 */
export function explanationOf(word, kind = "") {
  const key = englishOf(word);
  const known = /** @type {Record<string, string>} */ (GLOSSARY);
  const names = kind ? [`${key}:${kind}`, `${kind}:${key}`, key] : [key];
  // A word of a saved output may be that of something that every object has.
  const found = names.find((name) => Object.hasOwn(known, name));
  return found === undefined ? "" : tr(known[found]);
}

/**
 * The word, explained if it is known: it can be focused, and a screen reader reads the explanation.
 * @param {string} word @param {string} told @param {import("./dom.js").Attributes} attributes
 * @returns {HTMLElement}
 */
export function wordOf(word, told = explanationOf(word), attributes = {}) {
  const look = told ? "tl-word" : "";
  const node = make("span", { ...attributes, class: [look, attributes.class ?? ""].filter(Boolean).join(" "), ...(told ? { tabindex: 0 } : {}) }, word);
  if (told) explain(node, told);
  return node;
}

/**
 * Have a node explained by words beside it, which are its description for those who cannot see them appear.
 * @param {HTMLElement} node what is pointed at
 * @param {string} told
 * @param {HTMLElement} focused what has the keyboard: the node, or a control in it
 * @param {boolean} above where what stands below is what one is on the way to
 */
export function explain(node, told, focused = node, above = false) {
  if (!told) return;
  focused.setAttribute("aria-description", told);
  // Beside the node and there only while it is seen: inside, it would be a part of the name of a button.
  const tip = make("span", { class: "tl-tip", role: "tooltip", popover: "manual", "aria-hidden": "true" }, told);
  const hide = () => {
    window.removeEventListener("scroll", hide, true);
    tip.remove();
  };
  const show = () => {
    if (!node.isConnected || tip.isConnected) return;
    node.after(tip);
    tip.showPopover();
    const { width, height } = tip.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const { left, top, bottom } = node.getBoundingClientRect();
    const [x, y] = placeBeside({ left, top, right: left - 8, bottom: bottom - 4 }, [width, height], [clientWidth, clientHeight]);
    const over = top - height - 4;
    tip.style.left = `${x}px`;
    tip.style.top = `${above && over > 0 ? over : y}px`;
    window.addEventListener("scroll", hide, { capture: true, passive: true });
  };
  node.addEventListener("pointerenter", show);
  node.addEventListener("pointerleave", hide);
  node.addEventListener("click", hide); // who uses it knows it
  focused.addEventListener("focus", show);
  focused.addEventListener("blur", hide);
  focused.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}
