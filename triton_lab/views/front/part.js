/** A picture that is asked for when it is first shown, and one of several such pictures. */

import { make } from "./drawing/dom.js";
import { tabsOf } from "./drawing/tabs.js";
import { chosenAgain, noteChosen } from "./place.js";
import { leadsTo, previewOf } from "./preview.js";
import { scoped } from "./selection.js";
import { tr } from "./localization.js";

/**
 * @typedef {import("./selection.js").Selection} Selection
 * @typedef {import("./scenes.js").Scene} Scene
 * @typedef {{node: HTMLElement, draw: () => void, stop?: () => void, onkeydown?: (event: KeyboardEvent) => void}} Part
 * `onkeydown` takes the keys that work anywhere in it, which its tab hands on
 * @typedef {{
 *   ask: import("./supply.js").Supply,
 *   has: (name: string) => boolean,
 *   open?: import("./place.js").Place,
 *   live: boolean,
 *   windowed?: boolean,
 *   draw: Draw<Scene>,
 *   link?: import("./linked.js").Link,
 *   linked?: import("./linked.js").Linked,
 * }} Context where `open` remembers the user's place for the card that replaces this one, `live` is whether Python
 * answers, and `windowed` whether another program's picture is asked for when it is picked; `link` is told of cards, and
 * `linked` is what it gave for the one around
 * @typedef {import("./scenes.js").ItemScene} Item
 */
/**
 * @template One
 * @typedef {(scene: One, selection: Selection, context: Context) => Part} Draw
 */

const PATIENCE = 4000; // ms until we say what may be the matter

/**
 * The part called `name`. With a window it follows the picked program: `name@0`, `name@64`, ...
 * @param {{name: string, window?: number}} item
 * @param {Selection} selection
 * @param {Context} context
 * @returns {Part}
 */
export function partOf({ name, window: wide }, selection, context) {
  const node = make("div", { class: "tl-part" });
  /** @type {Part | null} */
  let part = null;
  let drawn = false; // the part is a picture
  /** @type {string | null} */
  let wanted = null;
  let stop = () => {};
  const place = (/** @type {Scene} */ scene) => {
    stop();
    part?.stop?.();
    const own = scoped(selection, () => node.isConnected);
    stop = own.stop;
    part = context.draw(scene, own.selection, { ...context, windowed: Boolean(wide) });
    drawn = scene.kind !== "words";
    node.removeAttribute("aria-busy");
    node.replaceChildren(part.node);
    if (node.isConnected) part.draw();
  };
  const request = () => {
    const full = fullName({ name, window: wide }, selection);
    if (full === wanted) return;
    wanted = full;
    node.setAttribute("aria-busy", "true");
    const note = make("div", { class: "tl-note" }, "");
    if (!part) node.replaceChildren(note);
    const timer = setTimeout(() => {
      note.textContent = tr("Waiting for the kernel. It may be busy. If it was restarted, run the cell again.");
    }, PATIENCE);
    context.ask(full, (scene) => {
      clearTimeout(timer);
      if (wanted !== full) return;
      if (wide && scene.kind === "words" && part && drawn) {
        // The picture stays, and with it the control that picks another program.
        node.removeAttribute("aria-busy");
        node.replaceChildren(make("div", { class: "tl-words", role: "status" }, tr("{reason} Below is the last picture that was shown.", { reason: scene.text })), part.node);
      } else place(scene);
    });
  };
  const forget = wide ? selection.subscribe(() => node.isConnected && request()) : () => {};
  return {
    node,
    draw() {
      const before = part;
      request();
      if (part === before) part?.draw();
    },
    onkeydown: (event) => part?.onkeydown?.(event),
    stop() {
      wanted = null;
      stop();
      part?.stop?.();
      forget();
    },
  };
}

/**
 * The name by which the part is asked for, now that this program is picked.
 * @param {{name: string, window?: number}} item
 * @param {Selection} selection
 */
const fullName = ({ name, window: wide }, selection) =>
  wide ? `${name}@${Math.floor((selection.get().program ?? 0) / wide) * wide}` : name;

const MOST_BUTTONS = 8;

/**
 * One of several parts, by name; picking a line goes to a part that the line concerns, and pointing at one shows it.
 * @param {import("./scenes.js").ChoiceScene} scene
 * @param {Selection} selection
 * @param {Context} context
 * @returns {Part}
 */
export function choiceOf({ items }, selection, context) {
  const { open = {} } = context;
  const lines = items.map((item) => item.lines);
  const { line } = selection.get();
  // The user's place; else the tab for a line that was picked before this was opened.
  const start = chosenAgain(open, items) ?? (line == null ? null : leadsTo({ lines, shown: () => 0 }, line)) ?? 0;
  const chosen = (items.length > MOST_BUTTONS ? menuOf : buttonsOf)(items, selection, context, start, (number) => {
    preview.settle();
    noteChosen(open, items, number);
  });
  const preview = previewOf(
    {
      lines, shown: chosen.shown, show: chosen.show, node: chosen.node,
      ready(number, then) {
        const name = fullName(items[number], selection);
        if (context.has(name)) context.ask(name, ({ kind }) => kind !== "words" && then());
      },
    },
    selection,
  );
  return {
    ...chosen,
    draw() {
      preview.back();
      chosen.draw();
    },
    stop() {
      preview.stop();
      chosen.stop?.();
    },
  };
}

/**
 * @typedef {(items: Item[], selection: Selection, context: Context, start: number, onpick: (number: number) => void) =>
 *   Part & {shown: () => number, show: (number: number) => void}} Chosen
 */

/** @type {Chosen} */
function buttonsOf(items, selection, context, start, onpick) {
  const parts = items.map((item) => ({ name: item.label, make: () => partOf(item, selection, context) }));
  return tabsOf(parts, "tl-names", start, onpick);
}

/** @type {Chosen} */
function menuOf(items, selection, context, start, onpick) {
  const place = make("div");
  let shown = start;
  /** @type {Part | null} */
  let part = null;
  const show = (/** @type {number} */ number) => {
    shown = number;
    menu.value = String(number);
    // One at a time: a kernel may have hundreds of variables.
    part?.stop?.();
    part = partOf(items[number], selection, context);
    place.replaceChildren(part.node);
    part.draw();
  };
  const onchange = () => {
    onpick(Number(menu.value));
    show(Number(menu.value));
  };
  const menu = make(
    "select", { class: "tl-menu", "aria-label": tr("what to show"), onchange },
    ...items.map((item, k) => make("option", { value: k }, item.label)),
  );
  return {
    node: make("div", {}, make("div", { class: "tl-controls" }, menu), place),
    shown: () => shown,
    show,
    draw: () => (part ? part.draw() : show(shown)),
    onkeydown: (event) => part?.onkeydown?.(event),
    stop: () => part?.stop?.(),
  };
}

/**
 * A picture of one program that follows the picked one: another program is another part.
 * @param {import("./scenes.js").FollowScene} scene
 * @param {Selection} selection
 * @param {Context} context
 * @returns {Part}
 */
export function followOf(scene, selection, context) {
  if (selection.get().program == null) selection.set({ program: scene.program });
  return partOf(scene, selection, context);
}

/** Words in place of a picture. @param {import("./scenes.js").WordsScene} scene @returns {Part} */
export function wordsOf({ text }) {
  return { node: make("div", { class: "tl-words" }, text), draw: () => {} };
}

