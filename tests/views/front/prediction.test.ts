/** An answer is the right choice, or a number near enough. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isRight } from "../../../triton_lab/views/front/prediction.js";

test("a choice is right by its place, a number by its distance", () => {
  const choice = { choices: ["1", "2"], right: 1, number: 0, within: 0 };
  assert.deepEqual([0, 1].map((given) => isRight(choice, given)), [false, true]);
  const number = { choices: [], right: 0, number: 0.3, within: 0 };
  assert.deepEqual([0.1 + 0.2, 0.31].map((given) => isRight(number, given)), [true, false]);
  assert.equal(isRight({ ...number, within: 0.02 }, 0.31), true);
});
