/**
 * What is proved of a kernel's accesses, beside their lines: a tick, a question mark or a cross. Words follow under the
 * pointer. A line that is typed in loses its mark; the others go with their text until the kernel has answered again.
 */

import { RangeSet, StateEffect, StateField } from '@codemirror/state';
import type { EditorState, Extension, Range, Text, Transaction } from '@codemirror/state';
import { GutterMarker, gutter } from '@codemirror/view';

import type { ProofMark } from '../../../triton_lab/views/front/scenes.d.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

/** The marks of a text that is still the same. */
export const setProofs = StateEffect.define<readonly ProofMark[]>();

const SIGNS: Readonly<Record<string, string>> = { proved: '✓', unknown: '?', refuted: '✗' };
const labels = (): Readonly<Record<string, string>> => ({
  proved: tr('In bounds for every size'),
  unknown: tr('Not known for every size'),
  refuted: tr('Out of bounds')
});

class ProofSign extends GutterMarker {
  readonly mark: ProofMark;

  constructor(mark: ProofMark) {
    super();
    this.mark = mark;
  }

  override eq(other: ProofSign): boolean {
    return other.mark.outcome === this.mark.outcome && other.mark.message === this.mark.message;
  }

  override toDOM(): HTMLElement {
    const { outcome, message } = this.mark;
    const node = document.createElement('span');
    node.className = 'triton-lab-proof';
    node.dataset['outcome'] = outcome;
    node.textContent = SIGNS[outcome] ?? '?';
    node.title = `${labels()[outcome] ?? ''}\n${message}`;
    node.setAttribute('role', 'img');
    node.setAttribute('aria-label', node.title);
    return node;
  }
}

/** The marks whose lines a text still has, as they were when they were proved. */
export function placed(marks: readonly ProofMark[], doc: Text): { from: number; mark: ProofMark }[] {
  return marks
    .filter(({ line, text }) => line >= 1 && line <= doc.lines && doc.line(line).text === text)
    .map(mark => ({ from: doc.line(mark.line).from, mark }))
    .sort((one, other) => one.from - other.from);
}

/** The marks after a change of the text: those of changed lines are gone. */
function moved(signs: RangeSet<GutterMarker>, { changes, state, startState }: Transaction): RangeSet<GutterMarker> {
  const gone = new Set<number>();
  changes.iterChangedRanges((from, to) => {
    const last = startState.doc.lineAt(to).number;
    for (let line = startState.doc.lineAt(from).number; line <= last; line++) {
      gone.add(startState.doc.line(line).from);
    }
  });
  return signs
    .update({ filter: from => !gone.has(from) })
    .map(changes)
    .update({ filter: from => from <= state.doc.length });
}

const signsField = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(signs, transaction) {
    let now = transaction.docChanged && signs.size ? moved(signs, transaction) : signs;
    for (const effect of transaction.effects) {
      if (effect.is(setProofs)) {
        const ranges: Range<GutterMarker>[] = placed(effect.value, transaction.state.doc).map(({ from, mark }) =>
          new ProofSign(mark).range(from)
        );
        now = RangeSet.of(ranges);
      }
    }
    return now;
  }
});

/** Whether there are marks. */
export function hasProofs(state: EditorState): boolean {
  return state.field(signsField).size > 0;
}

/** The marks that there are: the start of each line, and its outcome. */
export function signsOf(state: EditorState): [number, string][] {
  const found: [number, string][] = [];
  state.field(signsField).between(0, state.doc.length, (from, _to, sign) => {
    if (sign instanceof ProofSign) {
      found.push([from, sign.mark.outcome]);
    }
  });
  return found;
}

/** The gutter of one editor: it has no width while it has no marks. */
export function proofGutter(): Extension {
  return [signsField, gutter({ class: 'triton-lab-proofs', markers: view => view.state.field(signsField) })];
}
