/** Draws a scene by its kind, and follows the theme. */

import { make } from "./drawing/dom.js";
import { onThemeChange, themeOf } from "./drawing/theme.js";
import { keepKeyboard, keyboardAgain, noteKeyboard } from "./focus.js";
import { KINDS } from "./kinds.js";
import { keepKeys } from "./keys.js";
import { wordsOf } from "./part.js";
import { createSupply } from "./supply.js";
import { catalogueInUse, inLanguage, keepLanguage, tr } from "./localization.js";

/** @typedef {import("./scenes.js").Scene} Scene */

/** @type {import("./part.js").Draw<Scene>} */
function drawn(scene, selection, context) {
  const own = /** @type {import("./part.js").Draw<Scene>} */ (KINDS[scene.kind]);
  return own(scene, selection, context);
}

/**
 * The same for a picture from an unknown source: if it cannot be drawn, a text replaces it.
 * @type {import("./part.js").Draw<Scene>}
 */
function drawnIfSound(scene, selection, context) {
  const part = attempt(() => drawn(scene, selection, context));
  if (!part) return wordsOf({ kind: "words", text: damaged() });
  const draw = () => {
    if (!attempt(() => [part.draw()])) part.node.replaceChildren(damaged());
  };
  return { ...part, draw };
}

const damaged = () => tr("This picture is damaged, or was saved by another version of triton-lab. Run the cell again to see it.");

/**
 * @template Made
 * @param {() => Made} make
 * @returns {Made | null}
 */
function attempt(make) {
  try {
    return make();
  } catch {
    return null;
  }
}

/**
 * Put a scene into an element; returns how to take it out again.
 * @param {Scene} scene
 * @param {HTMLElement} place
 * @param {import("./selection.js").Selection} selection
 * @param {import("./supply.js").Channel | null} model who makes the parts that are not there yet; null on a page without a kernel
 * @param {boolean} wary whether the scene comes from an unknown source
 * @param {import("./place.js").Place} open the user's place in the card that was here before, and in this one
 * @param {import("./linked.js").Link} [link] what shows the lines of kernels
 * @param {import("./localization.js").Catalogue | null} texts the language of the scene
 * @returns {() => void}
 */
export function show(scene, place, selection, model = null, wary = false, open = {}, link = undefined, texts = catalogueInUse()) {
  return inLanguage(texts, () => shown(scene, place, selection, model, wary, open, link));
}

/** @type {(...all: [...Parameters<typeof show>]) => () => void} */
function shown(scene, place, selection, model = null, wary = false, open = {}, link = undefined) {
  const own = catalogueInUse();
  const supply = createSupply("parts" in scene ? scene.parts : {}, model, wary ? tr("Run the cell again to see this: it was not saved with the notebook.") : undefined);
  /** @type {import("./supply.js").Supply} */
  const ask = (name, then) => supply.ask(name, (part) => inLanguage(own, () => then(part)));
  const context = { open, link, ask, has: supply.has, live: model !== null, draw: wary ? drawnIfSound : drawn };
  const root = make("div", { class: "tl-view" });
  keepLanguage(root, own);
  /** @type {import("./part.js").Part | null} */
  let part = null;
  const again = () => inLanguage(own, () => {
    root.dataset.theme = themeOf(root);
    part?.draw();
  });
  try {
    // What this throws is for who shows it: there may be a still picture.
    part = drawn(scene, selection, context);
    root.append(part.node);
    place.append(root);
    again();
  } catch (error) {
    supply.stop();
    part?.stop?.();
    root.remove();
    throw error;
  }
  // A widget may be drawn before it is put into the page, where no font and no theme can be known.
  const attached = new ResizeObserver(() => {
    if (!root.isConnected) return;
    attached.disconnect();
    again();
  });
  if (!root.isConnected) attached.observe(root);
  const stop = onThemeChange(again);
  const release = keepKeys(root);
  const letGo = keepKeyboard(root);
  keyboardAgain(open, root);
  return () => {
    noteKeyboard(open, root);
    attached.disconnect();
    stop();
    release();
    letGo();
    supply.stop();
    part?.stop?.();
    root.remove();
  };
}
