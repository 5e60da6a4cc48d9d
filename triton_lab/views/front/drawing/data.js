/** Bulk data as it comes from Python: bytes and the name of their type. */

/** @typedef {import("../scenes.js").Buffer} Packed */
/** @typedef {Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array} Numbers */

const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
const WIDE = { u8: BigUint64Array, i8: BigInt64Array };

/**
 * The numbers as a typed array, without a copy where alignment allows.
 * @param {Packed} packed
 * @returns {Numbers}
 */
export function numbers({ type, bytes }) {
  const Type = type === "u8" || type === "i8" ? WIDE[type] : ARRAYS[type];
  const { byteOffset, byteLength } = bytes;
  const buffer = /** @type {ArrayBuffer} */ (bytes.buffer);
  const size = Type.BYTES_PER_ELEMENT;
  const array = byteOffset % size === 0
    ? new Type(buffer, byteOffset, byteLength / size)
    : new Type(buffer.slice(byteOffset, byteOffset + byteLength));
  return array instanceof BigUint64Array || array instanceof BigInt64Array ? Float64Array.from(array, Number) : array;
}

/** Numbers as bulk data, as Python would send them. @param {Uint32Array | Int32Array | Float32Array} array @returns {Packed} */
export function packedNumbers(array) {
  const type = array instanceof Uint32Array ? "u4" : array instanceof Int32Array ? "i4" : "f4";
  return { type, bytes: new Uint8Array(array.buffer, array.byteOffset, array.byteLength) };
}
