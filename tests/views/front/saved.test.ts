/** What comes from a notebook's file: read back as it was packed, and refused in a sentence where it is not sound. */

import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { test } from "node:test";

import { wrongOf } from "../../../triton_lab/views/front/check.js";
import { decoded, encoded, unzipped, zipped } from "../../../triton_lab/views/front/packed.js";
import { CannotDraw, MOST_CHARACTERS, TooLarge, packedOf, partIn, savedOf, sceneOf, tookParts, withPart } from "../../../triton_lab/views/front/saved.js";
import type { Scene } from "../../../triton_lab/views/front/scenes.d.ts";
import { SHAPES } from "../../../triton_lab/views/front/shapes.js";

const WORDS = { kind: "words", text: "told" };
const CARD = {
  kind: "card", title: "k[1]", facts: [], grid: [1, 1, 1], headings: [], table: [], scalars: [], findings: [], failure: "",
  told: false, remarks: [], show: [], source: { first: 1, lines: [["x", ["load"], null]] }, unchecked: "",
  tabs: [{ name: "a", label: "A", window: 1 }], opened: "a", parts: { a: WORDS },
};
/** The smallest value of a shape. */
const least = (shape: any): unknown => {
  if (shape === "scene") return WORDS;
  if (typeof shape === "string") return shape === "boolean" ? false : null;
  const ends = shape.whole ?? shape.number;
  if (ends) return Math.max(1, ends[0]);
  if ("text" in shape) return "";
  if ("bytes" in shape) return new Uint8Array(0);
  if ("is" in shape) return shape.is[0];
  if ("any" in shape) return least(shape.any[0]);
  if ("of" in shape) return Object.fromEntries(Object.entries(SHAPES.types[shape.of]!).filter(([key]) => !key.endsWith("?")).map(([key, inner]) => [key, least(inner)]));
  if ("list" in shape) return Array.from({ length: Math.max(1, shape.least ?? 0) }, () => least(shape.list));
  if ("tuple" in shape) return shape.tuple.map(least);
  return { key: least(shape.map) };
};

const refused = (text: string) => (error: unknown) => error instanceof CannotDraw && error.message.includes(text);

test("bytes and words come back as they were packed", async () => {
  const bytes = Uint8Array.from({ length: 20_000 }, (_, k) => (k * 37) % 256);
  const scene = { kind: "words", text: "größer 界", more: [{ bytes }, null, 1.5] };
  assert.deepEqual(decoded(await unzipped(await zipped(encoded(scene)), 1 << 20)), scene);
  const view = new DataView(bytes.buffer, 3, 5);
  assert.deepEqual(decoded(encoded(view)), bytes.subarray(3, 8));
});

test("the smallest scene of every kind is sound, and without any of its fields it is not", () => {
  for (const [kind, type] of Object.entries(SHAPES.kinds)) {
    const scene = least({ of: type }) as Record<string, unknown>;
    assert.equal(scene.kind, kind);
    assert.equal(wrongOf(scene), null);
    for (const key of Object.keys(SHAPES.types[type]!)) {
      const { [key]: _, ...rest } = scene;
      assert.equal(wrongOf(rest) === null, key.endsWith("?"), `${type}.${key}`);
      assert.notEqual(wrongOf({ ...scene, [key.replace("?", "")]: Symbol("of no type") }), null, `${type}.${key}`);
    }
  }
});

test("a picture that got more parts takes them, and another picture's are not taken", () => {
  const [a, b, c] = ["a", "b", "c"].map((text) => ({ kind: "words" as const, text }));
  const card = (parts: object, title = "k[1]") => ({ ...CARD, title, parts: { ...parts } }) as unknown as Scene;
  const partsOf = (scene: Scene) => ("parts" in scene ? scene.parts : null);
  const shown = card({ a });
  const drawn = partsOf(shown);
  assert.ok(tookParts(shown, card({ a, b })));
  assert.equal(partsOf(shown), drawn); // those who draw hold on to it
  assert.deepEqual(drawn, { a, b });
  for (const other of [card({ a, b, c }, "k[2]"), card({ a, b: c, c }), card({ a, c }), WORDS as Scene]) {
    assert.ok(!tookParts(shown, other));
    assert.deepEqual(drawn, { a, b });
  }

  const table = (inner: Scene) => ({ ...CARD, kind: "launches", parts: { "launch/0": { kind: "nested", name: "launch/0", scene: inner } } }) as unknown as Scene;
  const launches = table(card({ a }));
  assert.ok(tookParts(launches, table(card({ a, c }))));
  assert.deepEqual(partIn(launches, "launch/0/c"), c);
  assert.deepEqual([partIn(launches, "launch/0/b"), partIn(launches, "c"), partIn(a!, "c")], [null, null, null]);
  assert.ok(!tookParts(launches, table(card({ a, b, c }, "k[2]"))));
});

