/** Handles on the domain: a line for each loop whose tiles it bounds; one knob moves it, the other leans it (a skew). */

import { make } from "../drawing/dom.js";
import { dragged, knobOf } from "../drawing/knob.js";
import { tr } from "../localization.js";
import { MOST_FACTOR, skewedRows } from "./moved.js";

/** @typedef {import("./moved.js").Change} Change */
/** @typedef {import("./moved.js").Unpacked} Unpacked */
/** @typedef {{x: number, y: number}} Spot */
/** @typedef {(change: Change) => void} Apply */

const REACH = [0.75, 0.95]; // units that a line runs past the points: below and to the left, above and to the right

/** The loop by which another is skewed: of those that are lines of the plane, the first other. @param {Unpacked} moves @param {number} loop */
export function skewedBy({ loops }, loop) {
  const others = loops.map((_, k) => k).filter((k) => k !== loop);
  return others.find((k) => loops[k].line.length) ?? others[0] ?? -1;
}

/** The factor of a loop's skew. @param {Change} change @param {number} loop */
export const factorOf = ({ skews }, loop) => skews.find(([own]) => own === loop)?.[2] ?? 0;

/** Tiles count from 0, or from the first iteration where that is far. @param {number} low */
const firstOf = (low) => (low >= 0 && low < 4 ? 0 : low);

/** The least and the greatest time that a loop may have after the skews. @param {Unpacked} moves @param {Change} change @param {number} loop */
function rangeOf({ loops }, change, loop) {
  const ends = skewedRows(change)[loop].map((factor, c) => [factor * loops[c].low, factor * loops[c].high]);
  return [ends.reduce((sum, pair) => sum + Math.min(...pair), 0), ends.reduce((sum, pair) => sum + Math.max(...pair), 0)];
}

/** The skewed time on the line of a loop: the first border of its tiles; where it has none, past its last iteration. @param {Unpacked} moves @param {Change} change @param {number} loop */
export function borderTime(moves, change, loop) {
  const size = change.sizes[loop];
  if (size) return (Math.floor(firstOf(rangeOf(moves, change, loop)[0]) / size) + 1) * size - 0.5;
  const row = skewedRows(change)[loop];
  const before = row.some((factor, c) => c !== loop && factor < 0);
  return row.reduce((sum, factor, c) => {
    const { low, high } = moves.loops[c];
    return sum + factor * (c !== loop ? low : before ? low - 0.5 : high + 0.5);
  }, 0);
}

/** The change with tiles that end at a time, or without tiles where that is past the last. @param {Unpacked} moves @param {Change} change @param {number} loop @param {number} time */
export function withBorder(moves, change, loop, time) {
  const [least, most] = rangeOf(moves, change, loop);
  const size = Math.max(1, Math.round(time + 0.5) - firstOf(least));
  return withSize(change, loop, firstOf(least) + size > most ? 0 : size);
}

/** @param {Change} change @param {number} loop @param {number} size @returns {Change} */
export const withSize = (change, loop, size) => ({ ...change, sizes: change.sizes.map((own, k) => (k === loop ? Math.max(0, Math.min(4096, size)) : own)) });

/** The change with a loop skewed so; its skew keeps its turn among the others, a new one is the last. @param {Unpacked} moves @param {Change} change @param {number} loop @param {number} factor @returns {Change} */
export function withSkew(moves, change, loop, factor) {
  const held = Math.max(-MOST_FACTOR, Math.min(MOST_FACTOR, Math.round(factor)));
  /** @type {[number, number, number]} */
  const own = [loop, skewedBy(moves, loop), held];
  const skews = factorOf(change, loop) ? change.skews.map((skew) => (skew[0] === loop ? own : skew)) : [...change.skews, own];
  return { ...change, skews: skews.filter((skew) => skew[2]) };
}

