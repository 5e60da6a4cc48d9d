/** Tiling: elements coloured by program; the control or a click picks a program, the pointer tells all. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { Heatmap } from "../drawing/heatmap.js";
import { EMPHASIS } from "../drawing/raster.js";
import { detailOf, finerOf } from "./finer.js";
import { programPicker, radioOf } from "./pickers.js";
import { accessWord, countOf, elsewhereOf, listPrograms, programsMark } from "../drawing/words.js";
import { heldAt } from "./strides.js";
import { goToOne, linesIn } from "../linked.js";
import { lineOf } from "../selection.js";
import { tr } from "../localization.js";

/**
 * @param {import("../scenes.js").TilingScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {{node: HTMLElement, draw: () => void}}
 */
export function tilingOf(scene, selection, context) {
  const programs = scene.grid[0] * scene.grid[1] * scene.grid[2];
  const names = Object.keys(scene.layers);
  /** @type {Record<string, Layer>} */
  const layers = {};
  /** @type {Set<Heatmap>} */
  const zoomed = new Set();
  let shown = scene.layer;
  const place = make("div");
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  const title = make("div", { class: "tl-title" });
  const controls = make("div", { class: "tl-controls" });

  /** @param {string} name */
  const layer = (name) => {
    if (!layers[name]) {
      layers[name] = new Layer(scene, name, programs);
      const { heatmap } = layers[name];
      heatmap.onword = (cell) => programsMark(layers[name].programsAt(cell), scene.grid);
      heatmap.zoom.offer(finerOf(context, scene.finer, (answer) => {
        if (answer.kind !== "tiling" || !answer.layers[name]) return null;
        const detail = detailOf(answer.window, answer.cells, answer.layers[name], heatmap.rules, heatmap.layout.right, new Members(answer, name, programs));
        const { program } = selection.get();
        if (detail) detail.emphasis = layers[name].emphasisIn(detail, program ?? null, lineOf(selection));
        return detail;
      }));
      heatmap.zoom.others = zoomed;
      zoomed.add(heatmap);
      layers[name].heatmap.onpoint = (cell) => {
        context.linked?.point(cell ? layers[name].linesAt(cell) : []);
        return (status.textContent = cell ? layers[name].words(cell) : rest());
      };
      layers[name].heatmap.onpick = (cell) => {
        goToOne(context.linked, layers[name].linesAt(cell), selection);
        const there = layers[name].programsAt(cell);
        // Clicking again goes on to the next program on the same element.
        const next = there[there.indexOf(selection.get().program ?? -1) + 1] ?? null;
        if (there.length) selection.set({ program: next });
      };
      layers[name].heatmap.onkey = (key) => {
        if (key !== "Escape") return false;
        selection.set({ program: null });
        return true;
      };
    }
    return layers[name];
  };

  /** What the status line says while the pointer is elsewhere. */
  const rest = () => {
    const { program } = selection.get();
    const picked = program == null ? tr("Point at an element; click it to pick its program.") : tr("Escape clears the selection.");
    return [picked, ...elsewhereOf(scene.elsewhere, scene.argument.name)].join(" · ");
  };

  if (scene.program !== null && selection.get().program === undefined) selection.set({ program: scene.program });
  const picker = programPicker(scene.grid, selection);
  let sought = selection.get().program ?? null;
  const update = () => {
    const program = selection.get().program ?? null;
    picker.update();
    const now = layer(shown);
    now.heatmap.emphasise(now.emphasis(program, lineOf(selection)), (detail) => now.emphasisIn(detail, program, lineOf(selection)));
    if (program !== sought) now.heatmap.zoom.seek();
    sought = program;
    status.textContent = now.heatmap.cursor ? now.words(now.heatmap.cursor) : rest();
  };

  const stored = scene.accesses.some(([, kind]) => kind === "store");
  /** @param {string} name a layer */
  const titleOf = (name) => {
    const { title } = scene;
    if (name === "loads") return tr("{subject}: which program loads each element", { subject: title });
    if (name === "stores" && !stored) return tr("{subject}: which program updates each element, with atomics", { subject: title });
    if (name === "stores") return tr("{subject}: which program stores each element", { subject: title });
    return tr("{subject}: which program accesses each element", { subject: title });
  };
  /** @param {string} name */
  const show = (name) => {
    const { lens } = layer(shown).heatmap;
    shown = name;
    place.replaceChildren(layer(name).heatmap.node);
    layer(name).heatmap.zoom.follow(lens);
    title.textContent = titleOf(name);
    update();
  };
  if (names.length > 1) {
    const group = `tl-${Math.random().toString(36).slice(2)}`;
    for (const name of names) {
      controls.append(radioOf(group, name, name === shown, () => show(name)));
    }
  }
  controls.append(...picker.nodes);
  selection.subscribe(update);
  const astray = scene.astray.length ? make("div", { class: "tl-astray" }, ...scene.astray.map((line) => make("div", {}, line))) : "";
  const node = make("div", { class: "tl-tiling" }, title, controls, astray, place, status);
  place.append(layer(shown).heatmap.node);
  title.textContent = titleOf(shown);
  return { node, draw: update };
}

/** Which roles a layer has: 0 load, 1 store or atomic; two more is the masked lane of the same. */
const ROLES = /** @type {Record<string, number[]>} */ ({ loads: [0], stores: [1], both: [0, 1] });

