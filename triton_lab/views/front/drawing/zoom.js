/** Zooming and moving a heatmap: buttons, keys, wheel, pinch, drag and double click; single positions are fetched. */

import { make } from "./dom.js";
import { boxOf, covers, inSight, isClosest, isWhole, panned, showing, stepped, wantedOf, wholeLens, zoomed } from "./lens.js";
import { EMPHASIS } from "./raster.js";
import { STYLE } from "./style.js";
import { tr } from "../localization.js";

/** @typedef {import("./heatmap.js").Heatmap} Heatmap */
/** @typedef {import("./magnified.js").Detail} Detail */
/** @typedef {import("./lens.js").Window} Window */
/** @typedef {(window: Window, then: (answer: Detail | string) => void) => void} Finer asks for the single positions of a stretch; words say why there are none */

export const MOST_FETCHED = 1 << 14; // positions at a time, as in `window.py`
const KEPT_DETAILS = 12;
const DRAGGED = 4; // pixels
const PATIENCE_ZOOMED = 4000; // ms until we say what may be the matter
const LINE_PIXELS = 16; // of a wheel that counts lines

/** @param {Heatmap} heatmap */
export function zoomOf(heatmap) {
  return new Zoom(heatmap);
}

class Zoom {
  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    const { layout, cellWidth, cellHeight } = heatmap.frame;
    const several = layout.down * layout.right > 1;
    this.able = layout.shape.reduce((product, size) => product * size, 1) > 1 && heatmap.frame.width > 0 && heatmap.frame.height > 0;
    /** @type {Finer | null} */
    this.asks = null;
    /** @type {Set<Heatmap>} pictures that look at the same place */
    this.others = new Set();
    /** @type {Window[]} what was asked for and has not come */
    this.asked = [];
    /** While several are asked for: whether one has come at once. @type {"" | "asks" | "came"} */
    this.round = "";
    this.trouble = "";
    this.told = make("span", { class: "tl-zoom-told", role: "status" });
    const button = (/** @type {string} */ sign, /** @type {string} */ label, /** @type {() => void} */ onclick) =>
      make("button", { type: "button", "aria-label": label, title: label, onclick }, sign);
    this.buttons = {
      closer: button("+", tr("zoom in (+)"), () => this.step(1)),
      farther: button("−", tr("zoom out (-)"), () => this.step(-1)),
      whole: button(tr("whole"), tr("show the whole (0)"), () => this.set(wholeLens(heatmap.frame))),
    };
    const small = several || Math.min(cellWidth, cellHeight) < STYLE.largestCell;
    this.node = make(
      "div", { class: "tl-zoom", role: "group", "aria-label": tr("zoom"), hidden: !this.able || !small },
      ...Object.values(this.buttons), this.told,
    );
    /** @type {Map<number, [number, number]>} where fingers are */
    this.fingers = new Map();
    /** @type {[number, number] | null} where a drag was last */
    this.drag = null;
    this.dragged = false;
    if (this.able) this.listen(heatmap.overlay);
    this.update();
  }

  /** @param {HTMLCanvasElement} overlay */
  listen(overlay) {
    overlay.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    overlay.addEventListener("dblclick", (event) => {
      if (isClosest(this.heatmap.lens)) return;
      event.preventDefault();
      this.step(1, ...this.heatmap.placeUnder(event));
    });
    overlay.addEventListener("pointerdown", (event) => this.down(event));
    overlay.addEventListener("pointermove", (event) => this.move(event));
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
      overlay.addEventListener(name, (event) => {
        this.fingers.delete(event.pointerId);
        this.drag = null;
      });
    }
  }

  /** The wheel alone scrolls the page. @param {WheelEvent} event */
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? LINE_PIXELS : 1);
    // A notch of a wheel is 100 pixels or more, a pinch on a touchpad some.
    const factor = Math.exp(-Math.max(-100, Math.min(100, pixels)) * (Math.abs(pixels) < 50 ? 0.01 : 0.0041));
    this.set(zoomed(this.heatmap.lens, factor, ...this.heatmap.placeUnder(event)));
  }

  /** @param {PointerEvent} event */
  down(event) {
    const place = this.heatmap.placeUnder(event);
    this.fingers.set(event.pointerId, place);
    this.dragged = false;
    this.drag = event.button === 0 && !isWhole(this.heatmap.lens) ? place : null;
  }

  /** @param {PointerEvent} event */
  move(event) {
    const place = this.heatmap.placeUnder(event);
    const before = this.fingers.get(event.pointerId);
    if (before && this.fingers.size === 2) this.pinch(event.pointerId, before, place);
    else if (this.drag && event.buttons & 1) {
      const [right, below] = [this.drag[0] - place[0], this.drag[1] - place[1]];
      if (!this.dragged && Math.hypot(right, below) < DRAGGED) return;
      if (!this.dragged) this.heatmap.overlay.setPointerCapture(event.pointerId);
      this.dragged = true;
      this.drag = place;
      this.set(panned(this.heatmap.lens, right, below));
    }
    if (before) this.fingers.set(event.pointerId, place);
  }

  /** @param {number} moved @param {[number, number]} before @param {[number, number]} now */
  pinch(moved, before, now) {
    this.drag = null;
    this.dragged = true;
    const other = [...this.fingers].find(([id]) => id !== moved)?.[1] ?? now;
    const apart = (/** @type {[number, number]} */ [x, y]) => Math.max(1, Math.hypot(x - other[0], y - other[1]));
    const middle = [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2];
    const closer = zoomed(this.heatmap.lens, apart(now) / apart(before), middle[0], middle[1]);
    this.set(panned(closer, (before[0] - now[0]) / 2, (before[1] - now[1]) / 2));
  }

  /** Whether a click was the end of a drag, or the second of two that zoom. @param {MouseEvent} event */
  takes(event) {
    return this.dragged || (this.able && event.detail > 1 && !isClosest(this.heatmap.lens));
  }

  /** @param {string} key */
  key(key) {
    if (!this.able) return false;
    if (key === "+" || key === "=") this.step(1);
    else if (key === "-" || key === "_") this.step(-1);
    else if (key === "0") this.set(wholeLens(this.heatmap.frame));
    else return false;
    return true;
  }

  /** One step closer or farther: about a point, else about the cell that is pointed at or was last. @param {number} steps @param {number} [x] @param {number} [y] */
  step(steps, x, y) {
    const { at, lens } = this.heatmap;
    if (x === undefined && at) {
      const box = boxOf(lens, { panel: at[0], row: at[1], column: at[2], rows: 1, columns: 1 });
      const { width, height } = lens.frame;
      // Of one that is smaller than a pixel, the pixel may be just out of sight.
      const seen = box.right >= 0 && box.bottom >= 0 && box.left <= width && box.top <= height;
      const within = (/** @type {number} */ start, /** @type {number} */ end, /** @type {number} */ most) => Math.min(most, Math.max(0, (start + end) / 2));
      if (seen) [x, y] = [within(box.left, box.right, width), within(box.top, box.bottom, height)];
    }
    this.set(stepped(lens, steps, x, y));
  }

  /** Look through another lens, here and in the pictures beside it. @param {import("./lens.js").Lens} lens */
  set(lens) {
    this.heatmap.look(lens);
    this.want();
    for (const other of this.others) if (other !== this.heatmap) other.zoom.follow(lens);
  }

  /** Move to what stands out, where none of it is in sight. */
  seek() {
    const { lens, layout, cells, emphasis } = this.heatmap;
    if (!emphasis || isWhole(lens)) return;
    const { rows, columns, down, right } = layout;
    /** @type {Window | null} */
    let first = null;
    const seen = inSight(lens);
    for (let at = 0; at < cells.length; at++) {
      if (emphasis[cells[at]] !== EMPHASIS.chosen) continue;
      const panel = Math.floor(at / (rows * columns));
      const [row, column] = [(Math.floor(at / columns) % rows) * down, (at % columns) * right];
      if (seen.some((one) => meets(one, { panel, row, column, rows: down, columns: right }))) return;
      first ??= { panel, row, column, rows: down, columns: right };
    }
    if (first) this.set(showing(lens, first));
  }

  /** Look where another picture of the same cells looks. @param {import("./lens.js").Lens} lens */
  follow(lens) {
    this.heatmap.lens = lens;
    if (this.heatmap.node.isConnected) this.heatmap.draw();
    this.want();
  }

  /** Fetch the single positions in sight, where cells have several and they are not known. */
  want() {
    const { heatmap } = this;
    if (this.asks && this.several && !isWhole(heatmap.lens)) {
      const seen = inSight(heatmap.lens);
      this.round = "asks";
      for (const wanted of wantedOf(heatmap.lens, MOST_FETCHED)) {
        const now = seen.find(({ panel }) => panel === wanted.panel);
        const known = [...this.asked, ...heatmap.details.map(({ window }) => window)];
        if (now && !known.some((one) => covers(one, now))) this.request(wanted, this.asks);
      }
      const came = /** @type {string} */ (this.round) === "came";
      this.round = "";
      if (came) this.renew();
    }
    this.update();
  }

  /** @param {Window} wanted @param {Finer} finer */
  request(wanted, finer) {
    this.asked.push(wanted);
    this.trouble = "";
    const timer = setTimeout(() => {
      if (!this.asked.includes(wanted)) return;
      this.trouble = tr("Waiting for the kernel. It may be busy. If it was restarted, run the cell again.");
      this.update();
    }, PATIENCE_ZOOMED);
    finer(wanted, (answer) => {
      clearTimeout(timer);
      this.asked = this.asked.filter((one) => one !== wanted);
      this.trouble = typeof answer === "string" ? answer : "";
      if (typeof answer !== "string") {
        this.heatmap.details = [answer, ...this.heatmap.details].slice(0, KEPT_DETAILS);
        // Those of all panels are drawn together.
        if (this.round) this.round = "came";
        else this.renew();
      }
      if (!this.round) this.update();
    });
  }

  /** Draw what has come. */
  renew() {
    if (this.heatmap.node.isConnected) this.heatmap.draw();
    this.heatmap.again();
  }

  /** Who makes single positions. @param {Finer | null} finer */
  offer(finer) {
    this.asks = finer;
    this.update();
  }

  /** Whether a cell of the picture has several positions. */
  get several() {
    return this.heatmap.layout.down * this.heatmap.layout.right > 1;
  }

  update() {
    const { lens, layout, details } = this.heatmap;
    const [whole, closest] = [isWhole(lens), isClosest(lens)];
    this.buttons.closer.disabled = closest;
    this.buttons.farther.disabled = this.buttons.whole.disabled = whole;
    this.heatmap.overlay.classList.toggle("tl-zoomed", !whole);
    const busy = this.asked.length > 0;
    this.node.toggleAttribute("aria-busy", busy);
    const known = !whole && inSight(lens).every((seen) => details.some(({ window }) => covers(window, seen)));
    const count = layout.down * layout.right;
    const each = layout.down > 1 && layout.right > 1 ? `${layout.down}×${layout.right} = ${count}` : `${count}`;
    this.told.textContent = this.trouble
      || (busy ? tr("Single elements are loading. Until then a cell stands for several elements.") : "")
      || (this.several && !known ? (this.asks ? tr("A cell stands for {count} places. Zoom in to see each.", { count: each }) : tr("A cell stands for {count} places.", { count: each })) : "")
      || (whole ? "" : tr("Drag to move; 0 shows the whole."));
    this.told.classList.toggle("tl-working", busy && !this.trouble);
  }
}

/** Whether two stretches have a position in common. @param {Window} a @param {Window} b */
function meets(a, b) {
  return a.panel === b.panel && a.row < b.row + b.rows && b.row < a.row + a.rows && a.column < b.column + b.columns && b.column < a.column + a.columns;
}
