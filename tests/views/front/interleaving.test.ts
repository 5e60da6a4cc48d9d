/** An order of steps leads through the states of a scene, as far as it has them. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { walked } from "../../../triton_lab/views/front/launch/interleaving.js";

test("an order is walked to its end, or to a step that the scene does not have", () => {
  const step = (to: number) => ({ to, accesses: [{ line: 1, words: `to ${to}`, own: false }] });
  const state = (value: string, ...to: number[]) => ({ values: [value], told: ["", ""], lines: [1, 1], steps: to.map(step) });
  const states = [state("0", 1, 2), state("1", -1, 3), state("0", 3, -2), state("2", -1, -1)];
  const values = (order: number[]) => walked({ states }, order).rows.map((row) => row.values[0]);
  assert.deepEqual(values([0, 1]), ["1", "2"]);
  assert.equal(walked({ states }, [0, 1]).state, 3);
  assert.deepEqual([walked({ states }, [1, 1]).state, values([1, 1])], [2, ["0"]]);
  assert.deepEqual(values([0, 0, 1]), ["1"]);
});
