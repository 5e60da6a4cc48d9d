/** The keyboard stays with a control that is drawn anew, in a picture and in the one that comes instead of it. */

/** @typedef {import("./place.js").Place} Place */

const CONTROLS = "input, select, button, [tabindex]";

/** @param {Element} control */
const controlName = (control) => `${control.tagName} ${control.getAttribute("aria-label") ?? control.textContent}`;

/** The controls called so that are or stand in these nodes. @param {Iterable<Node>} nodes @param {string} name */
function controlsCalled(nodes, name) {
  const all = [...nodes].flatMap((node) => (node instanceof Element ? [node, ...node.querySelectorAll(CONTROLS)] : []));
  return all.filter((one) => one.matches(CONTROLS) && controlName(one) === name);
}

/** Whether nothing in the page has the keyboard. */
const isFree = () => !document.activeElement || document.activeElement === document.body;

/** @param {Element | null | undefined} control */
function giveKeyboard(control) {
  if (control instanceof HTMLElement) control.focus({ preventScroll: true });
}

/** Write down which control has the keyboard, if one of a picture's that is taken out has. @param {Place} place @param {Element} root */
export function noteKeyboard(place, root) {
  const held = document.activeElement;
  if (!held || !root.contains(held)) return void delete place.keyboard;
  const name = controlName(held);
  place.keyboard = { name, rank: controlsCalled([root], name).indexOf(held) };
}

/** Give its like in the picture that comes instead the keyboard, unless something else has it by now. @param {Place} place @param {Element} root */
export function keyboardAgain(place, root) {
  const { keyboard } = place;
  delete place.keyboard;
  if (keyboard && isFree()) giveKeyboard(controlsCalled([root], keyboard.name)[keyboard.rank]);
}

/**
 * Where a control that has the keyboard is replaced, its like gets it: browsers would give it to the page. A picture that
 * has no such control any more leaves it to the tab that the picture is in.
 * @param {HTMLElement} root
 * @returns {() => void}
 */
export function keepKeyboard(root) {
  /** @type {Element | null} what has the keyboard, or had it when it was taken out */
  let held = null;
  /** @param {MutationRecord[]} records */
  const look = (records) => {
    if (held && records.length && isFree()) giveKeyboard(held.isConnected ? takenUp(held, records) : likeOf(held, records));
  };
  const observer = new MutationObserver(look);
  const onfocusin = (/** @type {FocusEvent} */ { target }) => (held = /** @type {Element} */ (target));
  // Some browsers tell this of a control that is taken out, too; what came instead is there at the end of the task.
  const onfocusout = () => {
    const left = held;
    queueMicrotask(() => {
      look(observer.takeRecords());
      if (held === left && isFree()) held = null;
    });
  };
  observer.observe(root, { childList: true, subtree: true });
  root.addEventListener("focusin", onfocusin);
  root.addEventListener("focusout", onfocusout);
  return () => {
    observer.disconnect();
    root.removeEventListener("focusin", onfocusin);
    root.removeEventListener("focusout", onfocusout);
  };
}

/** The control itself, if it was taken out for a moment. @param {Element} held @param {MutationRecord[]} records */
const takenUp = (held, records) => (records.some(({ removedNodes }) => indexIn(removedNodes, held) >= 0) ? held : null);

/** Which of these nodes has the other in it; -1 if none. @param {Iterable<Node>} nodes @param {Node} other */
const indexIn = (nodes, other) => [...nodes].findIndex((node) => node.contains(other));

/**
 * The control in the place of one that was taken out: of as many called so, it comes after as many.
 * @param {Element} held @param {MutationRecord[]} records of one task, in which what it was in may have been taken out, too
 * @returns {Element | null}
 */
function likeOf(held, records) {
  const name = controlName(held);
  let rank = 0;
  /** @type {Node} */
  let lost = held;
  const left = new Set(records);
  while (!lost.isConnected) {
    const record = [...left].find(({ removedNodes }) => indexIn(removedNodes, lost) >= 0);
    if (!record) return null;
    left.delete(record);
    const before = [...record.removedNodes].slice(0, indexIn(record.removedNodes, lost) + 1);
    rank += controlsCalled(before, name).filter((one) => one !== lost && !isAfter(one, lost)).length;
    lost = record.target;
  }
  if (!(lost instanceof Element)) return null;
  return controlsCalled(lost.children, name)[rank] ?? tabOf(lost);
}

/** Whether a node follows another of the same tree, or is in it. @param {Node} one @param {Node} other */
const isAfter = (one, other) => other.getRootNode() === one.getRootNode() && Boolean(other.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);

/** The open tab that an element stands in. @param {Element} element */
const tabOf = (element) => element.closest("[role=tabpanel]")?.parentElement?.querySelector("[role=tab][aria-selected=true]") ?? null;
