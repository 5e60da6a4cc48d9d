/** The irregular nest: rows as long as the data say, visited one after the other. */

import { make } from "./dom.js";
import { controlsOf } from "./polyhedral_controls.js";
import { DOMAIN_CSS } from "./polyhedral_words.js";

const CELL = 40;

/** @param {any} scene @returns {{node: HTMLElement, stop: () => void}} */
export function raggedOf(scene) {
  const { columns, width, rows, outline, dense } = scene;
  const visits = columns.flatMap((/** @type {number[]} */ row, /** @type {number} */ i) => row.map((column, k) => ({ i, k, column })));
  const [right, down] = [width * CELL, columns.length * CELL];
  const gap = 70;
  const side = 4 * CELL;
  const tall = width * CELL;
  const ratio = Math.max(1, window.devicePixelRatio || 1);
  const canvas = make("canvas", {
    width: (right + gap + side + 20) * ratio, height: (tall + 20) * ratio,
    style: `position:static;width:${right + gap + side + 20}px;height:${tall + 20}px`,
  });
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const told = make("div", { class: "tl-domain-told", "aria-live": "polite" }, scene.remark);
  const top = 10 + (tall - down) / 2;
  const stage = {
    count: visits.length,
    done: 0,
    go(/** @type {number} */ done) {
      stage.done = done;
      pen.clearRect(0, 0, right + gap + side + 20, tall + 20);
      visits.forEach((/** @type {{i: number, column: number}} */ { i, column }, /** @type {number} */ v) => {
        pen.globalAlpha = done === 0 || v < done ? 1 : 0.25;
        pen.fillStyle = rows[i % rows.length];
        pen.fillRect(10 + column * CELL, top + i * CELL, CELL, CELL);
      });
      pen.globalAlpha = 1;
      pen.fillStyle = dense;
      pen.fillRect(10 + right + gap, 10, side, tall);
      const now = done ? visits[done - 1] : null;
      if (now) {
        pen.fillStyle = rows[now.i % rows.length];
        pen.fillRect(10 + right + gap, 10 + now.column * CELL, side, CELL);
        pen.strokeStyle = "#000000";
        pen.lineWidth = 2;
        pen.strokeRect(10 + now.column * CELL, top + now.i * CELL, CELL, CELL);
        pen.strokeRect(10 + right + gap, 10 + now.column * CELL, side, CELL);
      }
      pen.strokeStyle = outline;
      pen.lineWidth = 1.5;
      pen.strokeRect(10, top, right, down);
      pen.strokeRect(10 + right + gap, 10, side, tall);
      pen.fillStyle = "#000000";
      pen.textBaseline = "middle";
      pen.font = "18px 'DejaVu Sans', system-ui, sans-serif";
      pen.textAlign = "center";
      columns.forEach((/** @type {number[]} */ row, /** @type {number} */ i) => pen.fillText(`K[i] = ${row.length}`, 10 + CELL * 2.1, top + (i + 0.5) * CELL));
      pen.fillText("x", 10 + right + gap / 2, 10 + tall / 2);
      pen.font = "bold 20px 'DejaVu Sans', system-ui, sans-serif";
      pen.fillText("A", 10 + right / 2, top + down / 2);
      pen.fillText("B", 10 + right + gap + side / 2, 10 + tall / 2);
      told.textContent = now ? `i = ${now.i}, k = ${now.k}: A[${now.i}][${now.column}] times row ${now.column} of B` : scene.remark;
    },
  };
  stage.go(0);
  const controls = controlsOf(scene, stage, null, false);
  const node = make(
    "div", { class: "tl-domain" }, make("style", {}, DOMAIN_CSS), make("div", { style: "font-weight:600;margin-bottom:4px" }, scene.title),
    canvas, controls.node, told, make("pre", {}, scene.program),
  );
  return { node, stop: controls.stop };
}
