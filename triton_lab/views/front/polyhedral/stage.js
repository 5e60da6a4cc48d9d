/** One scene of instances on its canvases: what is painted, visited and pointed at. */

import { numbers } from "../drawing/data.js";
import { make, penOf, ratioOf, resize } from "../drawing/dom.js";
import { svgOf } from "../drawing/drawing.js";
import { STYLE } from "../drawing/style.js";
import { countOf } from "../drawing/words.js";
import { Orthographic, seenOf } from "../drawing/solid.js";
import { alongRamp, Plane } from "./geometry.js";
import { paintCircle, paintLit, paintName } from "./paint.js";
import { Shelf } from "./shelf.js";
import { tr } from "../localization.js";

/** @typedef {import("../scenes.js").PlaneScene & Pick<import("../scenes.js").IterationScene, "order" | "arrays" | "accesses">} Staged */
/** @typedef {Omit<import("../scenes.js").DomainLayer, "points"> & {points: import("../drawing/data.js").Numbers}} Layer */
/** @typedef {Omit<import("../scenes.js").AccessScene, "visits" | "cells"> & {visits: import("../drawing/data.js").Numbers, cells: import("../drawing/data.js").Numbers}} Access */

const MOST_LATEST = 200; // visits of one instant that are linked with what they touch
const SHELF_GAP = 24; // between domain and arrays

/** What a screen reader calls it. @param {Staged} scene */
function named({ dims, layers }) {
  const ways = dims.length === 1 ? [tr("to the right")] : [tr("up"), tr("to the right"), tr("towards the reader")];
  return tr("instances of {statements}: {axes}; arrow keys move from instance to instance, Page Up and Page Down in their order, Enter picks, Escape clears the choice", {
    statements: layers.map((layer) => layer.name).join(", "), axes: dims.map((name, k) => `${name} ${ways[k]}`).join(", "),
  });
}

/** One scene: what does not move as drawings, and canvases over them for what has been visited and what is pointed at. */
export class DomainStage {
  /** @param {Staged} scene @param {Layer[]} layers @param {(told: string, key: string) => void} tell */
  constructor(scene, layers, tell) {
    this.scene = scene;
    this.layers = layers;
    this.tell = tell;
    /** The theme, until it is known, and its colours. @type {"light" | "dark"} */
    this.theme = "light";
    this.look = STYLE.themes.light.domain;
    this.visits = numbers(scene.visits);
    this.places = numbers(scene.places);
    /** @type {Access[]} */
    this.accesses = scene.accesses.map((a) => ({ ...a, visits: numbers(a.visits), cells: numbers(a.cells) }));
    this.instants = numbers(scene.instants);
    this.fronts = scene.fronts;
    /** What comes over the points, and the space: other ones in another order. */
    this.over = scene.over;
    this.solid = scene.solid;
    this.count = this.visits.length / 2;
    /** Is told the statements of the visits that light up. @type {(statements: string[]) => void} */
    this.onlit = () => {};
    /** What else shows the same visits. @type {DomainStage | null} */
    this.other = null;
    /** @type {Map<number, number>} */
    this.turns = new Map();
    this.places.forEach((place, v) => this.turns.set(place, v));
    this.done = scene.order ? this.count : 0;
    const [x, y, unit, radius] = scene.frame;
    this.radius = radius;
    this.view = scene.solid ? new Orthographic(scene.middle, [x, y], unit) : new Plane(scene);
    /** How much room the domain takes. */
    this.plot = scene.solid ?? scene.still ?? { width: 0, height: 0 };
    this.space = Boolean(scene.solid);
    this.shelf = new Shelf(scene.arrays);
    this.width = this.height = 0;
    this.key = "";
    /** The visits of the instance that is shown while nothing is pointed at. @type {number[]} */
    this.chosen = [];
    /** @type {Set<string>} */
    this.written = new Set();
    this.node = make("div", { class: "tl-domain-stage", tabindex: 0, role: "moves" in scene && scene.moves ? "group" : "img", "aria-label": named(scene) });
    this.drawings = make("div", { "aria-hidden": "true" });
    /** What has been visited, and what is pointed at. */
    this.pens = [make("canvas", {}), make("canvas", {})].map(penOf);
    this.node.append(this.drawings, ...this.pens.map(({ canvas }) => canvas));
    this.arrange(Infinity);
    this.lookup = layers.map((layer) => {
      /** @type {Map<string, number>} */
      const found = new Map();
      const size = scene.dims.length;
      for (let p = 0; p * size < layer.points.length; p++) found.set(layer.points.slice(p * size, (p + 1) * size).join(), p);
      return found;
    });
  }

