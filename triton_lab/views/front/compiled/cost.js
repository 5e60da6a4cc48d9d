/** What a launch costs: facts, a roofline to choose the GPU of, and the lines with what each has of the whole. */

import { codeOf } from "../drawing/code.js";
import { make, shape } from "../drawing/dom.js";

const ROOF = { width: 640, height: 280, left: 78, right: 20, top: 14, bottom: 34 };
const RATES = /** @type {[number, string][]} */ ([[12, "T"], [9, "G"], [6, "M"], [3, "k"], [0, ""]]);

/**
 * @param {import("../scenes.js").CostScene} scene
 * @param {import("../selection.js").Selection} selection
 * @returns {import("../part.js").Part}
 */
export function costOf(scene, selection) {
  const facts = make("dl", { class: "tl-costfacts" }, ...scene.facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  const picture = make("div");
  const told = make("div", { class: "tl-words", "aria-live": "polite" });
  const source = make("div", { class: "tl-note" });
  const menu = make(
    "select", { class: "tl-menu", "aria-label": "GPU", onchange: () => show() },
    ...scene.roofs.map((roof, k) => make("option", { value: k }, roof.name)),
  );
  menu.value = String(scene.shown);
  const show = () => {
    const roof = scene.roofs[Number(menu.value)];
    picture.replaceChildren(rooflineOf(roof, scene.intensity));
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
    make("span", { class: "tl-number" }, "line"),
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
    make("div", { class: "tl-controls" }, make("label", {}, "under the roof of ", menu)),
    picture, told, source,
    make("div", { class: "tl-title" }, "Which lines do it"),
    make("div", { class: "tl-source tl-pickable", role: "listbox", "aria-label": "lines with their shares: Enter picks a line", onkeydown: move }, head, ...lines),
    make("div", { class: "tl-note" }, totals),
    ...(scene.problem ? [make("div", { class: "tl-note" }, scene.problem)] : []),
  );
  return { node, draw: update };
}

/** A share as words on a bar. @param {number | null} share from 0 to 1 */
function shareOf(share) {
  if (share === null) return make("span", { class: "tl-share" }, "-");
  const percent = Math.round(share * 100);
  return make("span", { class: "tl-share", style: `--tl-part:${share * 100}%` }, share ? `${percent || "<1"}%` : "");
}

/**
 * Powers of ten of the left, right, lower and upper edge.
 * @param {import("../scenes.js").RoofScene} roof @param {number | null} intensity
 */
export function edgesOf(roof, intensity) {
  const points = [roof.peak / roof.memory, ...(intensity ? [intensity] : [])].map(Math.log10);
  const left = Math.floor(Math.min(...points)) - 1;
  const right = Math.ceil(Math.max(...points)) + 1;
  return { left, right, low: Math.floor(Math.log10(roof.memory) + left), high: Math.ceil(Math.log10(roof.peak)) };
}

/** @param {import("../scenes.js").RoofScene} roof @param {number | null} intensity */
function rooflineOf(roof, intensity) {
  const { width, height, left, right, top, bottom } = ROOF;
  const edges = edgesOf(roof, intensity);
  const across = (/** @type {number} */ value) => left + ((Math.log10(value) - edges.left) / (edges.right - edges.left)) * (width - left - right);
  const up = (/** @type {number} */ value) => height - bottom - ((Math.log10(value) - edges.low) / (edges.high - edges.low)) * (height - top - bottom);
  /** @type {Element[]} */
  const shapes = [];
  for (let power = edges.left; power <= edges.right; power++) {
    const x = across(10 ** power);
    shapes.push(shape("line", { x1: x, x2: x, y1: top, y2: height - bottom, class: "tl-roofgrid" }));
    shapes.push(shape("text", { x, y: height - bottom + 13, "text-anchor": "middle", class: "tl-rooftick" }, String(Number((10 ** power).toPrecision(1)))));
  }
  for (let power = edges.low; power <= edges.high; power++) {
    const y = up(10 ** power);
    const [size, prefix] = RATES.find(([one]) => power >= one) ?? [0, ""];
    shapes.push(shape("line", { x1: left, x2: width - right, y1: y, y2: y, class: "tl-roofgrid" }));
    shapes.push(shape("text", { x: left - 5, y: y + 3, "text-anchor": "end", class: "tl-rooftick" }, `${10 ** (power - size)} ${prefix}flop/s`));
  }
  const ridge = roof.peak / roof.memory;
  const start = 10 ** edges.left;
  const corners = [[across(start), up(start * roof.memory)], [across(ridge), up(roof.peak)], [width - right, up(roof.peak)]];
  shapes.push(shape("polyline", { points: corners.map((one) => one.join(",")).join(" "), class: "tl-roofedge" }));
  shapes.push(shape("text", { x: corners[1][0] + 8, y: corners[1][1] - 5, class: "tl-roofname" }, `${roof.name}, ${roof.kind}`));
  if (intensity) {
    const [x, y] = [across(intensity), up(roof.rate)];
    const near = x < width * 0.62;
    shapes.push(shape("line", { x1: x, x2: x, y1: y, y2: height - bottom, class: "tl-roofhere" }));
    shapes.push(shape("rect", { x: x - 4.5, y: y - 4.5, width: 9, height: 9, class: "tl-roofhere" }));
    shapes.push(shape("text", { x: x + (near ? 9 : -9), y: y + 18, "text-anchor": near ? "start" : "end", class: "tl-roofword" }, "this launch, at best"));
  }
  shapes.push(shape("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle", class: "tl-rooftick" }, "operations on floating-point numbers for each byte that must be moved"));
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "tl-roof", role: "img", "aria-label": roof.text }, ...shapes);
}
