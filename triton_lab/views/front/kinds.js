/** Made from the scenes of all views and the names in `front/` by `python -m triton_lab.views.declarations`: not to be edited. */

import { accessesOf } from "./accesses.js";
import { cardOf } from "./card.js";
import { columnsOf } from "./columns.js";
import { differenceOf } from "./difference.js";
import { drawingOf } from "./drawing.js";
import { gridOf } from "./grid.js";
import { launchesOf, nestedOf } from "./launches.js";
import { originOf, originsOf } from "./origins.js";
import { choiceOf, followOf, wordsOf } from "./part.js";
import { iterationOf, pairOf } from "./polyhedral_domain.js";
import { maximalOf } from "./polyhedral_maximal.js";
import { raggedOf } from "./polyhedral_ragged.js";
import { stepsOf } from "./steps.js";
import { storageOf } from "./storage.js";
import { tilingOf } from "./tiling.js";
import { timelineOf } from "./timeline.js";
import { variableOf } from "./variable.js";

/** @typedef {import("./scenes.js").Scene} Scene */
/** @type {{[Kind in Scene["kind"]]: import("./part.js").Draw<Extract<Scene, {kind: Kind}>>}} */
export const KINDS = {
  accesses: accessesOf,
  card: cardOf,
  choice: choiceOf,
  columns: columnsOf,
  difference: differenceOf,
  drawing: drawingOf,
  follow: followOf,
  grid: gridOf,
  iteration: iterationOf,
  launches: launchesOf,
  maximal: maximalOf,
  nested: nestedOf,
  origin: originOf,
  origins: originsOf,
  pair: pairOf,
  ragged: raggedOf,
  steps: stepsOf,
  storage: storageOf,
  tiling: tilingOf,
  timeline: timelineOf,
  variable: variableOf,
  words: wordsOf,
};
