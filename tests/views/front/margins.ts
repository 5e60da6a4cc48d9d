/**
 * Holds scenes against half of every bound: `node margins.ts FILE`, with a line of JSON `[name, scene]` for each. Prints
 * those that are beyond it, and why.
 */

import { readFileSync } from "node:fs";

import { wrongOf } from "../../../triton_lab/views/front/check.js";
import { decoded } from "../../../triton_lab/views/front/packed.js";
import { SHAPES } from "../../../triton_lab/views/front/shapes.js";

const EXACT = 64; // a bound up to here says how many there are, such as three of a grid

const less = (bound: number) => (Math.abs(bound) > EXACT ? bound / 2 : bound);

const halve = (shape: any): void => {
  if (typeof shape === "string") return;
  for (const ends of ["whole", "number"]) if (ends in shape) shape[ends] = shape[ends].map(less);
  for (const bound of ["text", "bytes", "most", "area", "product", "numbers"]) if (bound in shape) shape[bound] = less(shape[bound]);
  for (const inner of [shape.list, shape.map, ...(shape.any ?? []), ...(shape.tuple ?? [])]) if (inner) halve(inner);
};

for (const fields of Object.values(SHAPES.types)) for (const shape of Object.values(fields)) halve(shape);
for (const [what, most] of Object.entries(SHAPES.most)) SHAPES.most[what] = most / 2;
for (const line of readFileSync(process.argv[2]!, "utf-8").split("\n").filter(Boolean)) {
  const [name, scene] = JSON.parse(line);
  const wrong = wrongOf(decoded(scene));
  if (wrong) console.log(`${name}: ${wrong.told}`);
}
