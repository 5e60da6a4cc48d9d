/** Scenes as text: base64 of gzip of JSON, in which bytes are base64 once more. See `packing.py`. */

import { tr } from "./localization.js";

const MOST_CARRIED = 1 << 30; // bytes: such a page is our own
const MOST_ITEMS = 1 << 18; // lists, maps and what is in them: each takes many times the memory of its text
const DEEPEST_TEXT = 128; // brackets in brackets

/**
 * The scene that an element of a page carries as its text.
 * @param {Element | null} carrier
 * @returns {Promise<import("./scenes.js").Scene>}
 */
export async function carriedBy(carrier) {
  return /** @type {import("./scenes.js").Scene} */ (decoded(await unzipped(carrier?.textContent ?? "", MOST_CARRIED, Infinity)));
}

/**
 * What was packed; bytes are still `{base64: text}`. Rejects what is not such a text, and with a RangeError what is larger
 * than it may be: before it is parsed.
 * @param {string} text
 * @param {number} most bytes of JSON
 * @param {number} items that it may have
 * @returns {Promise<unknown>}
 */
export async function unzipped(text, most, items = MOST_ITEMS) {
  const stream = new DecompressionStream("gzip");
  feed(stream.writable.getWriter(), bytesOf(text), items === Infinity ? 1 << 16 : 1 << 10);
  const reader = /** @type {ReadableStream<Uint8Array>} */ (stream.readable).getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let json = "";
  const count = counterOf(items);
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    if (size > most) {
      await reader.cancel();
      throw new RangeError(tr("it is larger than {most} bytes", { most }));
    }
    if (!count(read.value)) {
      await reader.cancel();
      throw new RangeError(tr("it has more than {items} items, or is nested deeper than {depth}", { items, depth: DEEPEST_TEXT }));
    }
    json += decoder.decode(read.value, { stream: true });
  }
  return JSON.parse(json + decoder.decode());
}

/**
 * The text of what `unzipped` gives.
 * @param {unknown} value
 * @returns {Promise<string>}
 */
export const zipped = (value) => zippedText(JSON.stringify(value));

/**
 * The same of a text.
 * @param {string} json
 * @returns {Promise<string>}
 */
export async function zippedText(json) {
  const stream = new Blob([json]).stream().pipeThrough(new CompressionStream("gzip"));
  return textOf(new Uint8Array(await new Response(stream).arrayBuffer()));
}

/**
 * The value with `{base64: text}` replaced by the bytes.
 * @param {unknown} value
 * @returns {unknown}
 */
export function decoded(value) {
  if (Array.isArray(value)) return /** @type {unknown[]} */ (value).map(decoded);
  if (value === null || typeof value !== "object") return value;
  if ("base64" in value && typeof value.base64 === "string") return bytesOf(value.base64);
  const entries = Object.entries(/** @type {Record<string, unknown>} */ (value));
  return Object.fromEntries(entries.map(([key, item]) => [key, decoded(item)]));
}

/**
 * The value with bytes replaced by `{base64: text}`.
 * @param {unknown} value
 * @returns {unknown}
 */
export function encoded(value) {
  if (Array.isArray(value)) return /** @type {unknown[]} */ (value).map(encoded);
  if (value === null || typeof value !== "object") return value;
  if (ArrayBuffer.isView(value)) return { base64: textOf(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) };
  const entries = Object.entries(/** @type {Record<string, unknown>} */ (value));
  return Object.fromEntries(entries.map(([key, item]) => [key, encoded(item)]));
}

/**
 * Hand bytes over piece by piece: each may become a thousand times as large, and is there as a whole. What is wrong with
 * them is told to who reads.
 * @param {WritableStreamDefaultWriter<BufferSource>} writer
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {number} piece
 */
function feed(writer, bytes, piece) {
  const from = (/** @type {number} */ start) => {
    const next = start < bytes.length ? writer.write(bytes.subarray(start, start + piece)).then(() => from(start + piece)) : writer.close();
    next.catch(() => {});
  };
  from(0);
}

/**
 * Counts what JSON has outside its texts, piece by piece: false once there is too much.
 * @param {number} items
 * @returns {(bytes: Uint8Array) => boolean}
 */
function counterOf(items) {
  const [QUOTE, ESCAPE, COMMA, LIST, MAP, LIST_END, MAP_END] = [...'"\\,[{]}'].map((sign) => sign.charCodeAt(0));
  let [count, deep, quoted, escaped] = [0, 0, false, false];
  return (bytes) => {
    if (items === Infinity) return true;
    for (let k = 0; k < bytes.length; k++) {
      const byte = bytes[k];
      if (quoted) {
        if (escaped) escaped = false;
        else if (byte === ESCAPE) escaped = true;
        else if (byte === QUOTE) quoted = false;
      } else if (byte === QUOTE) quoted = true;
      else if (byte === COMMA) count++;
      else if (byte === LIST || byte === MAP) {
        count++;
        deep++;
      } else if (byte === LIST_END || byte === MAP_END) deep--;
      if (deep > DEEPEST_TEXT || count > items) return false;
    }
    return true;
  };
}

/** @param {string} text in base64 */
function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k);
  return bytes;
}

/** @param {Uint8Array} bytes */
function textOf(bytes) {
  let letters = "";
  // As many arguments as any browser takes.
  for (let start = 0; start < bytes.length; start += 8192) letters += String.fromCharCode(...bytes.subarray(start, start + 8192));
  return btoa(letters);
}
