/**
 * The CodeMirror extension of any editor that may show a kernel: lines light up with what is pointed at in a card,
 * pointing at a line is told, and the value of the variable at the caret stands at the end of its line.
 */

import { StateEffect, StateField } from '@codemirror/state';
import type { EditorState, Extension, Range } from '@codemirror/state';
import { Decoration, EditorView, ViewPlugin, WidgetType } from '@codemirror/view';
import type { DecorationSet, ViewUpdate } from '@codemirror/view';

/** Lines of a text, counted from 1: pointed at in a card, and picked there. */
export interface ILit {
  readonly pointed: readonly number[];
  readonly picked: number | null;
}

/** What an editor's lines are linked to. */
export interface ILinks {
  /** The pointer is at a line, or at none any more. */
  point(view: EditorView, line: number | null): void;
  /** What the variable by that name holds there, in words; null where nobody knows. */
  value(view: EditorView, line: number, name: string): string | null;
}

const setLit = StateEffect.define<ILit>();
const again = StateEffect.define<null>();

const LIT = Decoration.line({ class: 'triton-lab-lit' });
const PICKED = Decoration.line({ class: 'triton-lab-picked' });

const litField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(lit, { changes, docChanged, effects, newDoc }) {
    const set = effects.findLast(effect => effect.is(setLit))?.value as ILit | undefined;
    if (!set) {
      return docChanged ? lit.map(changes) : lit;
    }
    const there = (line: number) => line >= 1 && line <= newDoc.lines;
    const marks: Range<Decoration>[] = set.pointed.filter(there).map(line => LIT.range(newDoc.line(line).from));
    if (set.picked !== null && there(set.picked)) {
      marks.push(PICKED.range(newDoc.line(set.picked).from));
    }
    return Decoration.set(marks, true);
  },
  provide: field => EditorView.decorations.from(field)
});

/** Light these lines, and no others. */
export function light(view: EditorView, lit: ILit): void {
  if (lit.pointed.length || lit.picked !== null || view.state.field(litField, false)?.size) {
    view.dispatch({ effects: setLit.of(lit) });
  }
}

/** Where the caret is: its line, and the name there, if it is at one. */
export function nameAt(state: EditorState): { line: number; name: string } | null {
  const { head } = state.selection.main;
  const word = state.wordAt(head);
  const name = word === null ? '' : state.sliceDoc(word.from, word.to);
  return /^[A-Za-z_]\w*$/.test(name) ? { line: state.doc.lineAt(head).number, name } : null;
}

class Value extends WidgetType {
  readonly words: string;

  constructor(words: string) {
    super();
    this.words = words;
  }

  override eq(other: Value): boolean {
    return other.words === this.words;
  }

  toDOM(): HTMLElement {
    const node = document.createElement('span');
    node.className = 'triton-lab-value';
    node.textContent = this.words;
    return node;
  }
}

/** The editor in which a value stands: there is one caret. */
let shown: EditorView | null = null;

/** What stands in an editor may have changed: it is asked for again. */
export function valuesChanged(): void {
  shown?.dispatch({ effects: again.of(null) });
}

/** The links of one editor. */
export function linkEditor(links: ILinks): Extension {
  const values = ViewPlugin.fromClass(
    class {
      decorations: DecorationSet = Decoration.none;

      update({ view, state, docChanged, selectionSet, focusChanged, transactions }: ViewUpdate): void {
        const asked = transactions.some(({ effects }) => effects.some(effect => effect.is(again)));
        if (docChanged || (!asked && !(view.hasFocus && (selectionSet || focusChanged)))) {
          // What was true of the text before the edit is not told of the one after it.
          this.decorations = docChanged ? Decoration.none : this.decorations;
          return;
        }
        if (shown !== view && view.hasFocus) {
          const before = shown;
          shown = view;
          queueMicrotask(() => before?.dispatch({ effects: again.of(null) }));
        }
        const at = shown === view ? nameAt(state) : null;
        const words = at && links.value(view, at.line, at.name);
        this.decorations = words
          ? Decoration.set(Decoration.widget({ widget: new Value(words), side: 1 }).range(state.doc.line(at!.line).to))
          : Decoration.none;
      }

      destroy(): void {
        shown = shown === this.#view ? null : shown;
      }

      readonly #view: EditorView;

      constructor(view: EditorView) {
        this.#view = view;
      }
    },
    { decorations: plugin => plugin.decorations }
  );
  let under: { view: EditorView; line: number } | null = null;
  const point = (view: EditorView, line: number | null) => {
    if (line !== (under?.view === view ? under.line : null)) {
      under = line === null ? null : { view, line };
      links.point(view, line);
    }
  };
  const pointer = EditorView.domEventHandlers({
    mousemove(event, view) {
      const height = event.clientY - view.documentTop;
      const block = view.lineBlockAtHeight(height);
      point(view, height <= block.bottom ? view.state.doc.lineAt(block.from).number : null);
    },
    mouseleave: (_, view) => point(view, null)
  });
  return [litField, values, pointer];
}
