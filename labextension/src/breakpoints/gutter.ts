/**
 * Breakpoints beside the lines of a `%%triton` cell: a click, or F9, sets and removes one; with Shift it gets a
 * condition. They move with their lines.
 */

import { RangeSet, StateEffect, StateField } from '@codemirror/state';
import type { EditorState, Extension, Transaction } from '@codemirror/state';
import { EditorView, GutterMarker, gutter, keymap } from '@codemirror/view';

import { tr } from '../../../triton_lab/views/front/localization.js';
import { lineAfter } from '../lines.ts';
import { magicLine } from '../magic.ts';

/** A breakpoint; `line` counts from 1, and a condition is "" or as the debugger reads it. */
export interface IBreakpoint {
  readonly line: number;
  readonly condition: string;
}

/** Put these breakpoints in place of all others. */
export const setBreakpoints = StateEffect.define<readonly IBreakpoint[]>();

class Dot extends GutterMarker {
  readonly condition: string;

  constructor(condition: string) {
    super();
    this.condition = condition;
  }

  override eq(other: Dot): boolean {
    return other.condition === this.condition;
  }

  override toDOM(): HTMLElement {
    const node = document.createElement('span');
    node.className = 'triton-lab-breakpoint';
    node.textContent = this.condition ? '◆' : '●';
    node.title = this.condition
      ? tr('Breakpoint, if {condition}', { condition: this.condition })
      : tr('Breakpoint. Shift-click for a condition.');
    node.setAttribute('role', 'img');
    node.setAttribute('aria-label', node.title);
    return node;
  }
}

function ranges(state: EditorState, breakpoints: readonly IBreakpoint[]): RangeSet<GutterMarker> {
  const found = new Map(breakpoints.map(one => [one.line, one]));
  const inside = [...found.values()].filter(({ line }) => line >= 1 && line <= state.doc.lines);
  return RangeSet.of(
    inside.map(({ line, condition }) => new Dot(condition).range(state.doc.line(line).from)),
    true
  );
}

const field = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(dots, transaction) {
    let now = dots;
    if (transaction.docChanged && dots.size) {
      now = ranges(transaction.state, moved(dots, transaction));
    }
    for (const effect of transaction.effects) {
      if (effect.is(setBreakpoints)) {
        now = ranges(transaction.state, effect.value);
      }
    }
    return now;
  }
});

/** The breakpoints after an edit. Two lines that become one keep one; one whose line is deleted is gone. */
function moved(dots: RangeSet<GutterMarker>, edit: Transaction): IBreakpoint[] {
  return listed(dots, edit.startState).flatMap(({ line, condition }) => {
    const now = lineAfter(line, edit.startState.doc.line(line).text, edit);
    return now === null ? [] : [{ line: now, condition }];
  });
}

function listed(dots: RangeSet<GutterMarker>, state: EditorState): IBreakpoint[] {
  const found: IBreakpoint[] = [];
  dots.between(0, state.doc.length, (from, _to, dot) => {
    if (dot instanceof Dot) {
      found.push({ line: state.doc.lineAt(from).number, condition: dot.condition });
    }
  });
  return found;
}

/** The breakpoints of a text, by line. */
export function breakpointsOf(state: EditorState): IBreakpoint[] {
  return listed(state.field(field), state);
}

/** The breakpoints with the one of a line set or removed; with a condition it is set in place of the one before. */
export function toggled(breakpoints: readonly IBreakpoint[], line: number, condition?: string): IBreakpoint[] {
  const others = breakpoints.filter(one => one.line !== line);
  const isSet = others.length < breakpoints.length;
  return isSet && condition === undefined ? others : [...others, { line, condition: condition ?? '' }];
}

/** Asks the user for a condition, which was `before`; null if there is to be no change. */
export type AskCondition = (before: string) => Promise<string | null>;

/** The gutter of one editor. */
export function breakpointGutter(ask: AskCondition): Extension {
  const toggle = (view: EditorView, from: number, isConditional: boolean) => {
    const { number: line } = view.state.doc.lineAt(from);
    if (!isConditional) {
      view.dispatch({ effects: setBreakpoints.of(toggled(breakpointsOf(view.state), line)) });
      return;
    }
    const before = breakpointsOf(view.state).find(one => one.line === line)?.condition ?? '';
    void ask(before).then(condition => {
      if (condition !== null) {
        view.dispatch({ effects: setBreakpoints.of(toggled(breakpointsOf(view.state), line, condition.trim())) });
      }
    });
  };
  const atCursor = (isConditional: boolean) => (view: EditorView) => {
    if (magicLine(view.state.doc.iterLines()) === null) {
      return false;
    }
    toggle(view, view.state.selection.main.head, isConditional);
    return true;
  };
  return [
    field,
    EditorView.editorAttributes.of(view => ({
      class: magicLine(view.state.doc.iterLines()) === null ? '' : 'triton-lab-breakable'
    })),
    keymap.of([{ key: 'F9', run: atCursor(false), shift: atCursor(true) }]),
    gutter({
      class: 'triton-lab-breakpoints',
      renderEmptyElements: true,
      markers: view => view.state.field(field),
      domEventHandlers: {
        mousedown: (view, block, event) => {
          toggle(view, block.from, (event as MouseEvent).shiftKey);
          event.preventDefault();
          return true;
        }
      }
    })
  ];
}