  /**
   * Put the arrays beside the domain where there is room for both, else below it; whether anything has moved.
   * @param {number} room pixels across
   */
  arrange(room) {
    const { plot, shelf } = this;
    const before = [this.width, this.height];
    shelf.column(plot.width + SHELF_GAP);
    [this.width, this.height] = [plot.width + SHELF_GAP + shelf.width + 4, Math.max(plot.height, shelf.height)];
    if (shelf.grids.length && room < this.width) {
      shelf.row(plot.height, Math.max(room, plot.width));
      [this.width, this.height] = [Math.max(plot.width, shelf.width + 4), plot.height + shelf.height];
    }
    const { width, height } = this;
    if (String(before) === String([width, height])) return false;
    Object.assign(this.node.style, { width: `${width}px`, height: `${height}px` });
    this.resize();
    return true;
  }

  resize() {
    const ratio = ratioOf(this.width, this.height);
    for (const pen of this.pens) {
      resize(pen.canvas, this.width, this.height);
      pen.scale(ratio, ratio);
    }
  }

  /** Paint everything, for instance after a change of theme. @param {"light" | "dark"} theme */
  draw(theme) {
    this.theme = theme;
    this.look = STYLE.themes[theme].domain;
    if (!this.pens[0].canvas.width) this.resize();
    this.still();
    this.again();
    this.top(this.resting());
  }

  /** What is shown while nothing is pointed at: what was visited last on the way, else the chosen instance. */
  resting() {
    return this.done > 0 && this.done < this.count ? this.latest() : this.chosen;
  }

  /** Nothing is pointed at any more. */
  rest() {
    this.light("");
    this.top(this.resting());
    this.tell(this.chosen.length ? this.told(this.chosen) : "", "");
  }

  /** Visits of one point in words. @param {number[]} visits */
  told(visits) {
    const more = visits.length - 1;
    const first = this.describe(visits[0]);
    return more ? tr("{visit}; {visits} more there", { visit: first, visits: countOf(more, "visit") }) : first;
  }

  /** Show an instance while nothing is pointed at. @param {number[]} visits */
  choose(visits) {
    this.chosen = visits;
    if (this.other) this.other.chosen = visits.flatMap((v) => this.other?.turns.get(this.places[v]) ?? []);
    this.light("");
    this.top(visits);
    this.tell(visits.length ? this.told(visits) : "", "");
  }

  /** What has been visited, painted anew. */
  again() {
    this.pens[0].clearRect(0, 0, this.width, this.height);
    this.written.clear();
    this.trail(0, this.done);
  }

  /** @param {number} layer @param {number} point */
  centre(layer, point) {
    const { x, y } = this.view.place(this.layers[layer].points, point * this.scene.dims.length);
    const [dx, dy] = this.layers[layer].shift;
    return { x: x + dx, y: y + dy };
  }

  /** Draw what does not move: the domain, and each array where it stands. */
  still() {
    const { scene, view, theme } = this;
    const drawing = this.solid && view instanceof Orthographic ? seenOf(this.solid, view) : scene.still;
    const arrays = this.shelf.grids.map(({ picture, x, y, top }) => {
      const drawn = svgOf(picture, theme);
      Object.assign(drawn.style, { position: "absolute", left: `${x}px`, top: `${y - top}px` });
      return drawn;
    });
    const over = (this.over?.items.length ? [svgOf(this.over, theme)] : []).map((drawn) => {
      Object.assign(drawn.style, { position: "absolute", left: "0", top: "0" });
      return drawn;
    });
    this.drawings.replaceChildren(...(drawing ? [svgOf(drawing, theme)] : []), ...over, ...arrays);
  }

  /**
   * The same instances in another order (null: in this one), with what comes over them.
   * @param {{visits: ArrayLike<number>, places: ArrayLike<number>, instants: ArrayLike<number>, fronts: boolean,
   *   over: import("../scenes.js").DrawingScene | null, solid: import("../scenes.js").SolidScene | null} | null} order
   * @param {() => import("../scenes.js").DrawingScene | null} [over] made once the order is known
   */
  take(order, over) {
    if (order) {
      const chosen = this.chosen.map((v) => this.places[v]);
      Object.assign(this, order);
      this.turns = new Map(Array.from(this.places, (place, v) => [place, v]));
      this.done = this.done ? this.count : 0;
      this.chosen = chosen.flatMap((place) => this.turns.get(place) ?? []);
    }
    if (over) this.over = over();
    if (this.width) this.draw(this.theme);
  }