test("a field that is not what it should be is named", () => {
  assert.equal(wrongOf(CARD), null);
  const wrong: [unknown, string][] = [
    [{ ...CARD, grid: [1, Infinity, 1] }, "scene.grid.1 is not a whole number"],
    [{ ...CARD, grid: { length: 3 } }, "scene.grid is not a list"],
    [{ ...CARD, told: 1 }, "scene.told is not a boolean"],
    [{ ...CARD, source: { first: 1, lines: [["x", ["load"]]] } }, "scene.source.lines.0 does not have 3 values"],
    [{ ...CARD, parts: { a: { kind: "toString" } } }, "the kind of scene.parts.a is not known"],
    [{ kind: "constructor" }, "the kind of scene is not known"],
    [{ kind: ["words"] }, "the kind of scene is not known"],
    [null, "the kind of scene is not known"],
    [[WORDS], "the kind of scene is not known"],
  ];
  for (const [value, told] of wrong) assert.deepEqual(wrongOf(value), { told, large: false });
  assert.equal(wrongOf({ type: "f4", bytes: new Uint8Array(7) }, { of: "Buffer" })?.told, "scene ends within a number");
});

test("scenes in scenes without end are refused", () => {
  let scene: unknown = WORDS;
  for (let k = 0; k < 5000; k++) scene = { kind: "nested", name: "n", scene };
  const wrong = wrongOf(scene)!;
  assert.ok(wrong.large && /more than 16 scenes/.test(wrong.told));
});

test("an output is read field by field", () => {
  assert.deepEqual(savedOf({ version: 1, scene: "x", view: "v", follows: 1, panel: true, more: 3 }), { version: 1, scene: "x", view: "v", follows: false, panel: true });
  assert.deepEqual(savedOf({ version: 1, view: 3 }), { version: 1, follows: false, panel: false });
  for (const odd of [null, 3, "<script>", [], {}, { version: 1, scene: 3 }]) assert.throws(() => savedOf(odd), refused("damaged"));
  for (const version of [0, 2, "1", null]) assert.throws(() => savedOf({ version }), refused("another version"));
});

test("texts that were not packed are refused in a sentence", async () => {
  const gzip = (text: string) => gzipSync(text).toString("base64");
  for (const text of ["~~~", "aGVsbG8=", "", gzip("no json"), gzip("{}").slice(0, -8)]) {
    await assert.rejects(sceneOf(text), refused("damaged"));
  }
  await assert.rejects(sceneOf(gzip("{}")), refused("kind of scene is not known"));
  await assert.rejects(sceneOf(gzip(`"${"0".repeat(70 << 20)}"`)), refused("too large"));
  for (const items of ["[".repeat(2e5) + "]".repeat(2e5), `[${"[],".repeat(3e5)}0]`, `{${'"":{},'.repeat(3e5)}"":0}`]) {
    await assert.rejects(sceneOf(gzip(items)), TooLarge);
  }
  await assert.rejects(sceneOf("A".repeat(MOST_CHARACTERS + 1)), TooLarge);
  await assert.rejects(sceneOf(gzip("[".repeat(200_000) + "]".repeat(200_000))), CannotDraw);
});

test("a damaged part says so in its place, and the others stay", async () => {
  const text = await zipped({ ...CARD, parts: { a: { kind: "grid" }, b: WORDS, __proto__: WORDS, constructor: WORDS } });
  const scene = (await sceneOf(text)) as any;
  assert.equal(scene.parts.a.kind, "words");
  assert.match(scene.parts.a.text, /Run the cell again/);
  assert.deepEqual(scene.parts.b, WORDS);
  assert.equal(Object.getPrototypeOf(scene.parts), Object.prototype);
});

test("a part that came is put beside the others, as long as there is room", async () => {
  const text = await zipped(CARD);
  const bytes = new Uint8Array([1, 2, 3, 4]);
  const more = (await withPart(text, "b", { kind: "words", text: "b", bytes } as never))!;
  const parts = (decoded(await unzipped(more, 1 << 20)) as any).parts;
  assert.deepEqual(parts, { a: WORDS, b: { kind: "words", text: "b", bytes } });
  const random = Array.from({ length: MOST_CHARACTERS }, () => String.fromCharCode(32 + Math.random() * 90)).join("");
  assert.equal(await withPart(text, "b", { kind: "words", text: random }), null);
  assert.equal(await withPart(await zipped(WORDS), "b", WORDS as never), null);
  assert.equal(await packedOf({ kind: "words", text: random }), null);
  assert.equal((await packedOf(WORDS))!.length < 100, true);
});
