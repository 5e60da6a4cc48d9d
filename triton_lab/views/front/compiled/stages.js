/** The source beside stages of the compiler: pick a line, and what it became, or where it comes from, lights up. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { readoutOf } from "../drawing/readout.js";
import { countOf } from "../drawing/words.js";
import { CodeList, ROW_HEIGHT } from "./codelist.js";
import { tr } from "../localization.js";

const NONE = "none";

/** @typedef {import("../scenes.js").StageScene} StageScene */
/** @typedef {import("../scenes.js").StagesScene} StagesScene */
/**
 * A column: its list, the rows of the source that a line comes from (the innermost first), and what is told of a line.
 * @typedef {{name: string, label: string, list: CodeList, rowsOf: (line: number) => number[], told: (line: number) => string}} Column
 */

/**
 * @param {StagesScene} scene
 * @param {import("../selection.js").Selection} selection
 * @returns {import("../part.js").Part}
 */
export function stagesOf(scene, selection) {
  const source = sourceColumn(scene);
  /** @type {Map<string, Column>} */
  const made = new Map();
  const columnOf = (/** @type {string} */ name) => {
    const known = made.get(name);
    if (known) return known;
    const column = stageColumn(/** @type {StageScene} */ (scene.stages.find((stage) => stage.name === name)));
    wire(column);
    made.set(name, column);
    return column;
  };
  const chosen = [scene.shown[0] ?? NONE, scene.shown[1] ?? NONE];
  /** @type {Column[]} */
  let columns = [];
  /** @type {number | null} */
  let picked = null;
  /** @type {number | null} */
  let pointed = null;
  /** @type {[CodeList, number] | null} */
  let under = null;

  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  const rest = scene.note || tr("Pick a line or point at it to highlight the lines that it became, or that it comes from.");
  const readout = readoutOf(() => under && under[0].boxOf(under[1]) && aboutOf(under[0], under[1]));

  /** @param {Column} column */
  function wire(column) {
    const { list } = column;
    list.isPicked = (line) => picked !== null && column.rowsOf(line).includes(picked);
    list.isLit = (line) => pointed !== null && column.rowsOf(line).includes(pointed);
    list.onpick = (line) => {
      const [row] = column.rowsOf(line);
      pick(row === undefined || row === picked ? null : row, column);
    };
    list.onpoint = (line) => {
      const [row] = line === null ? [] : column.rowsOf(line);
      under = line === null ? null : [list, line];
      const told = line === null ? "" : list.lines[line].explained;
      if (line !== null && told) readout.show(`${list.lines[line].op}: ${told}`);
      else readout.hide();
      say(line === null ? null : column, line);
      if ((row ?? null) === pointed) return;
      pointed = row ?? null;
      relight();
    };
  }

  /** @param {number | null} row @param {Column | null} from */
  function pick(row, from) {
    picked = row;
    pointed = null;
    for (const column of columns) if (column !== from) column.list.revealLit();
    columns.forEach(({ list }) => list.draw());
    relight();
    say(null, null);
    const line = row === null || row >= ownRows ? null : scene.source[row][0];
    selection.set({ line });
  }

  const update = () => columns.forEach(({ list }) => list.update());
  const relight = () => columns.forEach(({ list }) => list.relight());

  /** What became of a row. @param {number} row */
  function becameOf(row) {
    const [line, , reason] = scene.source[row];
    const counts = columns.slice(1).map((column) => {
      const count = column.list.lines.filter(({ op }, k) => op !== "" && column.rowsOf(k).includes(row)).length;
      return tr("{instructions} of {stage}", { instructions: countOf(count, "instruction"), stage: column.label });
    });
    return [tr("line {line}: {counts}", { line, counts: counts.join(", ") }), reason].filter(Boolean).join(" · ");
  }

  /** @param {Column | null} column @param {number | null} line */
  function say(column, line) {
    if (column !== null && line !== null) {
      const [row] = column.rowsOf(line);
      const told = [column.told(line), column === source && row !== undefined ? becameOf(row) : ""].filter(Boolean);
      status.textContent = told.join(" · ") || rest;
    } else status.textContent = picked === null ? rest : becameOf(picked);
  }

  // The kernel's own: a row without a number names the first helper.
  const helper = scene.source.findIndex(([line]) => line === 0);
  const ownRows = helper < 0 ? scene.source.length : helper;

  // --- Columns and their heads ---------------------------------------------------------------------
  const body = make("div", { class: "tl-stagecolumns" });
  const choose = (/** @type {number} */ place) =>
    make(
      "select",
      {
        class: "tl-menu", "aria-label": place ? tr("the third column") : tr("the second column"),
        onchange: (/** @type {Event} */ event) => {
          chosen[place] = /** @type {HTMLSelectElement} */ (event.target).value;
          arrange();
        },
      },
      ...[...scene.stages.map(({ name, label }) => [name, label]), ...(place ? [[NONE, tr("nothing")]] : [])].map(([name, label]) =>
        make("option", { value: name, selected: name === chosen[place] }, label),
      ),
    );
  const menus = scene.stages.length ? [choose(0), choose(1)] : [];

  /** @param {Column} column @param {Node | string} head */
  function framed(column, head) {
    const { list } = column;
    let away = false;
    const fold = make("button", { type: "button", class: "tl-step", "aria-label": tr("fold all of {stage}", { stage: column.label }), onclick: () => {
      away = !away;
      list.foldAll(away);
      fold.textContent = away ? tr("unfold") : tr("fold");
    } }, tr("fold"));
    const copy = make("button", { type: "button", class: "tl-step", "aria-label": tr("copy {stage}", { stage: column.label }), onclick: () => {
      const lit = list.litLines();
      const lines = lit.length ? lit.map((k) => list.lines[k]) : list.lines;
      void copyText(lines.map(({ text }) => text).join("\n"), copy);
      status.textContent = tr("copied {lines} of {stage}", { lines: countOf(lines.length, "line"), stage: column.label });
    } }, tr("copy"));
    return make("div", { class: "tl-stagecolumn" }, make("div", { class: "tl-stagehead" }, head, fold, copy), list.node);
  }

  const notation = make("div", { class: "tl-note" }, tr("Before each SASS instruction: the barriers that it waits for; the barriers that it sets when its operands are read and when its result is ready; Y if another warp may run first; and the cycles until the next instruction."));
  function arrange() {
    const stages = chosen.filter((name) => name !== NONE).map(columnOf);
    notation.hidden = !chosen.includes("sass");
    columns = [source, ...new Set(stages)];
    body.style.setProperty("--tl-columns", String(columns.length));
    const heads = columns.map((column, k) => (k ? chosen.indexOf(column.name) : -1));
    const spare = menus[1] && !heads.includes(1) ? menus[1] : "";
    body.replaceChildren(...columns.map((column, k) => framed(column, k ? make("span", { class: "tl-stagepick" }, menus[heads[k]]) : make("span", { class: "tl-title" }, tr("Source")))));
    extra.replaceChildren(...(spare ? [make("span", { class: "tl-note" }, `${tr("and beside it")} `), spare] : []));
    seek(false);
    if (picked !== null) columns.forEach(({ list }) => list.revealLit());
    update();
  }

  // --- Search --------------------------------------------------------------------------------------
  /** @type {[Column, number][]} */
  let hits = [];
  let hit = -1;
  const found = make("span", { class: "tl-told" });
  const search = make("input", {
    type: "search", class: "tl-count tl-typed", "aria-label": tr("search in all columns"), placeholder: tr("search"),
    oninput: () => seek(true),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter") return;
      go(event.shiftKey ? -1 : 1);
      event.preventDefault();
      event.stopPropagation();
    },
  });
  /** @param {boolean} jump */
  function seek(jump) {
    hits = columns.flatMap((column) => column.list.search(search.value).map((line) => /** @type {[Column, number]} */ ([column, line])));
    hit = -1;
    if (jump && hits.length) go(1);
    else tellHits();
    columns.forEach(({ list }) => list.update());
  }
  /** @param {number} step */
  function go(step) {
    if (!hits.length) return;
    hit = (hit + step + hits.length) % hits.length;
    const [column, line] = hits[hit];
    column.list.cursor = line;
    column.list.reveal(line);
    column.list.update();
    tellHits();
  }
  function tellHits() {
    const where = hit >= 0 ? tr("{number} of {lines}, in {stage}", { number: hit + 1, lines: countOf(hits.length, "line"), stage: hits[hit][0].label }) : countOf(hits.length, "line");
    found.textContent = search.value ? where : "";
  }
  const step = (/** @type {number} */ by, /** @type {string} */ sign, /** @type {string} */ label) =>
    make("button", { type: "button", class: "tl-step", "aria-label": label, onclick: () => go(by) }, sign);
  const extra = make("span", { class: "tl-stagepick" });
  const controls = make(
    "div", { class: "tl-controls" }, search, step(-1, "↑", tr("the previous line found")), step(1, "↓", tr("the next line found")), found, extra,
  );
  const left = scene.stages.filter((stage) => stage.left).map((stage) => tr("{lines} of {stage}", { lines: countOf(stage.left, "line"), stage: stage.label }));
  wire(source);
  const node = make(
    "div", { class: "tl-stages" },
    make("div", { class: "tl-title" }, scene.title),
    controls, body, status, readout.node,
    notation,
    left.length ? make("div", { class: "tl-note" }, tr("Left out because of their size: {stages}. compiled.stages has all lines.", { stages: left.join(", ") })) : "",
  );
  arrange();
  // Below the parameters, where the work begins.
  const begin = source.list.lines.findIndex(({ tint, text }) => tint !== null && !text.trimStart().startsWith("def "));
  let fresh = true;
  const follow = () => {
    const { line } = selection.get();
    const row = line == null ? null : scene.source.slice(0, ownRows).findIndex(([own]) => own === line);
    if (row === -1 || row === picked || (row === null && (picked === null || picked >= ownRows))) return;
    picked = row;
    columns.forEach(({ list }) => list.revealLit());
    update();
    say(null, null);
  };
  const forget = selection.subscribe(follow);
  const resized = new ResizeObserver(update);
  resized.observe(body);
  return {
    node,
    draw() {
      if (fresh && source.list.list.clientHeight) {
        fresh = false;
        if (picked === null) source.list.list.scrollTop = Math.max(0, begin - 3) * ROW_HEIGHT;
      }
      update();
      follow();
      say(null, null);
    },
    stop() {
      forget();
      resized.disconnect();
      readout.hide();
    },
  };
}