/** The change with a loop moved outwards (-1) or inwards (1). @param {Change} change @param {number} loop @param {number} step @returns {Change} */
export function withStep(change, loop, step) {
  const at = change.order.indexOf(loop);
  const to = at + step;
  if (to < 0 || to >= change.order.length) return change;
  const order = [...change.order];
  [order[at], order[to]] = [order[to], order[at]];
  return { ...change, order };
}

/** A loop's time in the plane: (across, up, constant). @param {Unpacked} moves @param {number} loop */
function timeLine({ loops }, loop) {
  const { line } = loops[loop];
  return line.length === 2 ? { a: line[0], b: 0, c: line[1] } : { a: line[1], b: line[0], c: line[2] };
}

/** The same after the skews; null where it is no line of the plane. @param {Unpacked} moves @param {Change} change @param {number} loop */
function leaningLine(moves, change, loop) {
  const row = skewedRows(change)[loop];
  if (row.some((factor, c) => factor && !moves.loops[c].line.length)) return null;
  const line = { a: 0, b: 0, c: 0 };
  row.forEach((factor, c) => {
    if (!factor) return;
    const one = timeLine(moves, c);
    line.a += factor * one.a;
    line.b += factor * one.b;
    line.c += factor * one.c;
  });
  return line;
}

/**
 * The ends of a loop's line within a box, in units, and the place of the knob that moves it: between points.
 * @param {Unpacked} moves @param {Change} change @param {number} loop @param {{low: Spot, high: Spot}} box
 */
export function borderLine(moves, change, loop, { low, high }) {
  const line = leaningLine(moves, change, loop);
  if (!line) return null;
  const { a, b, c } = line;
  const rest = borderTime(moves, change, loop) - c; // a x + b y = rest
  const [from, to] = [{ x: low.x - REACH[0], y: low.y - REACH[0] }, { x: high.x + REACH[1], y: high.y + REACH[1] }];
  const steep = Math.abs(a) >= Math.abs(b);
  /** @param {number} free @returns {Spot} */
  const on = (free) => (steep ? { x: (rest - b * free) / a, y: free } : { x: free, y: (rest - a * free) / b });
  let [first, last] = steep ? [from.y, to.y] : [from.x, to.x];
  const [slope, least, most] = steep ? [-b / a, from.x, to.x] : [-a / b, from.y, to.y];
  if (slope) {
    const start = rest / (steep ? a : b);
    const [one, other] = [(least - start) / slope, (most - start) / slope].sort((p, q) => p - q);
    [first, last] = [Math.max(first, one), Math.min(last, other)];
  } else if (rest / (steep ? a : b) < least || rest / (steep ? a : b) > most) return null;
  if (first >= last) return null;
  const middle = Math.min(Math.max(Math.floor((first + last) / 2) + 0.5, first), last);
  return { ends: /** @type {[Spot, Spot]} */ ([on(first), on(last)]), middle: on(middle) };
}

/**
 * The knobs over a domain in the plane.
 * @param {import("./stage.js").DomainStage} stage @param {Unpacked} moves @param {() => Change} now @param {Apply} apply
 */
