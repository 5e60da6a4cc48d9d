/** All layouts of a kernel: a list to pick from, linked with the line of the source; below it what is picked. */

import { make } from "../drawing/dom.js";
import { partOf } from "../part.js";
import { tr } from "../localization.js";

/**
 * @param {import("../scenes.js").LayoutsScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {import("../part.js").Part}
 */
export function layoutsOf(scene, selection, context) {
  const place = make("div", {});
  /** @type {import("../part.js").Part | null} */
  let part = null;
  let shown = Math.max(0, scene.rows.findIndex((row) => row.part === scene.first && !row.minor));
  let reach = shown; // the row that the Tab key comes to
  let all = false;
  const rows = scene.rows.map(({ cells, minor }, k) =>
    make(
      "tr", { class: minor ? "tl-minor" : "", tabindex: -1, onclick: () => pick(k), onfocus: () => (reach = k) },
      ...cells.map((words) => make("td", {}, words)),
    ));
  const seen = () => rows.flatMap((_, k) => (all || !scene.rows[k].minor ? [k] : []));
  const show = (/** @type {number} */ k) => {
    const name = scene.rows[k].part;
    const other = !part || scene.rows[shown].part !== name;
    shown = k;
    mark();
    if (!other) return;
    part?.stop?.();
    part = partOf({ name }, selection, context);
    place.replaceChildren(part.node);
    part.draw();
  };
  const pick = (/** @type {number} */ k) => {
    reach = k;
    selection.set({ line: scene.rows[k].line });
    show(k);
  };
  const mark = () => {
    const { line } = selection.get();
    rows.forEach((row, k) => {
      row.setAttribute("aria-current", String(k === shown));
      row.classList.toggle("tl-of-line", line != null && scene.rows[k].line === line);
      row.tabIndex = k === reach ? 0 : -1;
      row.hidden = !all && scene.rows[k].minor;
    });
  };
  /** What the line that is picked computes. */
  const ofLine = () => {
    const { line } = selection.get();
    return line == null ? [] : seen().filter((k) => scene.rows[k].line === line);
  };
  /** A line that was picked elsewhere: go to what it computes. */
  const follow = () => {
    const own = ofLine();
    if (!own.length || own.includes(shown)) return mark();
    reach = own[own.length - 1];
    show(reach);
    rows[reach].scrollIntoView({ block: "nearest" });
  };
  /** @param {KeyboardEvent} event */
  const onkeydown = (event) => {
    if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const there = seen();
    if (step) rows[there[Math.min(there.length - 1, Math.max(0, there.indexOf(reach) + step))]]?.focus();
    else if (event.key === "Enter" || event.key === " ") pick(reach);
    else return;
    mark();
    event.preventDefault();
    event.stopPropagation();
  };
  const several = scene.rows.some(({ minor }) => minor);
  const box = make("input", {
    type: "checkbox",
    onchange: () => {
      all = box.checked;
      mark();
    },
  });
  const head = make("tr", {}, ...scene.headings.map((words) => make("th", { scope: "col" }, words)));
  const table = make("table", { class: "tl-table tl-picks", onkeydown }, make("thead", {}, head), make("tbody", {}, ...rows));
  const list = make("div", { class: "tl-scroll tl-list" }, table);
  const stop = selection.subscribe(follow);
  const node = make(
    "div", { class: "tl-layouts" }, make("div", { class: "tl-title" }, scene.title),
    ...(scene.rows.length ? [make("div", { class: "tl-note" }, tr("Pick a value to see its layout; arrow keys go through the list, Enter picks."))] : []),
    ...(several ? [make("div", { class: "tl-controls" }, make("label", {}, box, tr("addresses, masks and indices, too")))] : []),
    ...(scene.rows.length ? [list] : []), place,
  );
  return {
    node,
    draw() {
      if (!scene.rows.length) return;
      if (part) {
        mark();
        return part.draw();
      }
      const own = ofLine();
      show(own.length && !own.includes(shown) ? own[own.length - 1] : shown); // a line that was picked before this was opened
      if (list.isConnected) list.scrollTop = Math.max(0, rows[shown].offsetTop - list.clientHeight / 2);
    },
    stop() {
      stop();
      part?.stop?.();
    },
  };
}
