/** A drawing as SVG: a graph, bars, a chart, a domain; point at a part and its lines in the kernels light up. */

import { numbers } from "./data.js";
import { make, passage, shape } from "./dom.js";
import { goesOn, reveal } from "./scroller.js";
import { STYLE } from "./style.js";
import { themeOf } from "./theme.js";
import { tr } from "../localization.js";

const HALO = 0.4; // pixels around letters for each point of their size, as in `drawing_figure.py`
export const LEAST = 0.7; // of its size, at which a picture's words can be read

/**
 * The `d` of a line through points; curved: Bézier curves of three points each.
 * @param {{points: number[][], curved: boolean}} line
 * @returns {string}
 */
export function pathOf({ points, curved }) {
  const [first, ...rest] = points.map((point) => point.join(" "));
  return `M ${first} ${rest.map((point, at) => (!curved ? `L ${point}` : at % 3 === 0 ? `C ${point}` : `, ${point}`)).join(" ")}`;
}

/** A circle in a path; a tiny one is a square. @param {number} x @param {number} y @param {number} r */
function circlePath(x, y, r) {
  const round = (/** @type {number} */ number) => Number(number.toFixed(2));
  const [left, wide] = [round(x - r), round(2 * r)];
  if (r < 1) return ["M", left, round(y - r), "h", wide, "v", wide, "h", -wide, "z"].join(" ");
  return ["M", left, round(y), "a", r, r, 0, 1, 0, wide, 0, "a", r, r, 0, 1, 0, -wide, 0].join(" ");
}

/**
 * The three corners of the head of an arrow that ends in the last point.
 * @param {{points: number[][], width: number}} line
 * @returns {string}
 */
export function headOf({ points, width }) {
  const [x, y] = points[points.length - 1];
  const before = points.filter(([px, py]) => px !== x || py !== y).pop() ?? [x, y - 1];
  const angle = Math.atan2(y - before[1], x - before[0]);
  const [long, wide] = [5 + width, 2.5 + width / 2];
  return [[0, 0], [-long, wide], [-long, -wide]]
    .map(([a, b]) => [x + a * Math.cos(angle) - b * Math.sin(angle), y + a * Math.sin(angle) + b * Math.cos(angle)].join(","))
    .join(" ");
}

/**
 * Straight arrows as two paths: their lines and their heads, as `ArrowLines.parts` has them.
 * @param {ArrayLike<number>} ends x and y of both ends of each
 * @param {{head: number, gap: number, beside: number}} look
 * @returns {[string, string]}
 */
export function arrowPaths(ends, { head, gap, beside }) {
  const [lines, heads] = [[""], [""]];
  for (let k = 0; k + 3 < ends.length; k += 4) {
    const [dx, dy] = [ends[k + 2] - ends[k], ends[k + 3] - ends[k + 1]];
    const long = Math.max(Math.hypot(dx, dy), 1e-9);
    /** So far along the arrow, and so far to its side. @param {number} at @param {number} along @param {number} aside */
    const spot = (at, along, aside) => `${(ends[at] + (dx * along - dy * aside) / long).toFixed(2)} ${(ends[at + 1] + (dy * along + dx * aside) / long).toFixed(2)}`;
    const neck = -gap - head;
    lines.push(`M ${spot(k, gap, beside)} L ${spot(k + 2, neck, beside)}`);
    heads.push(`M ${spot(k + 2, -gap, beside)} L ${spot(k + 2, neck, beside + head * 0.42)} L ${spot(k + 2, neck, beside - head * 0.42)} Z`);
  }
  return [lines.join(" "), heads.join(" ")];
}

/**
 * Whether a line of source speaks of a tag (`v3`, `in0`), as a whole word.
 * @param {string} line
 * @param {string} tag
 * @returns {boolean}
 */
export function mentions(line, tag) {
  return tag !== "" && new RegExp(`\\b${tag.replace(/[^\w ]/g, "\\$&")}\\b`).test(line);
}

