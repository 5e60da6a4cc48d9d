/** Made from the scenes of all views and the names in `front/` by `python -m triton_lab.views.declarations`: not to be edited. */

import { compilationOf, compiledOf } from "./compiled/card.js";
import { costOf } from "./compiled/cost.js";
import { passesOf } from "./compiled/passes.js";
import { productOf } from "./compiled/product.js";
import { stagesOf } from "./compiled/stages.js";
import { trafficOf, transactionsOf } from "./compiled/transactions.js";
import { drawingOf } from "./drawing/drawing.js";
import { accessesOf } from "./launch/accesses.js";
import { cardOf } from "./launch/card.js";
import { causesOf, comparisonOf } from "./launch/comparison.js";
import { debuggerOf } from "./launch/debugger.js";
import { windowOf } from "./launch/finer.js";
import { gridOf } from "./launch/grid.js";
import { interleavingOf } from "./launch/interleaving.js";
import { launchesOf, nestedOf } from "./launch/launches.js";
import { originOf, originsOf } from "./launch/origins.js";
import { pipelineOf } from "./launch/pipeline.js";
import { assignedOf, stepsOf } from "./launch/steps.js";
import { storageOf } from "./launch/storage.js";
import { sweepOf } from "./launch/sweep.js";
import { tilingOf } from "./launch/tiling.js";
import { timelineOf } from "./launch/timeline.js";
import { variableOf } from "./launch/variable.js";
import { conversionOf } from "./layouts/conversion.js";
import { layoutsOf } from "./layouts/kernel.js";
import { layoutOf } from "./layouts/layout.js";
import { choiceOf, followOf, wordsOf } from "./part.js";
import { iterationOf, movedOf, pairOf } from "./polyhedral/domain.js";
import { maximalOf } from "./polyhedral/maximal.js";
import { raggedOf } from "./polyhedral/ragged.js";
import { columnsOf } from "./polyhedral/ways.js";
import { predictionOf } from "./prediction.js";
import { proofOf } from "./proof.js";

/** @typedef {import("./scenes.js").Scene} Scene */
/** @type {{[Kind in Scene["kind"]]: import("./part.js").Draw<Extract<Scene, {kind: Kind}>>}} */
export const KINDS = {
  accesses: accessesOf,
  assigned: assignedOf,
  card: cardOf,
  causes: causesOf,
  choice: choiceOf,
  columns: columnsOf,
  comparison: comparisonOf,
  compilation: compilationOf,
  compiled: compiledOf,
  conversion: conversionOf,
  cost: costOf,
  debugger: debuggerOf,
  drawing: drawingOf,
  follow: followOf,
  grid: gridOf,
  interleaving: interleavingOf,
  iteration: iterationOf,
  launches: launchesOf,
  layout: layoutOf,
  layouts: layoutsOf,
  maximal: maximalOf,
  moved: movedOf,
  nested: nestedOf,
  origin: originOf,
  origins: originsOf,
  pair: pairOf,
  passes: passesOf,
  pipeline: pipelineOf,
  prediction: predictionOf,
  product: productOf,
  proof: proofOf,
  ragged: raggedOf,
  stages: stagesOf,
  steps: stepsOf,
  storage: storageOf,
  sweep: sweepOf,
  tiling: tilingOf,
  timeline: timelineOf,
  traffic: trafficOf,
  transactions: transactionsOf,
  variable: variableOf,
  window: windowOf,
  words: wordsOf,
};
