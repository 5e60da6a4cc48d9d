/** Scenes as text: base64 of gzip of JSON, in which bytes are base64 once more. See `packing.py`. */

const MOST_CARRIED = 1 << 30; // bytes: such a page is our own

/**
 * The scene that an element of a page carries as its text.
 * @param {Element | null} carrier
 * @returns {Promise<import("./scenes.js").Scene>}
 */
export async function carriedBy(carrier) {
  return /** @type {import("./scenes.js").Scene} */ (decoded(await unzipped(carrier?.textContent ?? "", MOST_CARRIED)));
}

/**
 * What was packed; bytes are still `{base64: text}`. Rejects what is not such a text, or is larger than it may be.
 * @param {string} text
 * @param {number} most bytes of JSON
 * @returns {Promise<unknown>}
 */
export async function unzipped(text, most) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const reader = stream.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let json = "";
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    if (size > most) {
      await reader.cancel();
      throw new RangeError(`it is larger than ${most} bytes`);
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
export async function zipped(value) {
  const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("gzip"));
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

/** @param {string} text in base64 */
const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** @param {Uint8Array} bytes */
function textOf(bytes) {
  let letters = "";
  // As many arguments as any browser takes.
  for (let start = 0; start < bytes.length; start += 8192) letters += String.fromCharCode(...bytes.subarray(start, start + 8192));
  return btoa(letters);
}