  /** How many visits are made once those of `instant` are. @param {number} instant */
  until(instant) {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.instants[middle] <= instant) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** What visit `v` touches: [access, cell]. @param {number} v @returns {[Access, number][]} */
  touched(v) {
    const time = this.places[v];
    /** @type {[Access, number][]} */
    const found = [];
    for (const access of this.accesses) {
      let [low, high] = [0, access.visits.length - 1];
      while (low <= high) {
        const middle = (low + high) >> 1;
        if (access.visits[middle] === time) {
          found.push([access, access.cells[middle]]);
          break;
        }
        if (access.visits[middle] < time) low = middle + 1;
        else high = middle - 1;
      }
    }
    return found;
  }

  /** Mark the visits from `first` up to `last` as done. @param {number} first @param {number} last */
  trail(first, last) {
    const pen = this.pens[0];
    const { look } = this;
    for (let v = first; v < last; v++) {
      const last = this.instants[this.count - 1];
      const colour = alongRamp(look.order, last ? this.instants[v] / last : 1);
      paintCircle(pen, this.centre(this.visits[2 * v], this.visits[2 * v + 1]), this.radius, colour, look.ring);
      // Cells keep the colour of the strongest thing that happened to them.
      if (this.count > 20000) continue;
      for (const [access, cell] of this.touched(v)) {
        if (access.kind === "write") this.shelf.fill(pen, access.array, cell, look.was_written);
        else if (!this.written.has(`${access.array}:${cell}`)) this.shelf.fill(pen, access.array, cell, look.was_read);
        if (access.kind === "write") this.written.add(`${access.array}:${cell}`);
      }
    }
  }

  /** Go to where `done` visits have been made. @param {number} done */
  go(done) {
    if (done < this.done) {
      this.done = done;
      this.again();
    } else this.trail(this.done, done);
    this.done = done;
    this.other?.follow(done > 0 ? this.instants[done - 1] : -1);
    this.top(done > 0 ? this.latest() : this.chosen);
    this.tell(done > 0 ? this.describe(done - 1) : "", this.key);
  }

  /** The visits of the instant that was made last. */
  latest() {
    if (this.done === 0) return [];
    const visits = [this.done - 1];
    while (visits[0] > 0 && visits.length < MOST_LATEST && this.instants[visits[0] - 1] === this.instants[this.done - 1]) visits.unshift(visits[0] - 1);
    return visits;
  }

  /** Mark what is done by `instant`, as the other picture goes there. @param {number} instant */
  follow(instant) {
    const done = this.until(instant);
    if (done < this.done) this.pens[0].clearRect(0, 0, this.width, this.height);
    this.trail(done < this.done ? 0 : this.done, done);
    this.done = done;
  }

  /** In words. @param {number} v */
  describe(v) {
    const layer = this.layers[this.visits[2 * v]];
    const size = this.scene.dims.length;
    const at = this.visits[2 * v + 1] * size;
    const parts = this.touched(v).map(([access, cell]) => {
      const element = this.shelf.element(access.array, cell);
      if (access.may) return access.kind === "write" ? tr("may write {element}", { element }) : tr("may read {element}", { element });
      return access.kind === "write" ? tr("writes {element}", { element }) : tr("reads {element}", { element });
    });
    const point = Array.from(layer.points.slice(at, at + size)).join(", ");
    const together = this.fronts ? this.until(this.instants[v]) - this.until(this.instants[v] - 1) : 1;
    const values = { instance: `${layer.name}(${point})`, number: v + 1, count: this.count, together };
    const visit = together > 1
      ? tr("{instance}, visit {number} of {count}, one of {together} at once", values)
      : tr("{instance}, visit {number} of {count}", values);
    return parts.length ? `${visit}: ${parts.join(", ")}` : visit;
  }

  /**
   * What is pointed at: visits with links to their cells.
   * @param {number[]} visits @param {boolean} [echo] whether the other picture lights up, too
   */
  top(visits, echo = true) {
    if (echo && this.other) this.other.top(visits.flatMap((v) => this.other?.turns.get(this.places[v]) ?? []), false);
    this.onlit([...new Set(visits.map((v) => this.layers[this.visits[2 * v]].name))]);
    const pen = this.pens[1];
    pen.clearRect(0, 0, this.width, this.height);
    if (this.view instanceof Plane) for (const line of this.scene.lines) if (line.key === this.key) paintLit(pen, this.view, line, this.look);
    if (this.key.startsWith("access:")) {
      const access = this.accesses.find((a) => a.key === this.key);
      if (access) for (const cell of new Set(access.cells)) this.shelf.fill(pen, access.array, cell, this.cellColour(access));
    }
    for (const v of visits) {
      const spot = this.centre(this.visits[2 * v], this.visits[2 * v + 1]);
      for (const [access, cell] of this.touched(v)) {
        const end = this.shelf.centre(access.array, cell);
        this.shelf.fill(pen, access.array, cell, this.cellColour(access), this.look.axis);
        pen.strokeStyle = access.kind === "write" ? this.look.writing : this.look.reading;
        pen.lineWidth = 1.4;
        pen.setLineDash(access.may ? [4, 3] : []);
        pen.beginPath();
        pen.moveTo(spot.x, spot.y);
        pen.bezierCurveTo((spot.x + end.x) / 2, spot.y, (spot.x + end.x) / 2, end.y, end.x, end.y);
        pen.stroke();
        pen.setLineDash([]);
      }
      paintCircle(pen, spot, Math.max(this.radius * 1.3, 3), this.look.written, this.look.strong);
    }
    // What is pointed at may cross the names of borders: these stay in front.
    if (this.view instanceof Plane && visits.length) for (const line of this.scene.lines) paintName(pen, this.view, line, line.key === this.key ? this.look.lit : this.look.border, this.look);
  }