export function handlesOf(stage, moves, now, apply) {
  const plane = /** @type {import("./geometry.js").Plane} */ (stage.view);
  const box = extentOf(stage);
  const rows = moves.loops.flatMap((loop, k) => (loop.line.length ? [k] : []));
  const layer = make("div", { class: "tl-knobs" });
  const set = rows.map((k) => {
    const { name } = moves.loops[k];
    const size = knob("tl-knob", tr("size of the tiles of {loop}", { loop: name }), tr("drag to cut the loop {loop} into tiles", { loop: name }), (step, far) => {
      const change = now();
      apply(withSize(change, k, far ? (step < 0 ? 0 : change.sizes[k] + 5) : change.sizes[k] + step));
    });
    dragging(size, stage, (x, y) => {
      const line = leaningLine(moves, now(), k);
      if (line) apply(withBorder(moves, now(), k, line.a * x + line.b * y + line.c));
    });
    const other = skewedBy(moves, k);
    const leans = !plane.flat && other >= 0 && moves.loops[other].line.length > 0;
    const lean = leans ? knob("tl-knob tl-leans", tr("skew of {loop} by {other}", { loop: name, other: moves.loops[other].name }), tr("drag to skew the loop {loop} by {other}", { loop: name, other: moves.loops[other].name }), (step, far) => {
      apply(withSkew(moves, now(), k, far ? 0 : factorOf(now(), k) + step));
    }) : null;
    if (lean) {
      dragging(lean, stage, (x, y) => {
        // The line turns about its place at the first iteration of the other loop.
        const bare = { ...now(), skews: now().skews.filter(([loop]) => loop !== k) };
        const [own, by] = [leaningLine(moves, bare, k), leaningLine(moves, bare, other)];
        if (!own || !by) return;
        const first = rangeOf(moves, bare, other)[0];
        const start = borderTime(moves, now(), k) - factorOf(now(), k) * first;
        const across = by.a * x + by.b * y + by.c - first;
        if (across > 0.25) apply(withSkew(moves, now(), k, (start - (own.a * x + own.b * y + own.c)) / across));
      });
      layer.append(lean);
    }
    layer.append(size);
    return { k, size, lean, other };
  });
  /** Put each knob where its line is; what is drawn under them. */
  const place = () => {
    const change = now();
    return set.flatMap(({ k, size, lean, other }) => {
      const line = borderLine(moves, change, k, box);
      const count = change.sizes[k];
      size.setAttribute("aria-valuenow", String(count));
      size.setAttribute("aria-valuetext", count ? tr("{count} iterations", { count }) : tr("no tiles"));
      const factor = factorOf(change, k);
      lean?.setAttribute("aria-valuenow", String(factor));
      lean?.setAttribute("aria-valuetext", tr("{factor} times {other}", { factor, other: moves.loops[Math.max(other, 0)].name }));
      const ends = (line?.ends ?? [box.low, box.high]).map(({ x, y }) => plane.spot(x, y));
      const middle = line ? plane.spot(line.middle.x, line.middle.y) : ends[1];
      putAt(size, middle);
      if (lean) putAt(lean, ends[1]);
      return line && (count || factor) ? [ends] : [];
    });
  };
  return { layer, place };
}

/** The least and the greatest coordinates of a stage's points. @param {import("./stage.js").DomainStage} stage */
function extentOf(stage) {
  const size = stage.scene.dims.length;
  const low = { x: Infinity, y: size === 1 ? 0 : Infinity };
  const high = { x: -Infinity, y: size === 1 ? 0 : -Infinity };
  for (const { points } of stage.layers) {
    for (let p = 0; p + size <= points.length; p += size) {
      const [x, y] = [points[p + size - 1], size === 1 ? 0 : points[p]];
      Object.assign(low, { x: Math.min(low.x, x), y: Math.min(low.y, y) });
      Object.assign(high, { x: Math.max(high.x, x), y: Math.max(high.y, y) });
    }
  }
  return { low, high };
}

/** @param {HTMLElement} node @param {Spot} at */
const putAt = (node, { x, y }) => Object.assign(node.style, { left: `${x}px`, top: `${y}px` });

/** @type {Record<string, [number, boolean]>} how far each key goes; Home and Page Up are far */
const STEPS = { ArrowRight: [1, false], ArrowUp: [1, false], ArrowLeft: [-1, false], ArrowDown: [-1, false], Home: [-1, true], PageUp: [1, true] };

/** A knob that arrow keys move, too; `told` on hover. @param {string} kind @param {string} name @param {string} told @param {(step: number, far: boolean) => void} move */
function knob(kind, name, told, move) {
  const made = knobOf(kind, name, STEPS, ([step, far]) => move(step, far));
  made.title = told;
  return made;
}

