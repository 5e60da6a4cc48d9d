/** Accesses: how often, by whom and when elements are touched; all pictures have the same cells. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { Heatmap } from "../drawing/heatmap.js";
import { EMPHASIS } from "../drawing/raster.js";
import { iterationPicker, layerPicker, programPicker } from "./pickers.js";
import { accessWord, bytesFrom, countOf, elsewhereOf, listPrograms, markOf } from "../drawing/words.js";
import { detailOf, finerOf } from "./finer.js";
import { elementsAt, heldAt } from "./strides.js";
import { goToOne, linesIn } from "../linked.js";
import { lineOf } from "../selection.js";
import { tr } from "../localization.js";

/**
 * @param {import("../scenes.js").AccessesScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {{node: HTMLElement, draw: () => void}}
 */
export function accessesOf(scene, selection, context) {
  const touched = new TouchedArgument(scene);
  const place = make("div");
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  const title = make("div", { class: "tl-title" });
  /** @type {Record<string, Heatmap>} */
  const layers = {};
  /** @type {Set<Heatmap>} */
  const zoomed = new Set();
  let shown = scene.layer;
  const emphasisOf = (/** @type {Touched} */ one) => {
    const { program, iteration } = selection.get();
    return one.emphasis(program ?? null, iteration ?? null, lineOf(selection));
  };

  /** @param {Heatmap} heatmap @param {import("../drawing/heatmap.js").Cell} cell */
  const linesAt = (heatmap, cell) => touchedAt(touched, heatmap, cell).lines(heatmap.classAt(cell));

  const layer = () => {
    if (!layers[shown]) {
      const heatmap = new Heatmap({ ...scene.heatmap, ...scene.layers[shown] });
      const name = shown;
      heatmap.onword = (cell) => touchedAt(touched, heatmap, cell).word(heatmap.classAt(cell), name);
      heatmap.zoom.offer(finerOf(context, scene.finer, (answer) => {
        if (answer.kind !== "accesses" || !answer.layers[name]) return null;
        const own = new TouchedArgument(answer);
        const detail = detailOf(answer.window, answer.heatmap.cells, answer.layers[name], heatmap.rules, heatmap.layout.right, own);
        if (detail) detail.emphasis = emphasisOf(own);
        return detail;
      }));
      heatmap.zoom.others = zoomed;
      zoomed.add(heatmap);
      heatmap.onpoint = (cell) => {
        context.linked?.point(cell ? linesAt(heatmap, cell) : []);
        return (status.textContent = cell ? touched.words(heatmap, cell) : rest());
      };
      heatmap.onpick = (cell) => {
        goToOne(context.linked, linesAt(heatmap, cell), selection);
        const there = touchedAt(touched, heatmap, cell).members(heatmap.classAt(cell)).active;
        // Clicking again goes on to the next program on the same element.
        const next = there[there.indexOf(selection.get().program ?? -1) + 1] ?? null;
        if (there.length) selection.set({ program: next });
      };
      heatmap.onkey = (key) => {
        if (key !== "Escape") return false;
        selection.set({ program: null, iteration: null });
        return true;
      };
      layers[shown] = heatmap;
    }
    return layers[shown];
  };

  /** What the status line says while the pointer is elsewhere. */
  const rest = () => {
    const { name } = scene.argument;
    if (!scene.moments.length) return tr("No program accesses {name}.", { name });
    const picked = selection.get().program == null;
    return [
      picked ? tr("Point at an element; click it to pick its program.") : tr("Escape clears the selection."),
      ...elsewhereOf(scene.elsewhere, name),
    ].join(" · ");
  };

  const { program, iteration } = scene;
  if (program !== null && selection.get().program === undefined) selection.set({ program });
  if (iteration !== null && selection.get().iteration === undefined) selection.set({ iteration });
  const pickers = [programPicker(scene.grid, selection), iterationPicker(touched.iterations, selection)];
  let sought = selection.get().program ?? null;
  const update = () => {
    for (const picker of pickers) picker.update();
    const now = layer();
    now.emphasise(emphasisOf(touched), ({ extra }) => (extra instanceof Touched ? emphasisOf(extra) : null));
    const picked = selection.get().program ?? null;
    if (picked !== sought) now.zoom.seek();
    sought = picked;
    status.textContent = now.cursor ? touched.words(now, now.cursor) : rest();
  };
  const show = (/** @type {string} */ name) => {
    const { lens } = layer();
    shown = name;
    place.replaceChildren(layer().node);
    layer().zoom.follow(lens);
    const values = { title: scene.title, what: scene.says[name] };
    title.textContent = scene.over === "storage" ? tr("{title}: {what}, over its storage", values) : `${scene.title}: ${scene.says[name]}`;
  };
  const radios = layerPicker(Object.keys(scene.layers), shown, (name) => {
    show(name);
    update();
  });
  show(shown);
  selection.subscribe(update);
  const controls = [radios, ...pickers.map((picker) => picker.nodes)].filter((nodes) => nodes.length);
  const node = make(
    "div", { class: "tl-accesses" }, title,
    ...controls.map((nodes) => make("div", { class: "tl-controls" }, ...nodes)), place, status,
  );
  return { node, draw: update };
}