/** Who touches the cells of each class: of a whole picture, or of a window of it. */
class Members {
  /** @param {import("../scenes.js").TilingScene} scene @param {string} name @param {number} programs */
  constructor(scene, name, programs) {
    this.scene = scene;
    this.programs = programs;
    this.roles = ROLES[name];
    this.classOf = numbers(scene.classOf);
    this.starts = numbers(scene.starts);
    this.items = numbers(scene.items);
  }

  /**
   * The programs with an active or a masked lane, ascending, and the accesses of a class.
   * @param {number} number a class of the heatmap
   */
  members(number) {
    const own = this.classOf[number];
    /** @type {Set<number>} */
    const active = new Set();
    /** @type {Set<number>} */
    const masked = new Set();
    const accesses = [];
    for (let k = this.starts[own]; k < this.starts[own + 1]; k++) {
      const role = Math.floor(this.items[k] / this.programs);
      const program = this.items[k] % this.programs;
      if (role > 3) accesses.push(this.scene.accesses[this.items[k] - 4 * this.programs]);
      else if (this.roles.includes(role)) active.add(program);
      else if (this.roles.includes(role - 2)) masked.add(program);
    }
    const kinds = /** @type {Record<string, number>} */ ({ load: 0, store: 1, atomic: 1 });
    return {
      active: [...active].sort((a, b) => a - b),
      masked: [...masked].sort((a, b) => a - b),
      accesses: accesses.filter(([, kind]) => this.roles.includes(kinds[kind])),
    };
  }

  /**
   * What a program touches, what a line touches, or what both have in common; null for no emphasis.
   * @param {number | null} program @param {number | null} line
   */
  emphasis(program, line) {
    const lines = this.scene.accesses.map((/** @type {[number | null, string]} */ [at]) => at);
    if (!lines.includes(line)) line = null;
    if (program === null && line === null) return null;
    const levels = new Uint8Array(this.classOf.length).fill(EMPHASIS.dimmed);
    const active = program === null ? [] : this.roles.map((role) => role * this.programs + program);
    const masked = active.map((item) => item + 2 * this.programs);
    for (let number = 1; number < levels.length; number++) {
      const own = this.classOf[number];
      let [touches, misses, there] = [program === null, false, line === null];
      for (let k = this.starts[own]; k < this.starts[own + 1]; k++) {
        const item = this.items[k];
        if (item >= 4 * this.programs) there ||= lines[item - 4 * this.programs] === line;
        else if (active.includes(item)) touches = true;
        else if (masked.includes(item)) misses = true;
      }
      if (touches && there) levels[number] = EMPHASIS.chosen;
      else if (misses && line === null) levels[number] = EMPHASIS.normal;
    }
    return levels;
  }
}

/** Loads, stores or both. */
class Layer extends Members {
  /** @param {import("../scenes.js").TilingScene} scene @param {string} name @param {number} programs */
  constructor(scene, name, programs) {
    super(scene, name, programs);
    this.heatmap = new Heatmap({ ...scene.layers[name], cells: scene.cells });
  }

  /** Who touches a cell, or the single position in it that is known. @param {import("../drawing/heatmap.js").Cell} cell */
  membersAt(cell) {
    const detail = cell[3] ? this.heatmap.detailAt([cell[0], cell[1], cell[2]]) : null;
    const own = detail?.extra instanceof Members ? detail.extra : this;
    return own.members(this.heatmap.classAt(cell));
  }

  /** @param {import("../drawing/heatmap.js").Cell} cell @returns {number[]} */
  programsAt(cell) {
    return this.membersAt(cell).active;
  }

  /** The lines that touch a cell. @param {import("../drawing/heatmap.js").Cell} cell */
  linesAt(cell) {
    return linesIn(this.membersAt(cell).accesses.map(([line]) => line));
  }

  /** The same as `emphasis` for what is known of single positions. @param {import("../drawing/magnified.js").Detail} detail @param {number | null} program @param {number | null} line */
  emphasisIn(detail, program, line) {
    return detail.extra instanceof Members ? detail.extra.emphasis(program, line) : null;
  }

  /**
   * Everything about one cell: element, storage offset, programs, lines.
   * @param {import("../drawing/heatmap.js").Cell} cell
   */
  words(cell) {
    const { argument, grid } = this.scene;
    const { index, down, right } = this.heatmap.indexAt(cell);
    const last = index.length - 1;
    /** @param {number} value @param {number} axis */
    const span = (value, axis) => {
      const extent = axis === last ? right : axis === last - 1 ? down : 1;
      return extent > 1 ? `${value}:${value + extent}` : String(value);
    };
    const outside = index.some((value, axis) => value < 0 || value >= argument.shape[axis]);
    const where = `${argument.name}[${index.map(span).join(", ")}]`;
    const single = right === 1 && down === 1 && !outside;
    const offset = index.reduce((total, value, axis) => total + value * argument.strides[axis], argument.offset);
    const { active, masked, accesses } = this.membersAt(cell);
    const held = where + (active.length && single ? heldAt(this.scene, argument.shape, index) : "");
    const parts = [outside ? tr("{element}, outside the argument", { element: where }) : `${held} · ${tr("storage offset {offset}", { offset })}`];
    parts.push(active.length ? listPrograms(active, grid) : this.scene.nobody);
    const words = accesses.map(([line, kind]) => (line === null ? accessWord(kind) : tr("{kind} in line {line}", { kind: accessWord(kind), line })));
    if (words.length) parts.push([...new Set(words)].join(", "));
    if (masked.length) parts.push(tr("masked lanes of {programs}", { programs: listPrograms(masked, grid) }));
    return parts.join(" · ");
  }
}
