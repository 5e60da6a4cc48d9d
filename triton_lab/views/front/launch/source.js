/** The kernel's source: point at a line and its accesses light up; letters say what a line does. */

import { codeOf } from "../drawing/code.js";
import { make } from "../drawing/dom.js";
import { accessWord } from "../drawing/words.js";
import { tr } from "../localization.js";

/**
 * @param {import("../scenes.js").MarkedSource} source
 * @param {import("../selection.js").Selection} selection
 * @param {import("../linked.js").Linked} [linked]
 * @returns {{node: HTMLElement, draw: () => void}}
 */
export function sourceOf(source, selection, linked) {
  const lineOfRow = (/** @type {number} */ k) => source.first + k;
  const pick = (/** @type {number} */ k) => {
    selection.set({ line: selection.get().line === lineOfRow(k) ? null : lineOfRow(k), pointed: null });
    linked?.go(lineOfRow(k));
  };
  const point = (/** @type {number} */ k) =>
    selection.set({ under: lineOfRow(k), pointed: source.lines[k][1].length ? lineOfRow(k) : null });
  const leave = () => selection.set({ under: null, pointed: null });
  /** @type {HTMLElement[]} */
  const rows = source.lines.map(([text, kinds, severity], k) =>
    make(
      "div",
      {
        class: severity ? `tl-line tl-${severity}` : "tl-line", role: "option", tabindex: -1,
        onpointerenter: () => point(k), onpointerleave: leave,
        onfocus: () => (reach = k),
        onclick: () => pick(k),
      },
      make("span", { class: "tl-number" }, String(lineOfRow(k))),
      make("span", { class: "tl-marks", title: kinds.map(accessWord).join(", ") }, kinds.map((kind) => kind[0].toUpperCase()).join("")),
      codeOf(text),
    ),
  );
  let reach = 0; // the line that the Tab key comes to
  /** @param {KeyboardEvent} event */
  const onkeydown = (event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step) {
      rows[Math.min(rows.length - 1, Math.max(0, reach + step))].focus();
      point(reach);
    } else if (event.key === "Enter" || event.key === " ") pick(reach);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const update = () => {
    const { line } = selection.get();
    rows.forEach((row, k) => {
      row.setAttribute("aria-selected", String(lineOfRow(k) === line));
      row.tabIndex = k === reach ? 0 : -1;
    });
  };
  selection.subscribe(update);
  const list = make(
    "div",
    {
      class: "tl-source tl-pickable", role: "listbox", "aria-label": tr("source: Enter picks a line"), onkeydown,
      onfocusout: leave,
    },
    ...rows,
  );
  const key = make(
    "div", { class: "tl-note" }, tr("L load · S store · A atomic: point at a line to see what it accesses, click to keep it picked"),
  );
  return { node: make("div", {}, list, key), draw: update };
}