/**
 * Who touches a cell: of the whole picture, or of the single position in it that is known.
 * @template {Touched} One
 * @param {One} whole @param {Heatmap} heatmap @param {import("../drawing/heatmap.js").Cell} cell
 * @returns {One}
 */
export function touchedAt(whole, heatmap, [panel, row, column, single]) {
  const extra = single ? heatmap.detailAt([panel, row, column])?.extra : null;
  return extra instanceof Touched ? /** @type {One} */ (extra) : whole;
}

/** Who touches the cells of each class, and when. */
export class Touched {
  /** @param {import("../scenes.js").Touches & {grid: number[], nobody?: string, counts?: import("../scenes.js").Buffer, values?: import("../scenes.js").Buffer}} scene */
  constructor(scene) {
    this.scene = scene;
    this.programs = scene.grid[0] * scene.grid[1] * scene.grid[2];
    this.counts = scene.counts ? numbers(scene.counts) : [];
    this.starts = numbers(scene.starts);
    this.items = numbers(scene.items);
    this.size = this.programs * scene.moments.length;
    this.iterations = scene.moments.reduce((most, [iteration]) => Math.max(most, iteration + 1), 0);
  }

  /** @param {number} number a class */
  members(number) {
    const count = this.scene.moments.length;
    const active = new Set();
    const masked = new Set();
    const moments = new Set();
    for (let k = this.starts[number]; k < this.starts[number + 1]; k++) {
      const item = this.items[k];
      if (item >= this.size) masked.add(Math.floor((item - this.size) / count));
      else {
        active.add(Math.floor(item / count));
        moments.add(item % count);
      }
    }
    const sorted = (/** @type {Set<number>} */ set) => [...set].sort((a, b) => a - b);
    return { active: sorted(active), masked: sorted(masked), moments: sorted(moments) };
  }

  /** The lines that touch a class. @param {number} number */
  lines(number) {
    return linesIn(this.members(number).moments.map((moment) => this.scene.moments[moment][1]));
  }

  /** @param {number | null} program @param {number | null} iteration @param {number | null} line */
  emphasis(program, iteration, line = null) {
    const { moments } = this.scene;
    if (iteration !== null && iteration >= this.iterations) iteration = null;
    if (!moments.some((moment) => moment[1] === line)) line = null;
    if (program === null && iteration === null && line === null) return null;
    const levels = new Uint8Array(this.starts.length - 1).fill(EMPHASIS.dimmed);
    for (let number = 1; number < levels.length; number++) {
      for (let k = this.starts[number]; k < this.starts[number + 1]; k++) {
        const masked = this.items[k] >= this.size;
        const item = masked ? this.items[k] - this.size : this.items[k];
        if (program !== null && Math.floor(item / moments.length) !== program) continue;
        const [when, where] = moments[item % moments.length];
        if (iteration !== null && when !== iteration) continue;
        if (line !== null && where !== line) continue;
        if (!masked) levels[number] = EMPHASIS.chosen;
        else if (levels[number] !== EMPHASIS.chosen) levels[number] = EMPHASIS.normal;
      }
    }
    return levels;
  }

}

