/** Bulk data as it comes from Python: bytes and the name of their type. */

/** @typedef {{type: string, bytes: DataView | Uint8Array}} Packed */
/** @typedef {Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array} Numbers */

const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };

/**
 * The numbers as a typed array, without a copy where alignment allows.
 * @param {Packed} packed
 * @returns {Numbers}
 */
export function numbers(packed) {
  const Type = ARRAYS[/** @type {keyof typeof ARRAYS} */ (packed.type)];
  const { byteOffset, byteLength } = packed.bytes;
  const buffer = /** @type {ArrayBuffer} */ (packed.bytes.buffer);
  const size = Type.BYTES_PER_ELEMENT;
  if (byteOffset % size === 0) return new Type(buffer, byteOffset, byteLength / size);
  return new Type(buffer.slice(byteOffset, byteOffset + byteLength));
}
