/** The letters of pdb move over the steps of a program, and watched expressions have their value at each step. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { goal, watchedAt } from "../../../triton_lab/views/front/launch/debugger.js";

test("letters go a step or to a breakpoint, and back after r", () => {
  const stops = [3, 7];
  const from = (key: string, back: boolean, at: number) => goal(key, back, at, stops, 9);
  assert.deepEqual([from("n", false, 4), from("s", true, 4), from("n", true, 0), from("n", false, 9)], [5, 3, 0, 9]);
  assert.deepEqual([from("c", false, 0), from("c", false, 3), from("c", false, 7)], [3, 7, 9]);
  assert.deepEqual([from("c", true, 9), from("c", true, 7), from("c", true, 3)], [7, 3, 0]);
  assert.equal(from("x", false, 4), null);
});

test("a watched expression has its last value", () => {
  const watch = { text: "acc.max()", steps: [0, 4], values: ["-", "3"] };
  assert.deepEqual([0, 3, 4, 8].map((step) => watchedAt(watch, step)), ["-", "-", "3", "3"]);
  assert.equal(watchedAt({ ...watch, steps: [], values: [] }, 0), "-");
});
