/** What a launch costs: facts, a roofline to choose the GPU of, and the lines with what each has of the whole. */

import { codeOf } from "../drawing/code.js";
import { make } from "../drawing/dom.js";
import { tr } from "../localization.js";

/** @type {import("../part.js").Draw<import("../scenes.js").CostScene>} */
export function costOf(scene, selection, context) {
  const facts = make("dl", { class: "tl-costfacts" }, ...scene.facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  const roofs = scene.roofs.map((roof) => context.draw(roof.drawing, selection, context));
  const picture = make("div", { class: "tl-roof" });
  const told = make("div", { class: "tl-words", "aria-live": "polite" });
  const source = make("div", { class: "tl-note" });
  const menu = make(
    "select", { class: "tl-menu", "aria-label": tr("GPU"), onchange: () => show() },
    ...scene.roofs.map((roof, k) => make("option", { value: k }, roof.name)),
  );
  menu.value = String(scene.shown);
  const show = () => {
    const shown = Number(menu.value);
    const roof = scene.roofs[shown];
    picture.replaceChildren(roofs[shown].node);
    if (picture.isConnected) roofs[shown].draw();
    told.textContent = roof.text;
    source.textContent = roof.source;
  };
  show();
  let reach = 0; // the line that the Tab key comes to
  const lines = scene.listing.map(([number, text, shares], k) =>
    make(
      "div",
      {
        class: "tl-line tl-costline", role: "option", tabindex: -1, onfocus: () => (reach = k),
        onclick: () => selection.set({ line: selection.get().line === number ? null : number }),
      },
      ...shares.map((share) => shareOf(share)),
      make("span", { class: "tl-number" }, String(number)),
      codeOf(text),
    ),
  );
  const head = make(
    "div", { class: "tl-line tl-costline tl-costhead" },
    ...scene.shares.map((name, k) => make("span", { class: "tl-share", title: scene.totals[k] }, name)),
    make("span", { class: "tl-number" }, tr("line")),
  );
  const move = (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step) lines[Math.min(lines.length - 1, Math.max(0, reach + step))].focus();
    else if (event.key === "Enter" || event.key === " ") lines[reach]?.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const update = () => {
    const { line } = selection.get();
    lines.forEach((row, k) => {
      row.setAttribute("aria-selected", String(scene.listing[k][0] === line));
      row.tabIndex = k === reach ? 0 : -1;
    });
  };
  selection.subscribe(update);
  const totals = scene.shares.map((name, k) => `${name}: ${scene.totals[k]}`).join(" · ");
  const node = make(
    "div", { class: "tl-cost" },
    make("div", { class: "tl-title" }, scene.title), facts,
    make("div", { class: "tl-controls" }, make("label", {}, `${tr("roofline of")} `, menu)),
    picture, told, source,
    make("div", { class: "tl-title" }, tr("Work by line")),
    make("div", { class: "tl-source tl-pickable", role: "listbox", "aria-label": tr("lines with their shares: Enter picks a line"), onkeydown: move }, head, ...lines),
    make("div", { class: "tl-note" }, totals),
    ...(scene.problem ? [make("div", { class: "tl-note" }, scene.problem)] : []),
  );
  return {
    node,
    draw() {
      roofs[Number(menu.value)].draw();
      update();
    },
  };
}

/** A share as words on a bar. @param {number | null} share from 0 to 1 */
function shareOf(share) {
  if (share === null) return make("span", { class: "tl-share" }, "-");
  const percent = Math.round(share * 100);
  return make("span", { class: "tl-share", style: `--tl-part:${share * 100}%` }, share ? `${percent || "<1"}%` : "");
}
