/** Steps: a scrubber over one program's operations; the source and the variables alive follow it. */

import { codeOf } from "../drawing/code.js";
import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { showChanges } from "../drawing/changes.js";
import { blockHeatmap, tell } from "../drawing/valueblock.js";
import { goesOn, reveal } from "../drawing/scroller.js";
import { goToOne, linesIn } from "../linked.js";
import { oneProgramPicker } from "./pickers.js";
import { tr } from "../localization.js";

/**
 * @param {import("../scenes.js").StepsScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {Pick<import("../part.js").Context, "linked">} context
 * @returns {import("../part.js").Part}
 */
export function stepsOf(scene, selection, { linked } = {}) {
  const { steps } = scene;
  const programs = oneProgramPicker(scene.grid, selection, () => scene.program);
  if (!steps.length) {
    const told = make("div", {}, tr("{title}: no step was recorded", { title: scene.title }));
    return { node: make("div", { class: "tl-steps" }, make("div", { class: "tl-controls" }, ...programs.nodes), told), draw: programs.update };
  }
  let at = scene.step;
  /** @type {string | null} a variable that is looked at instead of what the step gives */
  let watched = null;
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  const told = make("output", { class: "tl-told" });
  const place = make("div", { class: "tl-stage" });
  const rows = scene.source.lines.map((text, k) => make(
    "div", { class: "tl-line" },
    make("span", { class: "tl-number" }, String(scene.source.first + k)), make("span", { class: "tl-marks" }),
    codeOf(text),
  ));
  const source = make("div", { class: "tl-source", tabindex: 0, role: "region", "aria-label": tr("source") }, ...rows);
  const body = make("tbody");
  const table = make(
    "table", { class: "tl-table" },
    make("thead", {}, make("tr", {}, ...[tr("variable"), tr("line"), tr("value")].map((word) => make("th", { scope: "col" }, word)))), body,
  );
  const go = (/** @type {number} */ step) => selection.set({ step: Math.min(steps.length - 1, Math.max(0, step)) });
  const slider = make("input", {
    type: "range", min: 0, max: steps.length - 1, step: 1, "aria-label": tr("step"), oninput: () => go(Number(slider.value)),
  });
  const back = make("button", { type: "button", class: "tl-step", onclick: () => go(at - 1) }, tr("◀ back"));
  const on = make("button", { type: "button", class: "tl-step", onclick: () => go(at + 1) }, tr("forward ▶"));

  /** @type {number | null} the step that was seen last */
  let seen = null;
  /** The numbers that a variable had before a step gave it these. @param {number} k */
  const before = (k) => {
    const { kind, name, shape } = steps[k];
    if (kind !== "assign" || !name) return null;
    for (let j = k - 1; j >= 0; j--) {
      const { block } = steps[j];
      if (steps[j].kind === "assign" && steps[j].name === name) return block && steps[j].shape === shape ? { step: j, block } : null;
    }
    return null;
  };

  /** The step that last gave each variable its value. @returns {Map<string, number>} */
  const alive = () => {
    const found = new Map();
    for (let k = 0; k <= at; k++) if (steps[k].kind === "assign" && steps[k].name) found.set(steps[k].name, k);
    return found;
  };

  const update = () => {
    programs.update();
    const picked = selection.get().step;
    if (picked != null) at = Math.min(picked, steps.length - 1);
    const step = steps[at];
    slider.value = String(at);
    told.textContent = tr("step {number} of {last}: line {line}, {text}", { number: at, last: steps.length - 1, line: step.line ?? "?", text: `${step.words} ${step.value}` });
    rows.forEach((row, k) => {
      const here = scene.source.first + k === step.line;
      row.classList.toggle("tl-here", here);
      if (here) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
      /** @type {HTMLElement} */ (row.children[1]).textContent = here ? "▶" : "";
      if (here) reveal(source, row.getBoundingClientRect());
    });
    const moved = seen !== null && seen !== at;
    seen = at;
    const now = alive();
    if (watched !== null && !now.has(watched)) watched = null;
    body.replaceChildren(...[...now].map(([name, k]) => {
      const look = make("button", {
        type: "button", class: "tl-watch", "aria-pressed": String(name === watched),
        onclick: () => {
          watched = watched === name ? null : name;
          update();
        },
      }, name);
      return make(
        "tr", { class: k !== at ? "" : moved ? "tl-new tl-flashes" : "tl-new" }, make("th", { scope: "row" }, look),
        make("td", {}, String(steps[k].line ?? "")), make("td", {}, steps[k].value),
      );
    }));
    const shown = watched === null ? step : steps[now.get(watched) ?? at];
    status.textContent = "";
    if (!shown.block) {
      place.replaceChildren(make("div", { class: "tl-note" }, tr("The picture does not have the numbers of this step.")));
      return;
    }
    const block = numbers(shown.block);
    const mask = shown.mask ? numbers(shown.mask) : null;
    const heatmap = blockHeatmap(scene.pictures[shown.shape], scene.painting, block, shown.ends, mask, (index, position) => {
      linked?.point(index && shown.line !== null ? [shown.line] : []);
      if (!index) return (status.textContent = "");
      if (mask && !mask[position]) return (status.textContent = tr("{element} is masked", { element: `[${index.join(", ")}]` }));
      return (status.textContent = `${shown.name ?? tr("memory")}[${index.join(", ")}] = ${tell(block[position])}`);
    });
    heatmap.onpick = () => goToOne(linked, linesIn([shown.line]), selection);
    place.replaceChildren(make("div", { class: "tl-title" }, `${shown.words} ${shown.value}`));
    if (block.length !== 1) place.append(heatmap.node);
    const old = shown === step ? before(at) : null;
    if (old) place.append(showChanges(heatmap, scene.pictures[shown.shape], block, numbers(old.block), tr("step {number}", { number: old.step }), moved));
    heatmap.draw();
  };
  selection.subscribe(update);
  /** @param {KeyboardEvent} event */
  const onkeydown = (event) => {
    const step = event.key === "," ? -1 : event.key === "." ? 1 : 0;
    if (!step) return;
    go(at + step);
    event.preventDefault();
    event.stopPropagation();
  };
  const node = make(
    "div", { class: "tl-steps", onkeydown }, make("div", { class: "tl-title" }, scene.title),
    make("div", { class: "tl-controls" }, ...programs.nodes),
    make("div", { class: "tl-controls" }, back, make("label", { class: "tl-slide" }, slider), on, told),
    make("div", { class: "tl-row" }, make("div", { class: "tl-beside" }, source, goesOn(source, tr("The source"))), make("div", {}, place, table)),
    status, make("div", { class: "tl-note" }, tr("The keys , and . go a step back and forward. Click a variable to keep watching it.")),
  );
  return { node, draw: update, onkeydown };
}

/** What an editor says of variables, in words. @param {import("../scenes.js").AssignedScene} scene @returns {import("../part.js").Part} */
export function assignedOf({ values }) {
  return { node: make("div", { class: "tl-words" }, values.map(({ name, last }) => `${name} = ${last}`).join(" · ")), draw: () => {} };
}
