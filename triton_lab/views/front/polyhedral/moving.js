/** An order made by hand: handles on the domain, the loops as chips, time beside it, the loops and their legality as words. */

import { make } from "../drawing/dom.js";
import { STYLE } from "../drawing/style.js";
import { tr } from "../localization.js";
import { handlesOf, loopBar } from "./handles.js";
import { callsOf, checked, keyOf, movesOf, runOrder, reasonOf, shownChange, timesOf } from "./moved.js";
import { loopsOf } from "./moved_loops.js";
import { overOf, sheetOf, solidArrows, timePlane } from "./moved_plane.js";

/** @typedef {import("./moved.js").Change} Change */
/** @typedef {import("../scenes.js").IterationScene} Scene */
/** @typedef {import("../scenes.js").PlaneScene} PlaneScene */
/** @typedef {import("./stage.js").DomainStage} DomainStage */

/** The colours of domains by name, for light and for dark pages. @param {"grid" | "axis" | "ring"} name */
const both = (name) => `${STYLE.themes.light.domain[name]}/${STYLE.themes.dark.domain[name]}`;
const statements = () => STYLE.themes.light.domain.statements.map((light, k) => `${light}/${STYLE.themes.dark.domain.statements[k]}`);

/**
 * What lets a reader move the loops of a domain; null where it has none that can be moved.
 * @param {Scene} scene @param {DomainStage} stage
 * @param {{
 *   time: (plane: PlaneScene | null) => DomainStage | null,
 *   words: (written: {program: string, runs: string[]} | null, notes: [string, string][]) => void,
 *   ask: ((name: string, then: (scene: import("../scenes.js").Scene) => void) => void) | null,
 *   place: {moved?: Change},
 * }} page `time` shows another plane of time (null: as it was), `words` the loops (null: those before) and notes
 */
export function movingOf(scene, stage, page) {
  if (!scene.moves) return null;
  const moves = movesOf(scene.moves);
  const shown = shownChange(moves);
  const drawn = { visits: stage.visits, places: stage.places, instants: stage.instants, fronts: scene.fronts, over: scene.over, solid: scene.solid };
  const known = page.place.moved;
  let change = known && known.order.length === shown.order.length ? known : shown;
  const calls = make("code", { class: "tl-calls" });
  const handles = stage.space ? null : handlesOf(stage, moves, () => change, (next) => apply(next));
  const bar = loopBar(moves, () => change, (next) => apply(next), () => apply(shown));
  if (handles) stage.node.append(handles.layer);
  let [asked, wanted, reason] = ["", "", ""];

  /** Ask Python for the loops, one question at a time: the last one counts. */
  const request = () => {
    if (!page.ask || asked) return;
    asked = wanted;
    page.ask(asked, (answer) => {
      const current = asked === wanted;
      asked = "";
      if (!current) return wanted ? request() : undefined;
      if (answer.kind === "moved") page.words(answer, [...answer.notes, .../** @type {[string, string][]} */ (reason ? [[reason, "violated"]] : [])]);
    });
  };

  /** @param {Change} next */
  function apply(next) {
    if (keyOf(next) === keyOf(change)) return;
    change = next;
    page.place.moved = next;
    show();
  }

  function show() {
    bar.show();
    const lines = handles?.place() ?? [];
    const same = keyOf(change) === keyOf(shown);
    stage.node.closest(".tl-domain")?.classList.toggle("tl-moved", !same);
    calls.textContent = same ? "" : callsOf(moves, change);
    if (same) {
      wanted = "";
      stage.take({ ...drawn, over: withLines(drawn.over, lines) });
      page.words(scene, scene.notes);
      if (scene.time) {
        page.time(null);
        return;
      }
    }
    const timed = timesOf(moves, change);
    const order = runOrder(timed, moves.count);
    const found = checked(moves, timed);
    const turns = new Map([...drawn.places].map((place, v) => [place, v]));
    const visits = order.places.flatMap((place, k) => {
      const v = turns.get(place);
      return v === undefined ? [] : [{ place, instant: order.instants[k], v }];
    });
    const { width, height } = stage.plot;
    const arrows = stage.space ? solidArrows(stage, moves, found) : [];
    if (!same) stage.take({
      visits: Uint32Array.from(visits.flatMap(({ v }) => [drawn.visits[2 * v], drawn.visits[2 * v + 1]])), places: Uint32Array.from(visits, ({ place }) => place),
      instants: Uint32Array.from(visits, ({ instant }) => instant), fronts: new Set(order.instants).size < moves.count, over: null,
      solid: drawn.solid && { ...drawn.solid, items: [...drawn.solid.items.filter((item) => item.what !== "arrows"), ...arrows] },
    }, () => withLines(sheetOf(width, height, overOf(stage, moves, change, timed, found, both("axis"))), lines));
    const plane = timePlane(moves, timed, order, scene.layers.map((layer) => layer.name), { grid: both("grid"), axis: both("axis"), ring: both("ring"), statements: statements() }, change.sizes.some(Boolean));
    const time = page.time(plane);
    if (time) time.take(null, () => sheetOf(time.plot.width, time.plot.height, overOf(time, moves, change, timed, found, both("axis"))));
    if (same) return;
    reason = reasonOf(moves, found);
    const at = moves.where ? tr("at {values}", { values: moves.where }) : tr("for these sizes");
    /** @type {[string, string][]} */
    const notes = reason ? [[tr("illegal {where}: {reason}", { where: at, reason }), "violated"], [found.first?.text ?? "", "violated"]] : [[tr("legal {where}: every dependence is kept", { where: at }), "legal"]];
    if (page.ask) {
      wanted = `order/${keyOf(change)}`;
      page.words(null, notes);
      request();
    } else page.words(loopsOf(moves, change) ?? { program: tr("Run the cell again to see the loops of this order."), runs: [] }, notes);
  }

  /** @param {import("../scenes.js").DrawingScene | null} over @param {{x: number, y: number}[][]} lines */
  const withLines = (over, lines) => over && {
    ...over,
    items: [...over.items, ...lines.map(([a, b]) => ({ what: /** @type {const} */ ("segments"), ends: /** @type {[[number, number], [number, number]][]} */ ([[[a.x, a.y], [b.x, b.y]]]), colour: moves.tile, width: 1.6, dashes: [5, 4] }))],
  };
  return { node: make("div", {}, bar.node, calls), start: show };
}
