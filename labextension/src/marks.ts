/**
 * The CodeMirror extension of a `%%triton` cell: its magic line is marked and carries the badge.
 */

import { StateEffect, StateField } from '@codemirror/state';
import type { EditorState, Extension, Range } from '@codemirror/state';
import { Decoration, EditorView, ViewPlugin, WidgetType } from '@codemirror/view';
import type { DecorationSet } from '@codemirror/view';

import { magicLine } from './magic.ts';
import { badgeText } from './target.ts';
import type { Target } from './target.ts';

/** What the marks know of their cell. */
export interface ILastRun {
  /** Where the cell last ran; null where it has not, or where its outputs were cleared. */
  target(): Target | null;
  /** Call `listener` after each change; the returned function ends that. */
  subscribe(listener: () => void): () => void;
}

const setTarget = StateEffect.define<Target | null>();

const targetField = StateField.define<Target | null>({
  create: () => null,
  update: (value, transaction) =>
    transaction.effects.reduce((last, effect) => (effect.is(setTarget) ? effect.value : last), value)
});

class Badge extends WidgetType {
  readonly target: Target;

  constructor(target: Target) {
    super();
    this.target = target;
  }

  // Equal badges keep their node, so typing in the cell does not redraw it.
  override eq(other: Badge): boolean {
    return other.target === this.target;
  }

  toDOM(): HTMLElement {
    const { text, label } = badgeText(this.target);
    const node = document.createElement('span');
    node.className = 'triton-lab-badge';
    node.dataset['target'] = this.target;
    node.textContent = text;
    node.title = label;
    // An image, to a screen reader: it says the label in place of the letters.
    node.setAttribute('role', 'img');
    node.setAttribute('aria-label', label);
    return node;
  }
}

const MARKED_LINE = Decoration.line({ class: 'triton-lab-magic-line' });

/** The decorations of a state that holds the target field; none where the cell is not ours. */
function decorate(state: EditorState): DecorationSet {
  const number = magicLine(state.doc.iterLines());
  if (number === null) {
    return Decoration.none;
  }
  const line = state.doc.line(number);
  const ranges: Range<Decoration>[] = [MARKED_LINE.range(line.from)];
  const target = state.field(targetField);
  if (target !== null) {
    ranges.push(Decoration.widget({ widget: new Badge(target), side: 1 }).range(line.to));
  }
  return Decoration.set(ranges);
}

/** The marks of one cell's editor. */
export function marks(run: ILastRun): Extension {
  return [
    targetField.init(() => run.target()),
    EditorView.decorations.compute(['doc', targetField], decorate),
    ViewPlugin.define(view => ({
      destroy: run.subscribe(() => view.dispatch({ effects: setTarget.of(run.target()) }))
    }))
  ];
}
