/** The roofline's edges hold the ridge and the launch. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { edgesOf } from "../../../triton_lab/views/front/compiled/cost.js";

const H100 = { name: "H100", memory: 3.35e12, peak: 66.9e12, kind: "float32", rate: 2.7e12, text: "", source: "" };

test("the ridge and the launch lie inside", () => {
  for (const intensity of [0.003, 0.8, 20, 5000, null]) {
    const { left, right, low, high } = edgesOf(H100, intensity);
    for (const value of [H100.peak / H100.memory, ...(intensity ? [intensity] : [])]) {
      assert.ok(left < Math.log10(value) && Math.log10(value) < right);
    }
    assert.ok(low <= Math.log10(H100.memory) + left && Math.log10(H100.peak) <= high);
  }
});
