/** Checks saved data against the types and bounds of scenes before it is drawn. */

import { numbers } from "./drawing/data.js";
import { frameOf } from "./drawing/frame.js";
import { SHAPES } from "./shapes.js";
import { tr } from "./localization.js";

/**
 * A type as data, with its bounds: a plain one by name, "scene" for any scene, `of` a record by name, `is` one of these
 * words; `whole` and `number` have a number's ends, `text` and `bytes` how many there may be, as `most` has for lists and
 * maps. `times` and `area` bound the product with other fields, `product` that of a list's numbers (or of a `field` of
 * its records), `numbers` a buffer's; `runs` names what a buffer has beginnings of, and of a `canvas` the pixels
 * are counted; of a text with `rows` only the lines in sight are drawn.
 * @typedef {{times?: string[], area?: number, product?: number, field?: string, numbers?: number, runs?: string, canvas?: true, rows?: true}} Further
 * @typedef {string | Further & ({whole: number[]} | {number: number[]} | {text: number} | {bytes: number} | {of: string}
 *   | {is: (string | number)[]} | {any: Shape[]} | {list: Shape, most: number, least?: number} | {tuple: Shape[]}
 *   | {map: Shape, most: number})} Shape
 * @typedef {import("./scenes.js").Buffer} Buffer
 * @typedef {import("./scenes.js").Layout} Layout
 * @typedef {{told: string, large: boolean}} Wrong where and why, and whether it is beyond a bound and of its type otherwise
 */

const DEEPEST = 64; // lists in lists: ours are a dozen deep
const LONGEST_KEY = 256;
/** @type {Record<string, number>} */
const WIDTHS = { u1: 1, u2: 2, u4: 4, u8: 8, i4: 4, i8: 8, f4: 4, f8: 8 };
/** The fields of each type of record, and whether one may be missing. */
const FIELDS = Object.fromEntries(Object.entries(SHAPES.types).map(([type, fields]) => [
  type, Object.entries(fields).map(([key, inner]) => ({ name: key.replace("?", ""), may: key.endsWith("?"), inner })),
]));
const KINDS_OF_RECORDS = new Set(Object.values(SHAPES.kinds));

/**
 * Where the value is not of the shape, or beyond a bound; null where it is sound.
 * @param {unknown} value
 * @param {Shape} shape
 * @param {string} at
 * @returns {Wrong | null}
 */
export const wrongOf = (value, shape = "scene", at = "scene") => new Check().wrong(value, shape, at, 0);

/** @param {string} told @returns {Wrong} */
const odd = (told) => ({ told, large: false });

/** @param {string} told @returns {Wrong} */
const large = (told) => ({ told, large: true });

/** @param {number} count */
const told = (count) => count.toLocaleString("en-US", { maximumSignificantDigits: 6 });

/** One scene with what it has in all. */
class Check {
  /** How much of it there is so far, by the names of `SHAPES.most`. @type {Record<string, number>} */
  has = { values: 0, letters: 0, code: 0, painted: 0, numbers: 0, points: 0, scenes: 0 };

  /**
   * @param {string} what
   * @param {number} count more of it
   * @returns {Wrong | null}
   */
  more(what, count) {
    this.has[what] += count;
    return this.has[what] > SHAPES.most[what] ? large(tr("the picture has more than {most} {things}", { most: told(SHAPES.most[what]), things: thingsOf(what) })) : null;
  }

  /**
   * @param {unknown} value
   * @param {Shape} shape
   * @param {string} at
   * @param {number} deep
   * @returns {Wrong | null}
   */
  wrong(value, shape, at, deep) {
    if (deep > DEEPEST) return large(tr("{place} is too deep", { place: at }));
    if (typeof shape === "string") return this.plain(value, shape, at, deep);
    if ("whole" in shape) return this.number(value, shape.whole, at, Number.isInteger(value), true);
    if ("number" in shape) return this.number(value, shape.number, at, Number.isFinite(value), false);
    if ("text" in shape) {
      if (typeof value !== "string") return odd(tr("{place} is not text", { place: at }));
      return within(value.length, shape.text, at, "letters") ?? this.more(shape.rows ? "code" : "letters", value.length) ?? this.more("values", 1);
    }
    if ("bytes" in shape) return this.bytes(value, shape, at);
    if ("is" in shape) return shape.is.includes(/** @type {string} */ (value)) ? null : odd(tr("{place} is not one of {values}", { place: at, values: shape.is.join(",") }));
    if ("any" in shape) return this.any(value, shape.any, at, deep);
    if ("of" in shape) return isRecord(value) ? this.record(value, shape, at, deep) : odd(tr("{place} is not {type}", { place: at, type: shape.of }));
    if ("map" in shape) return isRecord(value) ? this.map(value, shape, at, deep) : odd(tr("{place} is not a map", { place: at }));
    if (!Array.isArray(value)) return odd(tr("{place} is not a list", { place: at }));
    const items = /** @type {unknown[]} */ (value);
    if ("list" in shape) return this.list(items, shape, at, deep);
    if (items.length !== shape.tuple.length) return odd(tr("{place} does not have {count} values", { place: at, count: shape.tuple.length }));
    return first(items, (item, k) => this.wrong(item, shape.tuple[k], `${at}.${k}`, deep + 1));
  }