/** The same where the cells are those of an argument, or of its storage. */
export class TouchedArgument extends Touched {
  /** @param {import("../scenes.js").AccessesScene} scene */
  constructor(scene) {
    super(scene);
    this.argument = scene.argument;
    this.over = scene.over;
    this.unit = scene.unit;
  }

  /**
   * Everything about one cell.
   * @param {Heatmap} heatmap
   * @param {import("../drawing/heatmap.js").Cell} cell
   */
  words(heatmap, cell) {
    const own = touchedAt(/** @type {TouchedArgument} */ (this), heatmap, cell);
    const number = heatmap.classAt(cell);
    const { active, masked, moments } = own.members(number);
    const parts = [this.where(heatmap.indexAt(cell), active.length > 0)];
    if (active.length) {
      const count = own.counts[number];
      const times = count === 1 ? tr("once") : countOf(count, "time");
      parts.push(heatmap.isSingle(cell) ? times : tr("at most {times}", { times }), listPrograms(active, this.scene.grid));
      const told = moments.map((moment) => this.scene.moments[moment]);
      const iterations = [...new Set(told.map(([iteration]) => iteration))].sort((a, b) => a - b);
      if (this.iterations > 1) parts.push(spanOf(iterations));
      told.sort((a, b) => (a[1] ?? 0) - (b[1] ?? 0));
      const kinds = told.map(([, line, kind]) => (line === null ? accessWord(kind) : tr("{kind} in line {line}", { kind: accessWord(kind), line })));
      parts.push([...new Set(kinds)].join(", "));
    } else parts.push(this.scene.nobody ?? "");
    if (masked.length) parts.push(tr("masked lanes of {programs}", { programs: listPrograms(masked, this.scene.grid) }));
    return parts.join(" · ");
  }

  /** What stands in a cell. @param {number} number its class @param {string} layer */
  word(number, layer) {
    const { active, moments } = this.members(number);
    if (!active.length) return "";
    if (layer === "count") return `×${this.counts[number]}`;
    if (layer === "reuse") return `×${active.length}`;
    if (layer === "program") return markOf(active[0], this.scene.grid);
    if (layer === "iteration") return String(Math.min(...moments.map((moment) => this.scene.moments[moment][0])));
    return "";
  }

  /** @param {{index: number[], down: number, right: number}} at @param {boolean} isTouched */
  where({ index, down, right }, isTouched) {
    const { argument, over, unit } = this;
    if (over === "storage") {
      const byte = index[0] * unit;
      const bytes = bytesFrom(byte, unit * right);
      const offset = Math.floor(byte / argument.itemsize) - argument.offset;
      const [first] = right === 1 ? elementsAt(argument, offset, 1) : [];
      const element = first ? ` · ${argument.name}[${first.join(", ")}]${isTouched ? heldAt(this.scene, argument.shape, first) : ""}` : "";
      return tr("storage {bytes}, line {line}, sector {sector}", { bytes, line: Math.floor(byte / 128), sector: Math.floor((byte % 128) / 32) }) + element;
    }
    const last = index.length - 1;
    /** @param {number} value @param {number} axis */
    const span = (value, axis) => {
      const extent = axis === last ? right : axis === last - 1 ? down : 1;
      return extent > 1 ? `${value}:${value + extent}` : String(value);
    };
    const outside = index.some((value, axis) => value < 0 || value >= argument.shape[axis]);
    const element = `${argument.name}[${index.map(span).join(", ")}]`;
    return outside ? tr("{element}, outside the argument", { element }) : element + (isTouched && right === 1 && down === 1 ? heldAt(this.scene, argument.shape, index) : "");
  }
}

/**
 * `iteration 3`, `iterations 0–4` or `iterations 0, 2, 5`.
 * @param {number[]} list ascending
 */
function spanOf(list) {
  if (list.length === 1) return tr("iteration {number}", { number: list[0] });
  const whole = list[list.length - 1] - list[0] === list.length - 1;
  const some = list.slice(0, 6).join(", ") + (list.length > 6 ? " …" : "");
  return tr("iterations {numbers}", { numbers: whole ? `${list[0]}–${list[list.length - 1]}` : some });
}