  /** What a cell is painted in that an access touches. @param {Access} access */
  cellColour(access) {
    return access.kind === "write" ? this.look.written : this.look.read;
  }

  /** Point at a place of the canvas. @param {number} x @param {number} y */
  point(x, y) {
    const cell = this.shelf.at(x, y);
    if (cell) {
      const visits = this.visitsOf(cell[0], cell[1]);
      this.light("");
      this.top(visits.slice(0, 200));
      const values = { element: this.shelf.element(cell[0], cell[1]), count: visits.length, instances: countOf(this.count, "instance") };
      this.tell(visits.length ? tr("{element}: accessed by {count} of {instances}", values) : tr("{element}: not accessed", values), "");
      return;
    }
    const v = this.visitAt(x, y);
    const line = v < 0 && !this.space ? this.lineAt(x, y) : "";
    if (v < 0 && !line) return this.rest();
    this.light(line);
    this.top(v >= 0 ? [v] : this.resting());
    if (v >= 0) this.tell(this.describe(v), "");
    else this.tell(tr("the border of {constraint}", { constraint: this.scene.lines.find((l) => l.key === line)?.label ?? "" }), line);
  }

  /** @param {string} key */
  light(key) {
    this.key = key;
  }

  /** @param {number} array @param {number} cell */
  visitsOf(array, cell) {
    const times = new Set();
    for (const access of this.accesses) {
      if (access.array !== array) continue;
      for (let k = 0; k < access.cells.length; k++) if (access.cells[k] === cell) times.add(access.visits[k]);
    }
    const found = [];
    for (let v = 0; v < this.count; v++) if (times.has(this.places[v])) found.push(v);
    return found;
  }

  /** The first visit of the instance under a place, or -1. @param {number} x @param {number} y */
  visitAt(x, y) {
    let [best, distance] = [-1, Math.max(9, this.radius * 1.6) ** 2];
    if (this.count > 20000 && !this.space) return this.nearest(x, y);
    for (let v = 0; v < this.count; v++) {
      const at = this.centre(this.visits[2 * v], this.visits[2 * v + 1]);
      const apart = (at.x - x) ** 2 + (at.y - y) ** 2;
      if (apart < distance) [best, distance] = [v, apart];
    }
    return best;
  }

  /** The same in a plane of many points. @param {number} x @param {number} y */
  nearest(x, y) {
    const plane = /** @type {Plane} */ (this.view);
    const origin = plane.spot(0, 0);
    const [right, up] = [Math.round((x - origin.x) / plane.unit), Math.round((origin.y - y) / plane.unit)];
    const point = this.lookup[0].get(plane.flat ? `${right}` : `${up},${right}`);
    if (point === undefined) return -1;
    for (let v = 0; v < this.count; v++) if (this.visits[2 * v] === 0 && this.visits[2 * v + 1] === point) return v;
    return -1;
  }

  /** The key of the border near a place. @param {number} x @param {number} y */
  lineAt(x, y) {
    const plane = /** @type {Plane} */ (this.view);
    for (const line of this.scene.lines) {
      const [a, b] = line.ends.map(([u, v]) => plane.spot(u, v));
      const length = Math.hypot(b.x - a.x, b.y - a.y);
      const away = Math.abs((b.x - a.x) * (a.y - y) - (a.x - x) * (b.y - a.y)) / length;
      const along = ((x - a.x) * (b.x - a.x) + (y - a.y) * (b.y - a.y)) / length;
      const label = plane.spot(line.at[0], line.at[1]);
      if ((away < 5 && along > 0 && along < length) || (Math.abs(label.x - x) < 26 && Math.abs(label.y - y) < 10)) return line.key;
    }
    return "";
  }

  /** Turn space by pixels dragged. @param {number} dx @param {number} dy */
  drag(dx, dy) {
    const space = /** @type {Orthographic} */ (this.view);
    space.turn(space.azimuth - dx * 0.5, space.elevation + dy * 0.5);
    this.draw(this.theme);
  }
}