  /** @param {unknown} value @param {string} shape @param {string} at @param {number} deep @returns {Wrong | null} */
  plain(value, shape, at, deep) {
    if (shape === "boolean") return typeof value === "boolean" ? this.more("values", 1) : odd(tr("{place} is not a boolean", { place: at }));
    if (shape === "null") return value === null ? null : odd(tr("{place} is not null", { place: at }));
    const kind = isRecord(value) && typeof value.kind === "string" ? value.kind : "";
    if (!Object.hasOwn(SHAPES.kinds, kind)) return odd(tr("the kind of {place} is not known", { place: at }));
    return this.more("scenes", 1) ?? this.wrong(value, { of: SHAPES.kinds[kind] }, at, deep + 1);
  }

  /** @param {unknown} value @param {number[]} ends @param {string} at @param {boolean} is @param {boolean} whole @returns {Wrong | null} */
  number(value, [low, high], at, is, whole) {
    if (typeof value !== "number" || !is) return odd(whole ? tr("{place} is not a whole number", { place: at }) : tr("{place} is not a number", { place: at }));
    return value < low || value > high ? large(tr("{place} is {value}, but must be from {low} to {high}", { place: at, value: told(value), low: told(low), high: told(high) })) : this.more("values", 1);
  }

  /** @param {unknown} value @param {Further & {bytes: number}} shape @param {string} at @returns {Wrong | null} */
  bytes(value, shape, at) {
    if (!(value instanceof Uint8Array || value instanceof DataView)) return odd(tr("{place} is not bytes", { place: at }));
    return within(value.byteLength, shape.bytes, at, "bytes") ?? this.more("values", 1);
  }

  /** Of several wrongs, one that says which bound was passed. @param {unknown} value @param {Shape[]} shapes @param {string} at @param {number} deep */
  any(value, shapes, at, deep) {
    /** @type {Wrong | null} */
    let found = null;
    for (const shape of shapes) {
      const wrong = this.wrong(value, shape, at, deep + 1);
      if (wrong === null) return null;
      if (!found || (wrong.large && !found.large)) found = wrong;
    }
    return found;
  }

  /** @param {Record<string, unknown>} value @param {Further & {of: string}} shape @param {string} at @param {number} deep @returns {Wrong | null} */
  record(value, shape, at, deep) {
    const fields = FIELDS[shape.of];
    const has = (/** @type {string} */ name) => Object.hasOwn(value, name);
    const wrong = first(fields, ({ name, may, inner }) =>
      may && !has(name) ? null : this.wrong(has(name) ? value[name] : undefined, inner, `${at}.${name}`, deep + 1));
    if (wrong) return wrong;
    if (shape.of === "Buffer") return this.buffer(/** @type {Buffer} */ (/** @type {unknown} */ (value)), shape, at);
    return first(fields, ({ name, inner }) => (typeof inner === "string" || !has(name) ? null : this.among(value, name, inner, at)));
  }

  /** Numbers are whole numbers of their type. @param {Buffer} buffer @param {Further} shape @param {string} at @returns {Wrong | null} */
  buffer({ type, bytes }, shape, at) {
    const count = bytes.byteLength / WIDTHS[type];
    if (!Number.isInteger(count)) return odd(tr("{place} ends within a number", { place: at }));
    const wrong = this.more("numbers", count);
    return wrong || shape.numbers === undefined ? wrong : within(count, shape.numbers, at, "numbers") ?? this.more("points", count);
  }

