/** A column of code of which only the lines in sight are drawn, however many there are. */

import { make, penOf } from "../drawing/dom.js";
import { STYLE } from "../drawing/style.js";
import { themeOf } from "../drawing/theme.js";
import { countOf } from "../drawing/words.js";
import { foldsOf } from "./folds.js";
import { tokensOf } from "./tokens.js";
import { tr } from "../localization.js";

export const ROW_HEIGHT = 18; // CSS pixels, as .tl-codelist has it
const BEYOND = 8; // lines drawn above and below those in sight
const STRIP_WIDTH = 7;
let columnsMade = 0;

/**
 * `number` of a line ("" for none), its text, which source row colours it (null: none), its operation, and what is told
 * of that; `look`: a class of its own.
 * @typedef {{number: string, text: string, tint: number | null, op: string, explained: string, look?: string}} CodeLine
 */

export class CodeList {
  /**
   * @param {string} stage "source" or the name of a stage
   * @param {string} label
   * @param {CodeLine[]} lines
   */
  constructor(stage, label, lines) {
    this.stage = stage;
    this.lines = lines;
    this.ends = foldsOf(stage, lines.map((line) => line.text));
    /** @type {Set<number>} */
    this.folded = new Set();
    /** @type {(line: number) => boolean} */
    this.isLit = () => false;
    /** @type {(line: number) => boolean} */
    this.isPicked = () => false;
    this.sought = "";
    this.cursor = 0;
    this.name = `tl-code-${columnsMade++}`;
    /** @type {(line: number) => void} */
    this.onpick = () => {};
    /** @type {(line: number | null) => void} */
    this.onpoint = () => {};
    /** @type {number | null} */
    this.hinted = null;
    /** @type {Map<number, HTMLElement>} */
    this.rows = new Map();
    /** @type {number[]} */
    this.shown = [];
    /** @type {[number, number]} */
    this.drawn = [0, 0];
    this.layer = make("div", { class: "tl-codelayer", role: "presentation" });
    this.sizer = make("div", { class: "tl-codesizer", role: "presentation" }, this.layer);
    const longest = lines.reduce((most, line) => Math.max(most, line.text.length), 0);
    this.sizer.style.minWidth = `calc(${Math.min(longest, 2000)}ch + 6em)`;
    this.list = make(
      "div",
      {
        class: "tl-codelist", role: "listbox", tabindex: 0, "aria-label": tr("{label}: Enter picks a line, left and right fold", { label }),
        onscroll: () => this.draw(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.onkey(event),
        onfocus: () => this.list.matches(":focus-visible") && this.point(this.cursor), onblur: () => this.hint(null),
        // By where the pointer is: the row that it went down on may have been drawn anew since.
        onclick: (/** @type {MouseEvent} */ event) => this.onclick(event),
        onpointermove: (/** @type {PointerEvent} */ event) => this.hint(this.lineAt(event)),
        onpointerleave: () => this.hint(null),
      },
      this.sizer,
    );
    this.strip = make("canvas", { class: "tl-codestrip", width: STRIP_WIDTH, "aria-hidden": "true" });
    this.node = make("div", { class: "tl-codebox" }, this.list, this.strip);
    this.fit();
  }

  /** Work out which lines are there after folding. */
  fit() {
    this.shown = [];
    for (let k = 0; k < this.lines.length; k++) {
      this.shown.push(k);
      if (this.folded.has(k)) k = Math.max(k, this.ends[k]);
    }
    this.sizer.style.height = `${this.shown.length * ROW_HEIGHT}px`;
    // With room for the scroll bar below, so that short code has none at its side.
    this.list.style.setProperty("--tl-rows", `${(this.shown.length + 1) * ROW_HEIGHT}px`);
  }

  /** Where a line is among those that are there: that of the fold that it is in. @param {number} line */
  placeOf(line) {
    let low = 0, high = this.shown.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.shown[middle] <= line) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Fold a line's region away, or unfold it. @param {number} line @param {boolean} away */
  fold(line, away) {
    if (this.ends[line] < 0 || this.folded.has(line) === away) return;
    if (away) this.folded.add(line);
    else this.folded.delete(line);
    this.fit();
    this.update();
  }

  /** @param {boolean} away */
  foldAll(away) {
    this.folded = new Set(away ? [...this.ends.keys()].filter((k) => this.ends[k] >= 0) : []);
    this.fit();
    this.update();
  }

  /** Bring a line into sight, out of any fold. @param {number} line */
  reveal(line) {
    for (const head of [...this.folded]) if (head < line && line <= this.ends[head]) this.folded.delete(head);
    this.fit();
    const top = this.placeOf(line) * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.list;
    if (top < scrollTop || top + ROW_HEIGHT > scrollTop + clientHeight) this.list.scrollTop = top - clientHeight / 3;
  }

  /** Bring the lit line into sight that is nearest to what is. */
  revealLit() {
    const lit = this.litLines();
    if (!lit.length) return;
    const middle = this.shown[Math.min(this.shown.length - 1, Math.round((this.list.scrollTop + this.list.clientHeight / 2) / ROW_HEIGHT))] ?? 0;
    const inSight = lit.some((line) => {
      const top = this.placeOf(line) * ROW_HEIGHT;
      return top >= this.list.scrollTop && top + ROW_HEIGHT <= this.list.scrollTop + this.list.clientHeight;
    });
    if (!inSight) this.reveal(lit.reduce((best, line) => (Math.abs(line - middle) < Math.abs(best - middle) ? line : best)));
  }

  litLines() {
    return [...this.lines.keys()].filter((line) => this.isPicked(line));
  }

  /** Draw again what is in sight, and the strip. */
  update() {
    this.drawn = [0, 0];
    this.draw();
    this.drawStrip();
  }

  /** What is lit has changed, and nothing else. */
  relight() {
    for (const [line, row] of this.rows) {
      const [isPicked, isLit] = [this.isPicked(line), this.isLit(line)];
      row.classList.toggle("tl-codepicked", isPicked);
      row.classList.toggle("tl-codelit", isLit && !isPicked);
      row.classList.toggle("tl-codecursor", line === this.cursor);
      row.setAttribute("aria-selected", String(isPicked));
    }
    this.tellCursor();
    this.drawStrip();
  }

  /** For screen readers: the line that the keys are on, while it exists. */
  tellCursor() {
    if (this.rows.has(this.cursor)) this.list.setAttribute("aria-activedescendant", `${this.name}-${this.cursor}`);
    else this.list.removeAttribute("aria-activedescendant");
  }

  /** The line under the pointer. @param {MouseEvent} event */
  lineAt(event) {
    const place = Math.floor((event.clientY - this.sizer.getBoundingClientRect().top) / ROW_HEIGHT);
    return this.shown[place] ?? null;
  }

  /** @param {MouseEvent} event */
  onclick(event) {
    const line = this.lineAt(event);
    if (line === null || String(document.getSelection() ?? "")) return; // who marks text wants to copy it
    if (/** @type {Element} */ (event.target).classList.contains("tl-codefold")) this.fold(line, !this.folded.has(line));
    else this.pick(line);
  }

  /** @param {number | null} line */
  hint(line) {
    if (line === this.hinted) return;
    this.hinted = line;
    this.onpoint(line);
  }

  /** Where a line is in the window. @param {number} line */
  boxOf(line) {
    return this.rows.get(line)?.getBoundingClientRect() ?? null;
  }

  draw() {
    const first = Math.max(0, Math.floor(this.list.scrollTop / ROW_HEIGHT) - BEYOND);
    const last = Math.min(this.shown.length, Math.ceil((this.list.scrollTop + this.list.clientHeight) / ROW_HEIGHT) + BEYOND);
    if (first === this.drawn[0] && last === this.drawn[1]) return;
    this.drawn = [first, last];
    this.layer.style.transform = `translateY(${first * ROW_HEIGHT}px)`;
    this.rows = new Map(this.shown.slice(first, last).map((line, k) => [line, this.row(line, first + k)]));
    this.layer.replaceChildren(...this.rows.values());
    this.tellCursor();
  }

  /** @param {number} line @param {number} place */
  row(line, place) {
    const { number, text, tint, op, look } = this.lines[line];
    const looks = ["tl-codeline", ...(look ? [look] : [])];
    if (this.isPicked(line)) looks.push("tl-codepicked");
    else if (this.isLit(line)) looks.push("tl-codelit");
    if (line === this.cursor) looks.push("tl-codecursor");
    const stripe = make("span", { class: "tl-codestripe" });
    if (tint !== null) stripe.style.background = tintOf(tint, themeOf(this.list));
    const heads = this.ends[line] >= 0;
    const away = this.folded.has(line);
    const code = make("span", { class: "tl-codetext" }, ...this.pieces(text, op));
    if (away) code.append(make("span", { class: "tl-codefolded" }, ` … ${countOf(this.ends[line] - line, "line")}`));
    return make(
      "div",
      {
        class: looks.join(" "), role: "option", id: `${this.name}-${line}`, "aria-selected": String(this.isPicked(line)),
        "aria-setsize": this.shown.length, "aria-posinset": place + 1,
      },
      stripe, make("span", { class: "tl-number" }, number),
      make("span", { class: "tl-codefold" }, heads ? (away ? "▸" : "▾") : ""),
      code,
    );
  }

  /** @param {string} text @param {string} op */
  pieces(text, op) {
    return tokensOf(this.stage, text, op).flatMap(([kind, piece]) =>
      cut(piece, this.sought).map(([found, part]) =>
        !kind && !found ? part : make("span", { class: [kind && `tl-code-${kind}`, found && "tl-codefound"].filter(Boolean).join(" ") }, part),
      ),
    );
  }

  /** @param {number} line */
  pick(line) {
    this.cursor = line;
    this.onpick(line);
  }

  /** @param {number} line */
  point(line) {
    this.cursor = line;
    this.reveal(line);
    this.draw();
    this.relight();
    this.hint(line);
  }

  /** @param {KeyboardEvent} event */
  onkey(event) {
    const page = Math.max(1, Math.floor(this.list.clientHeight / ROW_HEIGHT) - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    if (step !== undefined) {
      const place = Math.min(this.shown.length - 1, Math.max(0, this.placeOf(this.cursor) + step));
      this.point(this.shown[place]);
    } else if (event.key === "Enter" || event.key === " ") this.pick(this.cursor);
    else if (event.key === "ArrowLeft") this.fold(this.cursor, true);
    else if (event.key === "ArrowRight") this.fold(this.cursor, false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Where the lit lines are in the whole. */
  drawStrip() {
    const height = Math.max(1, this.list.clientHeight);
    if (this.strip.height !== height) this.strip.height = height;
    const pen = penOf(this.strip);
    pen.clearRect(0, 0, STRIP_WIDTH, height);
    pen.fillStyle = STYLE.themes[themeOf(this.list)].accent;
    const scale = Math.min(ROW_HEIGHT, height / Math.max(1, this.shown.length));
    for (const line of this.litLines()) pen.fillRect(0, this.placeOf(line) * scale, STRIP_WIDTH, Math.max(2, scale));
  }

  /** The lines that have what is sought. @param {string} sought */
  search(sought) {
    this.sought = sought;
    const small = sought.toLowerCase();
    return sought ? [...this.lines.keys()].filter((k) => this.lines[k].text.toLowerCase().includes(small)) : [];
  }
}

/** The colour of a source row, the same in all columns. @param {number} row @param {"light" | "dark"} theme */
function tintOf(row, theme) {
  const { few, start } = STYLE.programs;
  const at = 3 * (start + (row % few));
  return `rgb(${STYLE.themes[theme].palette.slice(at, at + 3).join(",")})`;
}

/**
 * A text in pieces that are what is sought, or are not.
 * @param {string} text @param {string} sought @returns {[boolean, string][]}
 */
function cut(text, sought) {
  if (!sought) return [[false, text]];
  const [small, wanted] = [text.toLowerCase(), sought.toLowerCase()];
  /** @type {[boolean, string][]} */
  const found = [];
  let last = 0;
  for (let at = small.indexOf(wanted); at >= 0; at = small.indexOf(wanted, last)) {
    if (at > last) found.push([false, text.slice(last, at)]);
    found.push([true, text.slice(at, at + wanted.length)]);
    last = at + wanted.length;
  }
  if (last < text.length) found.push([false, text.slice(last)]);
  return found;
}
