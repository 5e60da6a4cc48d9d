/** What is picked in a picture, shared by all parts of one view. */

/**
 * `under` is the line under the pointer or the keyboard, `pointed` the same if memory is accessed there; both pass. The
 * others stay until they are released, and are sent to Python.
 * @typedef {import("./scenes.js").Picked & {pointed?: number | null, under?: number | null}} Picked
 * @typedef {{
 *   get: () => Picked,
 *   set: (change: Picked) => void,
 *   subscribe: (listener: (picked: Picked) => void) => () => void,
 *   clear: () => void,
 * }} Selection
 */

/**
 * @param {Picked} start
 * @returns {Selection}
 */
export function createSelection(start) {
  let picked = { ...start };
  /** @type {Set<(picked: Picked) => void>} */
  const listeners = new Set();
  return {
    get: () => picked,
    set(change) {
      const next = { ...picked, ...change };
      const keys = /** @type {(keyof Picked)[]} */ (Object.keys(next));
      if (keys.every((key) => next[key] === picked[key])) return;
      picked = next;
      for (const listener of [...listeners]) listener(picked);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    clear: () => listeners.clear(),
  };
}

/**
 * The line whose accesses are to light up, if any.
 * @param {Selection} selection
 * @returns {number | null}
 */
export function lineOf(selection) {
  const { line, pointed } = selection.get();
  return pointed ?? line ?? null;
}

/**
 * The selection for a part that is told of changes only while it is in view, and that may go.
 * @param {Selection} selection
 * @param {() => boolean} inView
 * @returns {{selection: Selection, stop: () => void}}
 */
export function scoped(selection, inView) {
  /** @type {Set<() => void>} */
  const stops = new Set();
  const stopAll = () => stops.forEach((stop) => stop());
  return {
    selection: {
      get: selection.get,
      set: selection.set,
      subscribe(listener) {
        const stop = selection.subscribe((picked) => {
          if (inView()) listener(picked);
        });
        stops.add(stop);
        return stop;
      },
      clear: stopAll,
    },
    stop: stopAll,
  };
}
