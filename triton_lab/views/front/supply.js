/** Scenes by name: some came along, the others Python makes when they are first asked for. */

/** @typedef {(name: string, then: (scene: any) => void) => void} Supply */

const KEPT = 24; // fetched scenes; those that are shown are held by their pictures anyway

/**
 * @param {Record<string, any>} known
 * @param {any} model the widget's, null on a page without a kernel
 * @returns {{ask: Supply, has: (name: string) => boolean, stop: () => void}}
 */
export function createSupply(known, model) {
  /** @type {Map<string, any>} */
  const fetched = new Map();
  /** @type {Map<string, ((scene: any) => void)[]>} */
  const waiting = new Map();
  /** @param {any} message @param {DataView[]} buffers */
  const onMessage = (message, buffers) => {
    const listeners = waiting.get(message.part);
    if (!listeners) return;
    waiting.delete(message.part);
    const scene = unpacked(message.scene, buffers);
    fetched.set(message.part, scene);
    if (fetched.size > KEPT) fetched.delete([...fetched.keys()][0]);
    for (const listener of listeners) listener(scene);
  };
  model?.on("msg:custom", onMessage);
  return {
    ask(name, then) {
      const scene = known[name] ?? fetched.get(name);
      if (scene) then(scene);
      else if (!model) then({ kind: "words", text: "This page does not keep that picture: a running kernel makes it." });
      else {
        const listeners = waiting.get(name);
        if (listeners) listeners.push(then);
        else {
          waiting.set(name, [then]);
          model.send({ part: name });
        }
      }
    },
    has: (name) => Boolean(model || known[name]),
    stop: () => model?.off("msg:custom", onMessage),
  };
}

/**
 * The scene with `{buffer: k}` replaced by the k-th buffer.
 * @param {any} value
 * @param {DataView[]} buffers
 * @returns {any}
 */
function unpacked(value, buffers) {
  if (Array.isArray(value)) return value.map((item) => unpacked(item, buffers));
  if (value === null || typeof value !== "object") return value;
  if (typeof value.buffer === "number") return buffers[value.buffer];
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpacked(item, buffers)]));
}