  /** What a field is together with the others of its record. @param {Record<string, unknown>} value @param {string} name @param {Further} shape @param {string} at @returns {Wrong | null} */
  among(value, name, shape, at) {
    if (shape.times && shape.area !== undefined) {
      const product = shape.times.reduce((all, other) => all * Number(value[other]), Number(value[name]));
      if (product > shape.area) return large(tr("{place}: {product} is {count}, but at most {most} is allowed", { place: at, product: [...shape.times, name].join(" × "), count: told(product), most: told(shape.area) }));
    }
    const buffer = (/** @type {string} */ one) => numbers(/** @type {Buffer} */ (value[one]));
    if (shape.runs && !ascends(buffer(name), buffer(shape.runs).length)) return odd(tr("{place} does not increase to the end of {runs}", { place: `${at}.${name}`, runs: shape.runs }));
    if (!shape.canvas) return null;
    const { width, height } = frameOf(/** @type {Layout} */ (value.layout), /** @type {[number, number]} */ (value[name]));
    const painted = width * height;
    return within(Math.max(width, height), SHAPES.most.side, at, "side")
      ?? within(painted, SHAPES.most.pixels, at, "pixels") ?? this.more("painted", painted);
  }

  /** @param {unknown[]} items @param {Further & {list: Shape, most: number, least?: number}} shape @param {string} at @param {number} deep @returns {Wrong | null} */
  list(items, shape, at, deep) {
    const { least = 0, most, product, field } = shape;
    if (items.length < least) return odd(tr("{place} has fewer than {least} items", { place: at, least }));
    const wrong = within(items.length, most, at, "items") ?? this.more("values", 1)
      ?? first(items, (item, k) => this.wrong(item, shape.list, `${at}.${k}`, deep + 1));
    if (wrong || product === undefined) return wrong;
    const all = items.reduce((/** @type {number} */ so, item) => so * Number(field ? /** @type {Record<string, unknown>} */ (item)[field] : item), 1);
    return all > product ? large(tr("{place} holds {count} in total, but at most {most} are allowed", { place: at, count: told(all), most: told(product) })) : null;
  }

  /** Scenes in a map are drawn one at a time, each with what is around it. @param {Record<string, unknown>} value @param {{map: Shape, most: number}} shape @param {string} at @param {number} deep @returns {Wrong | null} */
  map(value, shape, at, deep) {
    const entries = Object.entries(value);
    const scenes = shape.map === "scene" || (typeof shape.map === "object" && "of" in shape.map && KINDS_OF_RECORDS.has(shape.map.of));
    return within(entries.length, shape.most, at, "entries") ?? first(entries, ([key, item]) => {
      if (key.length > LONGEST_KEY) return large(tr("{place} has a key of {count} letters", { place: at, count: told(key.length) }));
      const check = scenes ? this.copy() : this;
      return check.more("values", 1) ?? check.wrong(item, shape.map, `${at}.${key}`, deep + 1);
    });
  }

  copy() {
    const check = new Check();
    check.has = { ...this.has };
    return check;
  }
}

/** @param {number} count @param {number} most @param {string} at @param {string} what "side" for the longer side in pixels @returns {Wrong | null} */
function within(count, most, at, what) {
  if (count <= most) return null;
  const values = { place: at, count: told(count), things: thingsOf(what), most: told(most) };
  return large(what === "side"
    ? tr("{place} is {count} pixels wide or high, but at most {most} are allowed", values)
    : tr("{place} has {count} {things}, but at most {most} are allowed", values));
}

/** Things that are counted, in the language of the page. @param {string} what */
function thingsOf(what) {
  const words = {
    letters: tr("letters"), bytes: tr("bytes"), numbers: tr("numbers"), pixels: tr("pixels"), items: tr("items"), entries: tr("entries"),
    values: tr("values"), code: tr("letters of code"), painted: tr("painted pixels"), points: tr("points"), scenes: tr("scenes"),
  };
  return Object.hasOwn(words, what) ? words[/** @type {keyof typeof words} */ (what)] : what;
}

/** Whether runs begin one after the other, and none beyond the end. @param {import("./drawing/data.js").Numbers} starts @param {number} end */
function ascends(starts, end) {
  let before = 0;
  for (const start of starts) {
    if (!(start >= before && start <= end)) return false;
    before = start;
  }
  return true;
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && !ArrayBuffer.isView(value);

/**
 * The first that is wrong.
 * @template One
 * @param {One[]} items
 * @param {(item: One, k: number) => Wrong | null} wrong
 */
function first(items, wrong) {
  for (const [k, item] of items.entries()) {
    const found = wrong(item, k);
    if (found !== null) return found;
  }
  return null;
}
