/**
 * Lines of a text that are followed while it is edited.
 */

import { MapMode } from '@codemirror/state';
import type { Transaction } from '@codemirror/state';

/**
 * Where a line is after an edit. If the edit puts its `text` elsewhere, as one that moves a line does, then it is there;
 * otherwise where its beginning went, and null if that was deleted.
 */
export function lineAfter(line: number, text: string, { changes, startState, state }: Transaction): number | null {
  const isThere = (at: number) => state.doc.line(at).text.trim() === text.trim();
  const place = changes.mapPos(startState.doc.line(line).from, 1, MapMode.TrackDel);
  const mapped = place === null ? null : state.doc.lineAt(place).number;
  let now = 0;
  if (text.trim() && !(mapped && isThere(mapped))) {
    changes.iterChangedRanges((_from, _to, first, last) => {
      for (let at = state.doc.lineAt(first).number; !now && at <= state.doc.lineAt(last).number; at++) {
        now = isThere(at) ? at : 0;
      }
    });
  }
  return now || mapped;
}
