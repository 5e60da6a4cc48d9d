/** The irregular nest: rows as long as the data say, visited one after the other. */

import { make, penOf, ratioOf, resize } from "../drawing/dom.js";
import { STYLE } from "../drawing/style.js";
import { themeOf } from "../drawing/theme.js";
import { controlsOf } from "./controls.js";

const CELL = 40;
const ABOVE_ROWS = 28; // px above A

/** @type {import("../part.js").Draw<import("../scenes.js").RaggedScene>} */
export function raggedOf(scene) {
  const { columns, width } = scene;
  let look = STYLE.themes.light.domain;
  const visits = columns.flatMap((row, i) => row.map((column, k) => ({ i, k, column })));
  const [right, down] = [width * CELL, columns.length * CELL];
  const gap = 70;
  const side = 4 * CELL;
  const deep = width * CELL;
  const aside = Math.max(ABOVE_ROWS, (deep - down) / 2);
  const tall = Math.max(deep, aside + down);
  const canvas = make("canvas", {
    style: "position:static",
    tabindex: 0, role: "img", "aria-label": `${scene.title}: A with rows of different lengths, times B; arrow keys step through the visits, Escape clears the choice`,
    onkeydown: (/** @type {KeyboardEvent} */ event) => step(event),
  });
  resize(canvas, right + gap + side + 20, tall + 20);
  const pen = penOf(canvas);
  const ratio = ratioOf(right + gap + side + 20, tall + 20);
  pen.scale(ratio, ratio);
  const told = make("div", { class: "tl-domain-told", "aria-live": "polite" }, scene.remark);
  const top = 10 + aside;
  const stage = {
    count: visits.length,
    done: 0,
    go(/** @type {number} */ done) {
      stage.done = done;
      pen.clearRect(0, 0, right + gap + side + 20, tall + 20);
      visits.forEach(({ i, column }, v) => {
        pen.globalAlpha = done === 0 || v < done ? 1 : 0.25;
        pen.fillStyle = look.rows[i % look.rows.length];
        pen.fillRect(10 + column * CELL, top + i * CELL, CELL, CELL);
      });
      pen.globalAlpha = 1;
      pen.fillStyle = look.dense;
      pen.fillRect(10 + right + gap, 10, side, deep);
      const now = done ? visits[done - 1] : null;
      if (now) {
        pen.fillStyle = look.rows[now.i % look.rows.length];
        pen.fillRect(10 + right + gap, 10 + now.column * CELL, side, CELL);
        pen.strokeStyle = look.strong;
        pen.lineWidth = 2;
        pen.strokeRect(10 + now.column * CELL, top + now.i * CELL, CELL, CELL);
        pen.strokeRect(10 + right + gap, 10 + now.column * CELL, side, CELL);
      }
      pen.strokeStyle = look.axis;
      pen.lineWidth = 1.5;
      pen.strokeRect(10, top, right, down);
      pen.strokeRect(10 + right + gap, 10, side, deep);
      pen.fillStyle = look.strong;
      pen.textBaseline = "middle";
      pen.font = "18px 'DejaVu Sans', system-ui, sans-serif";
      pen.textAlign = "center";
      columns.forEach((row, i) => pen.fillText(`K[i] = ${row.length}`, 10 + CELL * 2.1, top + (i + 0.5) * CELL));
      pen.fillText("x", 10 + right + gap / 2, 10 + deep / 2);
      pen.font = "bold 20px 'DejaVu Sans', system-ui, sans-serif";
      pen.fillText("A", 10 + right / 2, top - ABOVE_ROWS / 2); // the rows hold words already
      pen.fillText("B", 10 + right + gap + side / 2, 10 + deep / 2);
      told.textContent = now ? `i = ${now.i}, k = ${now.k}: A[${now.i}][${now.column}] times row ${now.column} of B` : scene.remark;
    },
  };
  const controls = controlsOf(stage);
  /** @param {KeyboardEvent} event */
  const step = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    /** @type {Record<string, number>} */
    const leads = { ArrowRight: stage.done + 1, ArrowLeft: stage.done - 1, Home: 1, End: stage.count, Escape: 0 };
    if (!(event.key in leads)) return;
    controls.go(leads[event.key]);
    event.preventDefault();
    event.stopPropagation();
  };
  const node = make(
    "div", { class: "tl-domain" }, make("div", { class: "tl-domain-title" }, scene.title),
    canvas, controls.node, told, make("pre", {}, scene.program),
  );
  return {
    node,
    draw() {
      look = STYLE.themes[themeOf(node)].domain;
      stage.go(stage.done);
    },
    stop: controls.stop,
  };
}
