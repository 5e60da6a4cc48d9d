/** A choice that shows, while the pointer or the keyboard is at a source line, what that line touches. */

const CALM = 120; // ms that a line is pointed at before anything changes

/**
 * @typedef {{
 *   lines: (number[] | undefined)[],
 *   shown: () => number,
 *   show: (number: number) => void,
 *   ready: (number: number, then: () => void) => void,
 *   node: HTMLElement,
 * }} Choice `lines` of each item; `ready` calls back once an item can be shown at once, or never
 */

/**
 * @param {Choice} choice
 * @param {import("./selection.js").Selection} selection
 * @returns {{settle: () => void, back: () => void, stop: () => void}} `settle`: what is shown now stays; `back`: once no
 *   line is pointed at, what was shown before is shown again
 */
export function previewOf(choice, selection) {
  /** @type {number | null} what is shown again once no line is pointed at */
  let home = null;
  /** @type {number | null} */
  let wanted = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let pinned = selection.get().line ?? null;

  const settle = () => {
    clearTimeout(timer);
    home = wanted = null;
    choice.node.style.minHeight = "";
  };
  const goTo = (/** @type {number} */ number) => {
    if (wanted !== number) return;
    // What stands below does not jump up while a smaller picture is shown.
    choice.node.style.minHeight = `${Math.max(choice.node.offsetHeight, Number.parseFloat(choice.node.style.minHeight) || 0)}px`;
    home ??= choice.shown();
    choice.show(number);
  };
  const look = () => {
    const line = selection.get().under ?? null;
    const number = line === null ? home : leadsTo(choice, line);
    if (line === null) {
      if (number !== null) choice.show(number);
      settle();
    } else if (number !== null && number !== choice.shown()) {
      wanted = number;
      choice.ready(number, () => goTo(number));
    } else wanted = null;
  };
  const stop = selection.subscribe(({ line = null, under = null }) => {
    if (line !== pinned) {
      pinned = line;
      if (line !== null) {
        const number = leadsTo(choice, line);
        settle();
        if (number !== null && number !== choice.shown()) choice.show(number);
      }
    }
    clearTimeout(timer);
    // With nothing to go back from, or to go to, no time need pass.
    if (under !== null || home !== null || wanted !== null) timer = setTimeout(look, CALM);
  });
  return {
    settle,
    back: () => home !== null && selection.get().under == null && look(),
    stop() {
      clearTimeout(timer);
      stop();
    },
  };
}

/** The item that a line leads to: the one that is shown, if the line concerns it. @param {Pick<Choice, "lines" | "shown">} choice @param {number} line */
export function leadsTo({ lines, shown }, line) {
  if (lines[shown()]?.includes(line)) return shown();
  const other = lines.findIndex((own) => own?.includes(line));
  return other < 0 ? null : other;
}