/** Where words about a line go: at its begin, as the line may be longer than its column. @param {CodeList} list @param {number} line */
function aboutOf(list, line) {
  const { top, bottom } = /** @type {DOMRect} */ (list.boxOf(line));
  const { left } = list.list.getBoundingClientRect();
  return { left, top, bottom, right: left + 60 };
}

/** @param {StagesScene} scene @returns {Column} */
function sourceColumn({ source, stages }) {
  const busy = new Set(stages.flatMap((stage) => stage.trails.flatMap(([rows]) => rows)));
  const lines = source.map(([line, text], row) => ({
    number: line ? String(line) : "", text: line ? text : `── ${text}`, tint: busy.has(row) ? row : null, op: "", explained: "",
  }));
  const rowsOf = (/** @type {number} */ line) => (source[line][0] ? [line] : []);
  return { name: "source", label: tr("the source"), list: new CodeList("source", tr("source"), lines), rowsOf, told: () => "" };
}

/** @param {StageScene} stage @returns {Column} */
function stageColumn(stage) {
  const [own, trail, op] = [stage.numbers, stage.trail, stage.op].map(numbers);
  const rows = stage.trails.map(([found]) => found);
  /** @type {number[]} */
  const nowhere = [];
  const rowsOf = (/** @type {number} */ line) => (trail[line] ? rows[trail[line] - 1] : nowhere);
  const lines = stage.text.split("\n").map((text, k) => {
    const [name, explained] = op[k] ? stage.ops[op[k] - 1] : ["", ""];
    return { number: String(own[k] ?? ""), text: text.replaceAll("\t", "    "), tint: rowsOf(k)[0] ?? null, op: name, explained };
  });
  const told = (/** @type {number} */ line) => {
    const from = trail[line] ? tr("from {place}", { place: stage.trails[trail[line] - 1][1] }) : "";
    return [tr("{stage}, line {line}", { stage: stage.label, line: lines[line].number }), from || (lines[line].op ? tr("the compiler records no source line") : "")].filter(Boolean).join(" · ");
  };
  return { name: stage.name, label: stage.label, list: new CodeList(stage.name, stage.label, lines), rowsOf, told };
}

/** @param {string} text @param {HTMLElement} beside who has the keyboard afterwards */
async function copyText(text, beside) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page from a file, or one that may not: by the way that is older.
    const area = make("textarea", {}, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    beside.focus();
  }
}
