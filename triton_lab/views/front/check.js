/** Holds what somebody else saved against what a scene is made of, before anything is drawn of it. */

import { SHAPES } from "./shapes.js";

/**
 * A type as data: a plain one by name, "scene" for any scene, `of` a record by name, `is` one of these words.
 * @typedef {string | {of: string} | {is: string[]} | {any: Shape[]} | {list: Shape} | {tuple: Shape[]} | {map: Shape}} Shape
 */

const DEEPEST = 64; // scenes in scenes, lists in lists: ours are a dozen deep
/** @type {Record<string, number>} */
const WIDTHS = { u1: 1, u2: 2, u4: 4, u8: 8, i4: 4, i8: 8, f4: 4, f8: 8 };

/** @type {Record<string, (value: unknown) => boolean>} */
const PLAIN = {
  string: (value) => typeof value === "string",
  number: (value) => Number.isFinite(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  unknown: () => true,
  bytes: (value) => value instanceof Uint8Array || value instanceof DataView,
};

/**
 * Where the value is not of the shape; null where it is.
 * @param {unknown} value
 * @param {Shape} shape
 * @param {string} at
 * @param {number} deep
 * @returns {string | null}
 */
export function wrongOf(value, shape = "scene", at = "scene", deep = 0) {
  if (deep > DEEPEST) return `${at} is too deep`;
  /** @param {unknown} item @param {Shape} inner @param {string | number} key */
  const within = (item, inner, key) => wrongOf(item, inner, `${at}.${key}`, deep + 1);
  if (shape === "scene") {
    const kind = isRecord(value) && typeof value.kind === "string" ? value.kind : "";
    return Object.hasOwn(SHAPES.kinds, kind) ? wrongOf(value, { of: SHAPES.kinds[kind] }, at, deep + 1) : `${at} is of no known kind`;
  }
  if (typeof shape === "string") return PLAIN[shape](value) ? null : `${at} is no ${shape}`;
  if ("is" in shape) return shape.is.includes(/** @type {string} */ (value)) ? null : `${at} is none of ${shape.is}`;
  if ("any" in shape) {
    const wrongs = shape.any.map((one) => wrongOf(value, one, at, deep + 1));
    return wrongs.includes(null) ? null : wrongs[0];
  }
  if ("of" in shape) return isRecord(value) ? wrongRecord(value, shape.of, within) ?? wrongBytes(value, shape.of, at) : `${at} is no ${shape.of}`;
  if ("map" in shape) {
    return isRecord(value) ? first(Object.entries(value), ([key, item]) => within(item, shape.map, key)) : `${at} is no map`;
  }
  if (!Array.isArray(value)) return `${at} is no list`;
  const items = /** @type {unknown[]} */ (value);
  if ("list" in shape) return first(items, (item, k) => within(item, shape.list, k));
  return items.length === shape.tuple.length
    ? first(items, (item, k) => within(item, shape.tuple[k], k))
    : `${at} has not ${shape.tuple.length} values`;
}

/**
 * @param {Record<string, unknown>} value
 * @param {string} type
 * @param {(item: unknown, shape: Shape, key: string) => string | null} within
 */
const wrongRecord = (value, type, within) =>
  first(Object.entries(SHAPES.types[type]), ([key, shape]) => {
    const name = key.replace("?", "");
    return key !== name && !Object.hasOwn(value, name) ? null : within(Object.hasOwn(value, name) ? value[name] : undefined, shape, name);
  });

/** Numbers are whole numbers of their type. @param {Record<string, unknown>} value @param {string} type @param {string} at */
function wrongBytes({ type: of, bytes }, type, at) {
  if (type !== "Buffer") return null;
  const { byteLength } = /** @type {DataView} */ (bytes);
  return byteLength % WIDTHS[/** @type {string} */ (of)] ? `${at} ends within a number` : null;
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && !ArrayBuffer.isView(value);

/**
 * The first that is wrong.
 * @template One
 * @param {One[]} items
 * @param {(item: One, k: number) => string | null} wrong
 */
function first(items, wrong) {
  for (const [k, item] of items.entries()) {
    const found = wrong(item, k);
    if (found !== null) return found;
  }
  return null;
}
