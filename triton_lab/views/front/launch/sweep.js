/** Sweep: the figure, a point of which says its numbers when it is picked, and all of them as a table. */

import { make } from "../drawing/dom.js";
import { foldedTable } from "../drawing/table.js";
import { tr } from "../localization.js";

/**
 * @param {import("../scenes.js").SweepScene} scene
 * @param {import("../selection.js").Selection} selection
 * @param {import("../part.js").Context} context
 * @returns {import("../part.js").Part}
 */
export function sweepOf(scene, selection, context) {
  const figure = context.draw(scene.drawing, selection, context);
  const node = make(
    "div", {},
    figure.node,
    foldedTable(tr("All measurements"), scene.headings, scene.table),
  );
  return { ...figure, node };
}
