/** Many launches: a table by kernel, and the card of the launch that is picked. */

import { make } from "../drawing/dom.js";
import { tableOf } from "../drawing/table.js";
import { partOf } from "../part.js";
import { createSelection } from "../selection.js";
import { tr } from "../localization.js";

/**
 * @param {import("../scenes.js").LaunchesScene} scene
 * @param {import("../selection.js").Selection} _ of the view; each launch has one of its own
 * @param {import("../part.js").Context} context
 * @returns {import("../part.js").Part}
 */
export function launchesOf(scene, _, context) {
  const place = make("div");
  /** @type {import("../part.js").Part | null} */
  let part = null;
  let shown = -1;
  const { open = {} } = context;
  const places = (open.each ??= {});
  const show = (/** @type {number} */ number) => {
    const wanted = Math.min(scene.count - 1, Math.max(0, Math.round(number) || 0));
    slider.value = field.value = String(wanted);
    if (wanted === shown) return;
    const here = (places[wanted] ??= {});
    // The next launch shows what this one showed.
    if (shown >= 0 && places[shown].tab !== undefined) here.tab = places[shown].tab;
    shown = open.launch = wanted;
    part?.stop?.();
    part = partOf({ name: `launch/${wanted}` }, createSelection({}), { ...context, open: here });
    place.replaceChildren(part.node);
    part.draw();
  };
  /** @type {HTMLInputElement} */
  const slider = make("input", {
    type: "range", min: 0, max: scene.count - 1, step: 1, "aria-label": tr("launch"), onchange: () => show(Number(slider.value)),
    oninput: () => (field.value = slider.value),
  });
  const field = make("input", {
    type: "number", class: "tl-count", min: 0, max: scene.count - 1, "aria-label": tr("number of the launch"),
    oninput: () => field.value !== "" && show(Number(field.value)),
  });
  const back = make("button", { type: "button", class: "tl-step", onclick: () => show(shown - 1) }, tr("◀ back"));
  const on = make("button", { type: "button", class: "tl-step", onclick: () => show(shown + 1) }, tr("forward ▶"));
  const table = tableOf(scene.headings, scene.table);
  // A kernel's name leads to its first launch.
  table.querySelectorAll("tbody th").forEach((head, k) => {
    head.replaceChildren(
      make("button", { type: "button", class: "tl-link", onclick: () => show(scene.first[k]) }, head.textContent ?? ""),
    );
  });
  const node = make(
    "div", { class: "tl-launches" },
    make("div", { class: "tl-title" }, scene.title), make("div", { class: "tl-scroll" }, table),
    ...scene.remarks.map((words) => make("div", { class: "tl-note" }, words)),
    make(
      "div", { class: "tl-controls" },
      back, make("label", { class: "tl-slide" }, `${tr("launch")} `, slider), field, on, make("span", { class: "tl-note" }, tr("of {count}, counted from 0", { count: scene.count })),
    ),
    place,
  );
  return {
    node,
    draw: () => (part ? part.draw() : show(open.launch ?? 0)),
    stop: () => part?.stop?.(),
  };
}

/**
 * A scene within a scene: its parts are asked for behind its own name.
 * @param {import("../scenes.js").NestedScene} outer
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {import("../part.js").Part}
 */
export function nestedOf({ name, scene }, selection, context) {
  const parts = "parts" in scene ? scene.parts : {};
  const own = (/** @type {string} */ part) => (Object.hasOwn(parts, part) ? parts[part] : null);
  return context.draw(scene, selection, {
    ask(part, then) {
      const known = own(part);
      if (known) then(known);
      else context.ask(`${name}/${part}`, then);
    },
    has: (part) => Boolean(own(part)) || context.has(`${name}/${part}`),
    draw: context.draw,
    live: context.live,
    open: context.open,
    link: context.link,
  });
}