/** @param {HTMLElement} node @param {import("./stage.js").DomainStage} stage @param {(x: number, y: number) => void} to in units */
function dragging(node, stage, to) {
  const plane = /** @type {import("./geometry.js").Plane} */ (stage.view);
  dragged(node, (event) => {
    const corner = stage.node.getBoundingClientRect();
    to((event.clientX - corner.left - plane.left) / plane.unit, (plane.down - (event.clientY - corner.top)) / plane.unit);
  });
}

/**
 * The same by numbers, for each loop, and the order of the loops as chips that are dragged or moved by arrow keys.
 * @param {Unpacked} moves @param {() => Change} now @param {Apply} apply @param {() => void} reset
 */
export function loopBar(moves, now, apply, reset) {
  const { loops } = moves;
  const chips = loops.map(({ name }, k) => make("button", {
    type: "button", class: "tl-chip",
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (!step || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      apply(withStep(now(), k, step));
      chips[k].focus();
    },
    onpointerdown: (/** @type {PointerEvent} */ event) => chips[k].setPointerCapture(event.pointerId),
    onpointermove: (/** @type {PointerEvent} */ event) => {
      if (!chips[k].hasPointerCapture(event.pointerId)) return;
      const at = now().order.indexOf(k);
      const middle = (/** @type {number} */ to) => {
        const box = chips[now().order[to]].getBoundingClientRect();
        return (box.left + box.right) / 2;
      };
      if (at > 0 && event.clientX < middle(at - 1)) apply(withStep(now(), k, -1));
      else if (at + 1 < loops.length && event.clientX > middle(at + 1)) apply(withStep(now(), k, 1));
    },
  }, name));
  const row = make("span", { class: "tl-chips", role: "group", "aria-label": tr("the loops, from the outermost on") }, ...chips);
  const swap = make("button", { type: "button", title: tr("exchange the two outermost loops"), "aria-label": tr("exchange the two outermost loops"), onclick: () => apply(withStep(now(), now().order[0], 1)) }, "⇄");
  const fields = loops.map(({ name }, k) => {
    const size = field(tr("size of the tiles of {loop}", { loop: name }), 0, 4096, (value) => apply(withSize(now(), k, value)));
    const other = skewedBy(moves, k);
    const skew = other < 0 ? null : field(tr("skew of {loop} by {other}", { loop: name, other: loops[other].name }), -MOST_FACTOR, MOST_FACTOR, (value) => apply(withSkew(moves, now(), k, value)));
    const node = make("span", { class: "tl-loop" }, make("label", {}, tr("tiles of {loop}", { loop: name }), " ", size), ...(skew ? [make("label", {}, `${name} + `, skew, ` ${loops[other].name}`)] : []));
    return { size, skew, node };
  });
  const clear = make("button", { type: "button", onclick: reset }, tr("reset"));
  const node = make("div", { class: "tl-domain-bar" }, ...(loops.length > 1 ? [make("span", {}, tr("outermost first")), row, swap] : []), ...fields.map((one) => one.node), clear);
  const show = () => {
    const change = now();
    chips.forEach((chip, k) => {
      const at = change.order.indexOf(k);
      chip.style.order = String(at);
      chip.setAttribute("aria-label", tr("loop {loop}: {place} of {count} from the outermost; arrow keys move it", { loop: loops[k].name, place: at + 1, count: loops.length }));
    });
    fields.forEach(({ size, skew }, k) => {
      if (document.activeElement !== size || Number(size.value) !== change.sizes[k]) size.value = String(change.sizes[k]);
      if (skew && (document.activeElement !== skew || Number(skew.value) !== factorOf(change, k))) skew.value = String(factorOf(change, k));
    });
  };
  return { node, show };
}

/** @param {string} name @param {number} low @param {number} high @param {(value: number) => void} choose */
function field(name, low, high, choose) {
  /** @type {HTMLInputElement} */
  const input = make("input", {
    type: "number", min: low, max: high, step: 1, value: 0, "aria-label": name, title: name,
    oninput: () => {
      const value = Number(input.value);
      if (input.value !== "" && Number.isInteger(value) && value >= low && value <= high) choose(value);
    },
  });
  return input;
}
