/**
 * Where somebody was in the pictures below a cell: when the cell runs again, they open there.
 *
 * It is kept in memory by the cell's own model, so it ends with the notebook, and no other notebook has it.
 */

import type { Place } from '../../triton_lab/views/front/place.js';

const places = new WeakMap<object, Map<string, Place>>();

/**
 * The place of one of the pictures: of so many of ours below the cell it is that `number`, and `name` says what it is
 * of. Of a picture outside of cells nothing is kept.
 */
export function placeIn(cell: object | undefined, number: number, name: string): Place {
  if (cell === undefined) {
    return {};
  }
  const own = places.get(cell) ?? new Map<string, Place>();
  places.set(cell, own);
  const key = `${number} ${name}`;
  const place = own.get(key) ?? {};
  own.set(key, place);
  return place;
}
