/** Every number, text, list, map and buffer of a saved scene has a bound, and so have products of numbers. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { wrongOf } from "../../../triton_lab/views/front/check.js";
import { SHAPES } from "../../../triton_lab/views/front/shapes.js";

const BUFFER = (...numbers: number[]) => ({ type: "u4", bytes: new Uint8Array(Uint32Array.from(numbers).buffer) });
const LAYOUT = { shape: [4, 6], origin: [0, 0], panels: 1, across: 1, rows: 4, columns: 6, down: 1, right: 1 };
const BLOCK = { layout: LAYOUT, first: BUFFER(), panelNames: [], room: [300, 200] };
const block = (layout: object, room = [300, 200]) => wrongOf({ ...BLOCK, room, layout: { ...LAYOUT, ...layout } }, { of: "BlockScene" });

/** What of a shape has no bound. */
function* unbounded(shape: any, at: string): Generator<string> {
  if (typeof shape === "string") {
    if (!["boolean", "null", "scene"].includes(shape)) yield at;
    return;
  }
  const ends = shape.whole ?? shape.number;
  if (ends && !ends.every(Number.isFinite)) yield at;
  for (const bound of ["text", "bytes"]) if (bound in shape && !(shape[bound] < 1e8)) yield at;
  if (("list" in shape || "map" in shape) && !(shape.most < 1e8)) yield at;
  for (const inner of [shape.list, shape.map, ...(shape.any ?? []), ...(shape.tuple ?? [])]) if (inner) yield* unbounded(inner, at);
}

test("nothing in any kind of scene is without a bound", () => {
  const found = Object.entries(SHAPES.types).flatMap(([type, fields]) => Object.entries(fields).flatMap(([key, shape]) => [...unbounded(shape, `${type}.${key}`)]));
  assert.deepEqual(found, []);
  for (const most of Object.values(SHAPES.most)) assert.ok(most > 0 && most < 1e8);
});

test("a number is held to its ends, and to be whole where it is", () => {
  assert.equal(block({}), null);
  for (const panels of [1e308, 1e9, -1]) assert.match(block({ panels })!.told, /^scene\.layout\.panels is .*must be from/);
  for (const panels of [1e308, 1e9, -1]) assert.equal(block({ panels })!.large, true);
  for (const panels of [0.5, NaN, Infinity, "1", null, {}]) assert.equal(block({ panels })!.large, false);
});

test("products have a bound of their own", () => {
  assert.match(block({ panels: 1000, rows: 1000, columns: 1000 })!.told, /panels × columns × rows is 1,000,000,000/);
  const picture = { kind: "drawing", width: 1, height: 1, items: [], source: "", label: "" };
  assert.match(wrongOf({ name: "a", low: [], shape: [], rows: 4000, columns: 4000, picture, size: [1, 1], top: 1 }, { of: "ArrayScene" })!.told, /rows × columns/);
  const axes = Array.from({ length: 4 }, () => ({ name: "lane", size: 512 }));
  const axesOf = SHAPES.types.SideScene!.axes!;
  assert.match(wrongOf(axes, axesOf)!.told, /holds 68,719,500,000 in total/);
  assert.equal(wrongOf(axes.slice(0, 2), axesOf), null);
});

test("a canvas is held to so many pixels, and so are all of a scene together", () => {
  assert.match(block({ panels: 900, across: 1, rows: 1, columns: 1 }, [4000, 4000])!.told, /pixels/);
  assert.match(block({ across: 1024 })!.told, /pixels/);
  const some = Array.from({ length: 40 }, () => ({ ...BLOCK, room: [1024, 1024], layout: { ...LAYOUT, rows: 1000, columns: 1000, panels: 1 } }));
  assert.equal(wrongOf(some[0], { of: "BlockScene" }), null);
  const painted = SHAPES.most.painted.toLocaleString("en");
  assert.ok(wrongOf(some, { list: { of: "BlockScene" }, most: 100 })!.told.includes(`more than ${painted} painted`));
});

test("buffers of a scene have so many numbers in all", () => {
  const buffers = (count: number) => Array.from({ length: count }, () => ({ type: "u1", bytes: new Uint8Array(1 << 20) }));
  const shape = { list: { of: "Buffer" }, most: 100 };
  assert.equal(wrongOf(buffers(4), shape), null);
  assert.match(wrongOf(buffers(5), shape)!.told, /more than 4,194,300 numbers/);
});

test("programs of a grid are few enough for a colour and a place in each input", () => {
  const { grid } = SHAPES.types.GridScene!;
  assert.equal(wrongOf([512, 512, 1], grid), null);
  assert.equal(wrongOf([100, 100, 100], grid)?.large, true);
});

test("runs begin one after the other, within what they are of", () => {
  const touches = (...starts: number[]) => wrongOf({ starts: BUFFER(...starts), items: BUFFER(1, 2, 3), moments: [], of: BUFFER() }, { of: "ToldTouches" });
  const { ToldTouches } = SHAPES.types;
  assert.ok(ToldTouches);
  assert.equal(touches(0, 0, 2, 3), null);
  for (const starts of [[0, 4_000_000_000], [2, 1], [0, 4]]) assert.match(touches(...starts)!.told, /does not increase/);
});

test("what is in all of a scene is counted, and each part for itself", () => {
  const words = { kind: "words", text: "x".repeat(100_000) };
  const card = (parts: object) => ({
    kind: "compilation", title: "", facts: [], tabs: [], parts,
  });
  assert.equal(wrongOf(card(Object.fromEntries(Array.from({ length: 100 }, (_, k) => [`part ${k}`, words])))), null);
  assert.match(wrongOf({ ...card({}), facts: Array.from({ length: 16_000 }, () => "x".repeat(300)) })!.told, /more than 524,288 letters/);
  const { table } = SHAPES.types.CompiledScene!;
  assert.match(wrongOf(Array.from({ length: 10_000 }, () => Array(10).fill("")), table)!.told, /more than 32,768 values/);
  assert.match(wrongOf(card({ ["k".repeat(300)]: words }))!.told, /key of 300 letters/);
});