/**
 * Where a step leads from place `at` of `length`, round at the ends; from nowhere (-1), to the first or the last.
 * @param {number} at @param {number} step @param {number} length
 */
export function tagAt(at, step, length) {
  return at < 0 ? (step > 0 ? 0 : length - 1) : (at + step + length) % length;
}

/** The value of a drawing's colour: a name, "#rrggbb", or one for light and one for dark pages. @param {string} name @param {"light" | "dark"} theme */
export function colourOf(name, theme) {
  const [light, dark] = name.split("/");
  const one = (theme === "dark" && dark) || light;
  return one.startsWith("#") || one === "none" ? one : String(STYLE.themes[theme][/** @type {keyof typeof STYLE.themes.light} */ (one)]);
}

/**
 * @param {import("../scenes.js").DrawingScene["items"][number]} item
 * @param {(colour: string) => string} colour
 * @returns {SVGElement[]}
 */
function drawnItem(item, colour) {
  if (item.what === "segments") {
    const d = item.ends.map(([from, to]) => `M ${from} L ${to}`).join(" ");
    return [shape("path", { d, fill: "none", stroke: colour(item.colour), "stroke-width": item.width, "stroke-dasharray": item.dashes.join(" ") || "none" })];
  }
  if (item.what === "arrows") {
    const [lines, heads] = arrowPaths(numbers(item.ends), item);
    return [
      shape("path", { d: lines, fill: "none", stroke: colour(item.colour), "stroke-width": item.width, "stroke-dasharray": item.dashes.join(" ") || "none" }),
      shape("path", { d: heads, fill: colour(item.colour) }),
    ];
  }
  if (item.what === "polygons") {
    const d = item.corners.map((corners) => `M ${corners.join(" L ")} Z`).join(" ");
    return [shape("path", { d, fill: colour(item.fill), opacity: item.opacity, stroke: colour(item.edge), "stroke-width": item.line, "stroke-linejoin": "round" })];
  }
  if (item.what === "circles") {
    const [centres, which] = [numbers(item.centres), numbers(item.which)];
    let fills = item.fills.map((fill) => ({ fill, d: "" }));
    const single = [];
    for (let k = 0; 2 * k + 1 < centres.length; k++) {
      const of = fills[which[k] ?? 0];
      const d = circlePath(centres[2 * k], centres[2 * k + 1], item.radius);
      if (of && item.piled) single.push({ fill: of.fill, d });
      else if (of) of.d += d;
    }
    if (item.piled) fills = single;
    return fills.map(({ fill, d }) => shape("path", { d, fill: colour(fill), stroke: colour(item.ring), "stroke-width": item.line }));
  }
  /** @type {Record<string, string>} */
  const dash = "dashed" in item && item.dashed ? { "stroke-dasharray": "4 3" } : {};
  if (item.what === "box") {
    const box = shape("rect", {
      x: item.x, y: item.y, width: item.width, height: item.height, rx: item.radius,
      fill: colour(item.fill), "fill-opacity": item.opacity, stroke: colour(item.edge), "stroke-width": item.line, ...dash,
    });
    if (item.tag) box.dataset.tag = item.tag;
    return [box];
  }
  if (item.what === "words") {
    const anchor = { left: "start", center: "middle", right: "end" }[item.align];
    const words = shape("text", {
      x: item.x, y: item.y, fill: colour(item.colour), "text-anchor": anchor, "dominant-baseline": "central",
      "font-size": (item.size * 4) / 3, "font-weight": item.bold ? 600 : 400, "pointer-events": "none",
    }, item.text);
    words.style.fontFamily = item.mono ? STYLE.mono : STYLE.font;
    if (item.halo) {
      const halo = { stroke: colour(item.halo), "stroke-width": item.size * HALO, "stroke-linejoin": "round", "paint-order": "stroke" };
      for (const [name, value] of Object.entries(halo)) words.setAttribute(name, String(value));
    }
    return [words];
  }
  const line = shape("path", { d: pathOf(item), fill: "none", stroke: colour(item.colour), "stroke-width": item.width, opacity: item.opacity ?? 1, ...dash });
  if (!item.arrow) return [line];
  return [line, shape("polygon", { points: headOf(item), fill: colour(item.colour) })];
}

