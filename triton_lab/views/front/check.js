/** Holds what somebody else saved against what a scene is made of, and its bounds, before anything is drawn of it. */

import { numbers } from "./drawing/data.js";
import { frameOf } from "./drawing/frame.js";
import { SHAPES } from "./shapes.js";

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
    return this.has[what] > SHAPES.most[what] ? large(`the picture has more than ${told(SHAPES.most[what])} ${what}`) : null;
  }

  /**
   * @param {unknown} value
   * @param {Shape} shape
   * @param {string} at
   * @param {number} deep
   * @returns {Wrong | null}
   */
  wrong(value, shape, at, deep) {
    if (deep > DEEPEST) return large(`${at} is too deep`);
    if (typeof shape === "string") return this.plain(value, shape, at, deep);
    if ("whole" in shape) return this.number(value, shape.whole, at, Number.isInteger(value), "whole number");
    if ("number" in shape) return this.number(value, shape.number, at, Number.isFinite(value), "number");
    if ("text" in shape) {
      if (typeof value !== "string") return odd(`${at} is not text`);
      return within(value.length, shape.text, `${at} has`, "letters") ?? this.more(shape.rows ? "code" : "letters", value.length) ?? this.more("values", 1);
    }
    if ("bytes" in shape) return this.bytes(value, shape, at);
    if ("is" in shape) return shape.is.includes(/** @type {string} */ (value)) ? null : odd(`${at} is none of ${shape.is}`);
    if ("any" in shape) return this.any(value, shape.any, at, deep);
    if ("of" in shape) return isRecord(value) ? this.record(value, shape, at, deep) : odd(`${at} is not ${shape.of}`);
    if ("map" in shape) return isRecord(value) ? this.map(value, shape, at, deep) : odd(`${at} is not a map`);
    if (!Array.isArray(value)) return odd(`${at} is not a list`);
    const items = /** @type {unknown[]} */ (value);
    if ("list" in shape) return this.list(items, shape, at, deep);
    if (items.length !== shape.tuple.length) return odd(`${at} does not have ${shape.tuple.length} values`);
    return first(items, (item, k) => this.wrong(item, shape.tuple[k], `${at}.${k}`, deep + 1));
  }

  /** @param {unknown} value @param {string} shape @param {string} at @param {number} deep @returns {Wrong | null} */
  plain(value, shape, at, deep) {
    if (shape === "boolean") return typeof value === "boolean" ? this.more("values", 1) : odd(`${at} is not a boolean`);
    if (shape === "null") return value === null ? null : odd(`${at} is not null`);
    const kind = isRecord(value) && typeof value.kind === "string" ? value.kind : "";
    if (!Object.hasOwn(SHAPES.kinds, kind)) return odd(`${at} is of no known kind`);
    return this.more("scenes", 1) ?? this.wrong(value, { of: SHAPES.kinds[kind] }, at, deep + 1);
  }

  /** @param {unknown} value @param {number[]} ends @param {string} at @param {boolean} is @param {string} what @returns {Wrong | null} */
  number(value, [low, high], at, is, what) {
    if (typeof value !== "number" || !is) return odd(`${at} is not a ${what}`);
    return value < low || value > high ? large(`${at} is ${told(value)}, but must be from ${told(low)} to ${told(high)}`) : this.more("values", 1);
  }

  /** @param {unknown} value @param {Further & {bytes: number}} shape @param {string} at @returns {Wrong | null} */
  bytes(value, shape, at) {
    if (!(value instanceof Uint8Array || value instanceof DataView)) return odd(`${at} is not bytes`);
    return within(value.byteLength, shape.bytes, `${at} has`, "bytes") ?? this.more("values", 1);
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
    if (!Number.isInteger(count)) return odd(`${at} ends within a number`);
    const wrong = this.more("numbers", count);
    return wrong || shape.numbers === undefined ? wrong : within(count, shape.numbers, `${at} has`, "numbers") ?? this.more("points", count);
  }

  /** What a field is together with the others of its record. @param {Record<string, unknown>} value @param {string} name @param {Further} shape @param {string} at @returns {Wrong | null} */
  among(value, name, shape, at) {
    if (shape.times && shape.area !== undefined) {
      const product = shape.times.reduce((all, other) => all * Number(value[other]), Number(value[name]));
      if (product > shape.area) return large(`${at}: ${[...shape.times, name].join(" times ")} is ${told(product)}, but at most ${told(shape.area)} is allowed`);
    }
    const buffer = (/** @type {string} */ one) => numbers(/** @type {Buffer} */ (value[one]));
    if (shape.runs && !ascends(buffer(name), buffer(shape.runs).length)) return odd(`${at}.${name} does not ascend to the end of ${shape.runs}`);
    if (!shape.canvas) return null;
    const { width, height } = frameOf(/** @type {Layout} */ (value.layout), /** @type {[number, number]} */ (value[name]));
    const painted = width * height;
    return within(Math.max(width, height), SHAPES.most.side, `${at} is wide or high`, "pixels")
      ?? within(painted, SHAPES.most.pixels, `${at} has`, "pixels") ?? this.more("painted", painted);
  }

  /** @param {unknown[]} items @param {Further & {list: Shape, most: number, least?: number}} shape @param {string} at @param {number} deep @returns {Wrong | null} */
  list(items, shape, at, deep) {
    const { least = 0, most, product, field } = shape;
    if (items.length < least) return odd(`${at} has fewer than ${least} items`);
    const wrong = within(items.length, most, `${at} has`, "items") ?? this.more("values", 1)
      ?? first(items, (item, k) => this.wrong(item, shape.list, `${at}.${k}`, deep + 1));
    if (wrong || product === undefined) return wrong;
    const all = items.reduce((/** @type {number} */ so, item) => so * Number(field ? /** @type {Record<string, unknown>} */ (item)[field] : item), 1);
    return all > product ? large(`${at} holds ${told(all)} in total, but at most ${told(product)} are allowed`) : null;
  }

  /** Scenes in a map are drawn one at a time, each with what is around it. @param {Record<string, unknown>} value @param {{map: Shape, most: number}} shape @param {string} at @param {number} deep @returns {Wrong | null} */
  map(value, shape, at, deep) {
    const entries = Object.entries(value);
    const scenes = shape.map === "scene" || (typeof shape.map === "object" && "of" in shape.map && KINDS_OF_RECORDS.has(shape.map.of));
    return within(entries.length, shape.most, `${at} has`, "entries") ?? first(entries, ([key, item]) => {
      if (key.length > LONGEST_KEY) return large(`${at} has a key of ${told(key.length)} letters`);
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

/** @param {number} count @param {number} most @param {string} lead @param {string} what @returns {Wrong | null} */
const within = (count, most, lead, what) => (count <= most ? null : large(`${lead} ${told(count)} ${what}, but at most ${told(most)} are allowed`));

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
