/** Grid: the programs of a launch, beside an argument in the colours of its programs. */

import { numbers } from "../drawing/data.js";
import { emptyCanvases, make } from "../drawing/dom.js";
import { explain, explanationOf } from "../drawing/explained.js";
import { cellOf, unravel } from "../drawing/frame.js";
import { Heatmap } from "../drawing/heatmap.js";
import { crowded, regionLabels } from "../drawing/labels.js";
import { EMPHASIS } from "../drawing/raster.js";
import { STYLE } from "../drawing/style.js";
import { TouchedArgument, touchedAt } from "./accesses.js";
import { detailOf, finerOf } from "./finer.js";
import { goToOne } from "../linked.js";
import { layerPicker, layerWord, programPicker } from "./pickers.js";
import { Sharing } from "./sharing.js";
import { callProgram, countOf, listPrograms } from "../drawing/words.js";
import { tr } from "../localization.js";

const GRID_LAYERS = ["order", "wave", "lanes", "bytes", "iterations", "shared"];
const FIRST_LEVEL = 4; // after: no cell, no program, masked, outside

/**
 * @param {import("../scenes.js").GridScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {{node: HTMLElement, draw: () => void}}
 */
export function gridOf(scene, selection, context) {
  const programs = scene.grid[0] * scene.grid[1] * scene.grid[2];
  const facts = Object.fromEntries(
    ["lanes", "bytes", "iterations"].map((name) => [name, numbers(scene.numbers[name])]),
  );
  const [masked, loaded, stored] = [scene.masked, scene.loaded, scene.stored].map(numbers);
  const inputs = scene.inputs.map((one) => ({
    nbytes: numbers(one.nbytes), starts: numbers(one.starts), items: numbers(one.items),
  }));
  const touched = scene.target ? new TouchedArgument(scene.target.accesses) : null;
  const first = scene.target ? numbers(scene.target.first) : null;
  const states = scene.stopped ? numbers(scene.stopped.states) : new Uint8Array(0);
  let shown = scene.layer;
  let sms = scene.sms;
  const title = make("div", { class: "tl-title" });
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  const place = make("div", { class: "tl-row" });
  /** @type {Heatmap[]} */
  let heatmaps = [];

  const sharing = new Sharing(inputs, programs);

  /** @returns {ArrayLike<number>} */
  const values = () => {
    if (shown === "shared") {
      if (programs) sharing.with(selection.get().program ?? 0);
      return sharing.bytes.slice();
    }
    if (facts[shown]) return facts[shown];
    const own = new Float64Array(programs);
    for (let p = 0; p < programs; p++) own[p] = shown === "wave" ? Math.floor(p / sms) : p;
    return own;
  };

  const build = () => {
    const now = values();
    let [low, high] = [Infinity, -Infinity];
    for (let p = 0; p < programs; p++) [low, high] = [Math.min(low, now[p]), Math.max(high, now[p])];
    const { styles, start, levels, ticks } = scene.ramp;
    const coloured = shown === "order"; // in the colours that programs have everywhere
    const few = coloured && programs <= STYLE.programs.few;
    const level = (/** @type {number} */ value) => few ? FIRST_LEVEL + levels + value :
      FIRST_LEVEL + (high > low ? Math.floor(((levels - 1) * (value - low)) / (high - low)) : Math.floor((levels * 5) / 8));
    /** @type {Omit<import("../scenes.js").Dress, "labels" | "groups">} */
    const dress = {
      styles, legend: few ? scene.ramp.programs : [],
      ramp: programs && !few ? [start, levels, low, high] : null, rampName: coloured ? scene.ramp.name : layerWord(shown === "shared" ? "bytes shared" : shown),
      ticks: coloured ? ticks : [],
    };
    // The keyboard stays where it was.
    const held = heatmaps.findIndex((heatmap) => heatmap.overlay === document.activeElement);
    const cursor = heatmaps[held]?.cursor ?? null;
    const lenses = heatmaps.map(({ lens }) => lens);
    const [own, numbered] = [new Uint8Array(programs + 1), new Float64Array(programs + 1)];
    for (let p = 0; p < programs; p++) [own[p + 1], numbered[p + 1]] = [level(now[p]), now[p] + FIRST_LEVEL];
    heatmaps = [new Heatmap({ ...scene.heatmap, ...dress, marks: scene.marks, ...regionsOf(scene.heatmap, numbered), levels: packed(own) })];
    if (scene.target && first) {
      const { accesses } = scene.target;
      const base = numbers(accesses.layers.program.levels);
      /** @type {[number[], string][]} */
      const keys = accesses.layers.program.legend;
      // What is no program's, or lies outside the argument, has a pattern.
      const patterned = keys.filter(([look]) => look[3] !== STYLE.pattern.plain);
      const theirs = Uint8Array.from(first, (program, k) => (program && base[k] >= FIRST_LEVEL ? level(now[program - 1]) : base[k]));
      const told = Float64Array.from(first, (program, k) => (program && base[k] >= FIRST_LEVEL ? numbered[program] : base[k]));
      heatmaps.push(new Heatmap({
        ...accesses.heatmap, ...dress, ...regionsOf(accesses.heatmap, told), legend: [...dress.legend, ...patterned], ramp: null, levels: packed(theirs), title: accesses.title,
      }));
      const { name } = accesses.argument;
      const beside = heatmaps[1];
      beside.onword = (cell) => {
        const own = programAt(beside, cell);
        return own < 0 ? "" : String(now[own]);
      };
      beside.zoom.offer(finerOf(context, accesses.finer, (answer) => {
        if (answer.kind !== "accesses") return null;
        const own = new TouchedArgument(answer);
        const least = Float64Array.from({ length: own.starts.length - 1 }, (_, k) => own.members(k).active[0] ?? -1);
        const bare = numbers(answer.layers.program.levels);
        const levelled = Uint8Array.from(least, (program, k) => (program < 0 || bare[k] < FIRST_LEVEL ? bare[k] : level(now[program])));
        const looks = { styles, levels: packed(levelled), groups: null };
        const detail = detailOf(answer.window, answer.heatmap.cells, looks, [0, 0], 1, own);
        const { program } = selection.get();
        if (detail) detail.emphasis = program == null ? null : own.emphasis(program, null);
        return detail;
      }));
      const linesAt = (/** @type {import("../drawing/heatmap.js").Cell} */ cell) =>
        touched ? touchedAt(touched, beside, cell).lines(beside.classAt(cell)) : [];
      heatmaps[1].onpoint = (cell) => {
        context.linked?.point(cell ? linesAt(cell) : []);
        return (status.textContent = cell && touched ? touched.words(heatmaps[1], cell) : rest());
      };
      heatmaps[1].onpick = (cell) => {
        goToOne(context.linked, linesAt(cell), selection);
        pick(programAt(beside, cell));
      };
      heatmaps[1].overlay.setAttribute("aria-label", tr("{name}: arrow keys move from cell to cell, Enter picks its program", { name }));
    }
    heatmaps[0].onword = (cell) => String(now[heatmaps[0].classAt(cell) - 1]);
    heatmaps[0].zoom.offer(scene.heatmap.layout.down * scene.heatmap.layout.right > 1 ? programsIn : null);
    heatmaps[0].onpoint = (cell) => (status.textContent = cell ? words(heatmaps[0].classAt(cell) - 1) : rest());
    heatmaps[0].onpick = (cell) => pick(heatmaps[0].classAt(cell) - 1);
    for (const heatmap of heatmaps) {
      heatmap.onkey = (key) => key === "Escape" && (selection.set({ program: null }), true);
    }
    emptyCanvases(place);
    place.replaceChildren(...heatmaps.map((heatmap) => heatmap.node));
    if (held >= 0) {
      heatmaps[held].cursor = cursor;
      heatmaps[held].mark(cursor ? [cursor] : []);
      heatmaps[held].overlay.focus();
    }
    // What was looked at closely stays so.
    heatmaps.forEach((heatmap, k) => lenses[k] && heatmap.zoom.follow(lenses[k]));
    title.textContent = `${scene.kernel}: ${scene.says[shown]}`;
  };
  /** The program that touches a cell first, -1 for none. @param {Heatmap} heatmap @param {import("../drawing/heatmap.js").Cell} cell */
  const programAt = (heatmap, cell) => {
    if (!touched || !first) return -1;
    const own = touchedAt(touched, heatmap, cell);
    return own === touched ? first[heatmap.classAt(cell)] - 1 : own.members(heatmap.classAt(cell)).active[0] ?? -1;
  };
  /** @type {import("../drawing/zoom.js").Finer} of the grid, where a cell has several programs: all are known here */
  const programsIn = (window, then) => {
    const { fine } = heatmaps[0].lens;
    const cells = Uint32Array.from({ length: window.rows * window.columns }, (_, k) => {
      const [row, column] = [window.row + Math.floor(k / window.columns), window.column + (k % window.columns)];
      const program = (window.panel * fine.rows + row) * fine.columns + column;
      return program < programs ? program + 1 : 0;
    });
    then({ window, cells, styles: heatmaps[0].styles, groups: null, emphasis: heatmaps[0].emphasis, extra: null, marks: [] });
  };
  const pick = (/** @type {number} */ program) => {
    if (program >= 0) selection.set({ program: selection.get().program === program ? null : program });
  };

  /** @param {number} program */
  const words = (program) => {
    const stopped = scene.stopped ? scene.stopped.says[states[program]] : "";
    if (stopped && !facts.lanes[program]) return `${callProgram(program, scene.grid)} ${stopped}`;
    const others = Array.from(sharing.with(program)).filter((other) => other !== program);
    const active = countOf(facts.lanes[program], "lane");
    const lanes = masked[program] ? tr("{lanes} and {count} masked", { lanes: active, count: masked[program] }) : active;
    return [
      callProgram(program, scene.grid), tr("wave {number}", { number: Math.floor(program / sms) }),
      ...(stopped ? [tr("{stopped}; before that", { stopped })] : []),
      countOf(facts.iterations[program], "iteration"), lanes,
      tr("loads {bytes}, stores {count}", { bytes: countOf(loaded[program], "byte"), count: stored[program] }),
      others.length ? tr("shares inputs with {programs}", { programs: listPrograms(others, scene.grid) }) : tr("shares no input"),
    ].join(" · ");
  };
  const rest = () => {
    if (!programs) return tr("The grid has no programs.");
    const { program } = selection.get();
    return program == null ? tr("Point at a program; click it to see the programs that load the same inputs.") : words(program);
  };

  const slider = programPicker(scene.grid, selection);
  const update = () => {
    slider.update();
    if (shown === "shared") build();
    const program = selection.get().program ?? null;
    /** @type {Uint8Array | null} */
    let levels = null;
    /** @type {Uint8Array | null} */
    let single = null;
    if (program !== null) {
      levels = new Uint8Array(programs + 1).fill(EMPHASIS.dimmed);
      levels[0] = EMPHASIS.normal;
      for (const other of sharing.with(program)) levels[other + 1] = EMPHASIS.normal;
      single = levels.slice();
      single[program + 1] = EMPHASIS.chosen;
      // A cell may stand for several programs.
      const own = cellOf(scene.heatmap.layout, unravel(program, scene.heatmap.layout.shape));
      if (own) levels[heatmaps[0].classAt(own)] = EMPHASIS.chosen;
    }
    heatmaps[0].emphasise(levels, () => single);
    heatmaps[1]?.emphasise(touched && program !== null ? touched.emphasis(program, null) : null, ({ extra }) =>
      extra instanceof TouchedArgument && program !== null ? extra.emphasis(program, null) : null);
    status.textContent = rest();
  };
  if (scene.program !== null && selection.get().program === undefined) selection.set({ program: scene.program });
  const count = make("input", {
    type: "number", min: 1, value: sms, class: "tl-count", "aria-label": tr("multiprocessors"),
    oninput: () => {
      sms = Math.max(1, Math.floor(Number(count.value)) || 1);
      build();
      update();
    },
  });
  const sized = make("label", { class: "tl-word" }, `${tr("SMs")} `, count);
  explain(sized, explanationOf("SMs"), count);
  const radios = layerPicker(GRID_LAYERS, shown, (name) => {
    shown = name;
    build();
    update();
  });
  build();
  selection.subscribe(update);
  const node = make(
    "div", { class: "tl-grid" }, title,
    make("div", { class: "tl-controls" }, ...radios, sized),
    make("div", { class: "tl-controls" }, ...slider.nodes), place, status,
  );
  return { node, draw: update };
}

/**
 * Lines between regions of equal numbers, and the numbers where they have room.
 * @param {import("../scenes.js").Cells} place
 * @param {Float64Array} classes the region of each class: a level below `FIRST_LEVEL`, or that and the number
 * @returns {Pick<import("../scenes.js").Dress, "labels" | "groups">}
 */
function regionsOf({ layout, room, cells }, classes) {
  const regions = Float64Array.from(numbers(cells), (own) => classes[own]);
  if (classes.length < 2 || crowded(layout, room, regions)) return { labels: [], groups: null };
  const word = (/** @type {number} */ region) => (region < FIRST_LEVEL ? "" : String(region - FIRST_LEVEL));
  return {
    labels: regionLabels(layout, room, regions, word),
    groups: { type: "f8", bytes: new Uint8Array(classes.buffer) },
  };
}

/** As Python hands over bytes. @param {Uint8Array} bytes @returns {import("../scenes.js").Buffer} */
const packed = (bytes) => ({ type: "u1", bytes });