/**
 * A drawing as one SVG element of its size, in the colours of a theme.
 * @param {import("../scenes.js").DrawingScene} scene
 * @param {"light" | "dark"} theme
 */
export function svgOf(scene, theme) {
  const picture = shape("svg", { width: scene.width, viewBox: `0 0 ${scene.width} ${scene.height}`, role: "img", "aria-label": scene.label });
  picture.append(...scene.items.flatMap((item) => drawnItem(item, (name) => colourOf(name, theme))));
  return picture;
}

/**
 * A step's drawing; what is clicked stays lit and is `selection`'s `operation`.
 * @type {import("../part.js").Draw<import("../scenes.js").DrawingScene>}
 */
export function drawingOf(scene, selection) {
  const tags = [...new Set(scene.items.flatMap((item) => (item.what === "box" && item.tag ? [item.tag] : [])))];
    const plot = make("div", {
    class: "tl-scroll", tabindex: 0, role: "group", "aria-label": !tags.length ? scene.label : scene.source
      ? tr("{label}; arrow keys go through its operations, Escape clears the choice", { label: scene.label })
      : tr("{label}; arrow keys go through its parts, Escape clears the choice", { label: scene.label }),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!tags.length || (step === undefined && event.key !== "Escape")) return;
      event.preventDefault();
      pin(step === undefined ? "" : tags[tagAt(tags.indexOf(pinned()), step, tags.length)]);
      const lit = plot.querySelector(".tl-glow");
      if (lit) reveal(plot, lit.getBoundingClientRect());
    },
  });
  const told = make("div", { class: "tl-note", role: "status" });
  const lines = scene.source.split("\n").map((line) => make("div", {}, line || " "));
  const kernels = make(
    "details", { class: "tl-kernels" }, make("summary", {}, tr("The generated kernels")), passage({}, tr("the kernels"), ...lines),
  );
  const node = make("div", {}, plot, goesOn(plot, tr("The drawing")), tags.length ? told : "", ...(scene.source ? [kernels] : []));

  /** @param {string} tag */
  const light = (tag) => {
    for (const box of plot.querySelectorAll("[data-tag]")) box.classList.toggle("tl-glow", box.getAttribute("data-tag") === tag);
    for (const line of lines) line.classList.toggle("tl-mentioned", mentions(line.textContent ?? "", tag));
  };
  const pinned = () => selection.get().operation ?? "";
  const tagOf = (/** @type {Event} */ event) => /** @type {SVGElement} */ (event.target).dataset.tag ?? "";
  const pin = (/** @type {string} */ tag) => {
    selection.set({ operation: tag });
    kernels.open ||= pinned() !== "";
  };
  selection.subscribe(() => {
    light(pinned());
    told.textContent = lines.map((line) => line.textContent ?? "").find((line) => mentions(line, pinned()))?.trim() ?? pinned();
  });
  return {
    node,
    draw() {
      const picture = svgOf(scene, themeOf(node));
      // Wider than its place, it shrinks, as far as its words can be read: then it is scrolled.
      Object.assign(picture.style, { maxWidth: "100%", minWidth: `${Math.round(scene.width * LEAST)}px`, height: "auto" });
      picture.addEventListener("pointermove", (event) => light(tagOf(event) || pinned()));
      picture.addEventListener("pointerleave", () => light(pinned()));
      picture.addEventListener("click", (event) => pin(tagOf(event)));
      plot.replaceChildren(picture);
      light(pinned());
    },
  };
}
