/** Variable: the values that a kernel's variable held, one program and iteration at a time. */

import { numbers } from "../drawing/data.js";
import { make } from "../drawing/dom.js";
import { themeOf } from "../drawing/theme.js";
import { showChanges } from "../drawing/changes.js";
import { svgOf } from "../drawing/drawing.js";
import { barsOf } from "../drawing/histogram.js";
import { blockHeatmap, tell } from "../drawing/valueblock.js";
import { callProgram, countOf } from "../drawing/words.js";
import { goToOne } from "../linked.js";
import { oneProgramPicker } from "./pickers.js";
import { notKept } from "./programs.js";
import { tr } from "../localization.js";

/**
 * @param {import("../scenes.js").VariableScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {Pick<import("../part.js").Context, "windowed" | "linked">} context
 * @returns {{node: HTMLElement, draw: () => void}}
 */
export function variableOf(scene, selection, { windowed, linked } = {}) {
  if (scene.fixed !== null || scene.empty) {
    return { node: make("div", { class: "tl-variable" }, scene.fixed ?? scene.empty), draw: () => {} };
  }
  const programs = [...numbers(scene.programs)];
  const grid = scene.grid;
  const values = scene.values.map(numbers);
  const reached = scene.reached.map(numbers);
  const size = scene.block.reduce((total, n) => total * n, 1);
  const status = make("div", { class: "tl-status", "aria-live": "polite" });
  const place = make("div", { class: "tl-row" });
  let [row, iteration] = [Math.max(0, programs.indexOf(scene.program)), scene.iteration];

  /** @param {string} name @param {number} count @param {(k: number) => void} onpick */
  const slider = (name, count, onpick) => {
    const input = make("input", {
      type: "range", min: 0, max: count - 1, step: 1, "aria-label": name, oninput: () => onpick(Number(input.value)),
    });
    const told = make("output", { class: "tl-told" });
    const nodes = count > 1 ? [make("label", { class: "tl-slide" }, `${name} `, input), told] : [];
    return { input, told, nodes };
  };
  // A part that follows the picked program is another one for others.
  const program = oneProgramPicker(grid, selection, () => programs[row], windowed ? null : programs);
  const turn = slider(tr("iteration"), values.length, (k) => selection.set({ iteration: k }));

  const rest = () =>
    scene.dropped ? tr("This picture does not have {programs} more. Call values(..., programs=[…]).", { programs: countOf(scene.dropped, "program") }) : "";
  /** @type {import("../drawing/heatmap.js").Heatmap | null} */
  let heatmap = null;
  const update = () => {
    const picked = selection.get();
    const seen = [row, iteration];
    if (picked.program != null && programs.includes(picked.program)) row = programs.indexOf(picked.program);
    if (picked.iteration != null && picked.iteration < values.length) iteration = picked.iteration;
    program.update();
    turn.input.value = String(iteration);
    turn.told.textContent = tr("iteration {number} of {count}", { number: iteration, count: values.length });
    heatmap = null;
    if (picked.program != null && !programs.includes(picked.program) && (windowed || programs.length > 1)) {
      place.replaceChildren(make("div", { class: "tl-note" }, notKept(picked.program, grid, programs.length)));
      return;
    }
    if (!reached[iteration][row]) {
      place.replaceChildren(make("div", { class: "tl-note" }, tr("{program} does not run this line", { program: callProgram(programs[row], grid) })));
      return;
    }
    const block = values[iteration].subarray(row * size, (row + 1) * size);
    heatmap = blockHeatmap(scene.picture, scene.painting, block, scene.ends, scene.mask ? numbers(scene.mask) : null, (index, position) => {
      linked?.point(index && scene.line ? [scene.line] : []);
      if (!index) return (status.textContent = rest());
      const at = index.length ? `[${index.join(", ")}]` : "";
      const element = `${scene.name}${at}`;
      const untouched = scene.mask && !numbers(scene.mask)[position];
      return (status.textContent = untouched ? tr("{element} was not accessed", { element }) : `${element} = ${tell(block[position])}`);
    });
    heatmap.onpick = () => goToOne(linked, scene.line ? [scene.line] : [], selection);
    /** @type {HTMLElement[]} */
    const shown = [heatmap.node];
    if (size > 1) {
      shown.push(make("div", { class: "tl-histogram" }, svgOf(scene.bars ?? barsOf(block), themeOf(node))));
    } else shown.push(make("div", { class: "tl-single" }, tell(block[0])));
    place.replaceChildren(...shown);
    if (iteration > 0 && reached[iteration - 1][row]) {
      const before = values[iteration - 1].subarray(row * size, (row + 1) * size);
      const flashes = row === seen[0] && iteration !== seen[1];
      place.append(showChanges(heatmap, scene.picture, block, before, tr("iteration {number}", { number: iteration - 1 }), flashes));
    }
    heatmap.draw();
    status.textContent = rest();
  };
  selection.subscribe(update);
  const node = make(
    "div", { class: "tl-variable" }, make("div", { class: "tl-title" }, `${scene.title} (${scene.dtype})`),
    make("div", { class: "tl-controls" }, ...program.nodes), make("div", { class: "tl-controls" }, ...turn.nodes),
    place, status,
  );
  return { node, draw: update };
}
