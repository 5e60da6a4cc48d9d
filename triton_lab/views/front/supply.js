/** Scenes by name: some came along, the others Python makes when they are first asked for. */

import { tr } from "./localization.js";

/** @typedef {import("./scenes.js").Scene} Scene */
/** @typedef {(name: string, then: (scene: Scene) => void) => void} Supply */
/** @typedef {(message: import("./scenes.js").Answer, buffers: DataView[]) => void} Heard */

/**
 * To whom parts are asked for.
 * @typedef {{
 *   on: (name: "msg:custom", then: Heard) => void,
 *   off: (name: "msg:custom", then: Heard) => void,
 *   send: (message: import("./scenes.js").Question) => void,
 * }} Channel
 */

const KEPT = 24; // fetched scenes; those that are shown are held by their pictures anyway

/**
 * @param {Record<string, Scene>} known
 * @param {Channel | null} model the widget's, null on a page without a kernel
 * @param {string} missing the text in place of a picture that cannot be made
 * @returns {{ask: Supply, has: (name: string) => boolean, stop: () => void}}
 */
export function createSupply(known, model, missing = tr("This page does not have that picture. It needs a running kernel.")) {
  /** @type {Map<string, Scene>} */
  const fetched = new Map();
  /** @type {Map<string, ((scene: Scene) => void)[]>} */
  const waiting = new Map();
  const knows = (/** @type {string} */ name) => (Object.hasOwn(known, name) ? known[name] : null);
  /** @type {Heard} */
  const onMessage = (message, buffers) => {
    const listeners = waiting.get(message.part);
    if (!listeners) return;
    waiting.delete(message.part);
    const scene = /** @type {Scene} */ (unpacked(message.scene, buffers));
    // Why something is missing may be another reason next time.
    if (scene.kind !== "words") fetched.set(message.part, scene);
    if (fetched.size > KEPT) fetched.delete([...fetched.keys()][0]);
    for (const listener of listeners) listener(scene);
  };
  model?.on("msg:custom", onMessage);
  return {
    ask(name, then) {
      const scene = knows(name) ?? fetched.get(name);
      if (scene) then(scene);
      else if (!model) then({ kind: "words", text: missing });
      else {
        const listeners = waiting.get(name);
        if (listeners) listeners.push(then);
        else {
          waiting.set(name, [then]);
          model.send({ part: name });
        }
      }
    },
    has: (name) => Boolean(model || knows(name)),
    stop: () => model?.off("msg:custom", onMessage),
  };
}

/**
 * The scene with `{buffer: k}` replaced by the k-th buffer.
 * @param {unknown} value
 * @param {DataView[]} buffers
 * @returns {unknown}
 */
export function unpacked(value, buffers) {
  if (Array.isArray(value)) return /** @type {unknown[]} */ (value).map((item) => unpacked(item, buffers));
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  if ("buffer" in value && typeof value.buffer === "number") return buffers[value.buffer];
  const entries = Object.entries(/** @type {Record<string, unknown>} */ (value));
  return Object.fromEntries(entries.map(([key, item]) => [key, unpacked(item, buffers)]));
}
