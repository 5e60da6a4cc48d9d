/**
 * What stands beside a line of a cell, for the keyboard: told at the caret, and to whoever listens.
 */

import { StateEffect, StateField } from '@codemirror/state';
import type { EditorState, Extension } from '@codemirror/state';
import { EditorView, showTooltip } from '@codemirror/view';
import type { Tooltip } from '@codemirror/view';

import { edited, toldField, worstFirst } from './annotate.ts';
import { tr } from '../../triton_lab/views/front/localization.js';
import type { FindingNote } from '../../triton_lab/views/front/scenes.d.ts';

const severityWord = (severity: FindingNote['severity']) =>
  ({ error: tr('error'), warning: tr('warning'), note: tr('note') })[severity];

const setRead = StateEffect.define<Tooltip | null>();

/** Shown until the caret moves, the text changes or the editor is left. */
const read = StateField.define<Tooltip | null>({
  create: () => null,
  update: (before, { effects, docChanged, selection }) => {
    const set = effects.findLast(effect => effect.is(setRead));
    return set ? (set.value as Tooltip | null) : docChanged || selection ? null : before;
  },
  provide: field => showTooltip.from(field)
});

/** All that is told of the caret's line, the worst first. */
export function saidOfLine(state: EditorState): string[] {
  const told = state.field(toldField, false);
  const line = state.doc.lineAt(state.selection.main.head);
  const here = ({ at }: { readonly at: number }) => at >= line.from && at <= line.to;
  const findings = worstFirst((told?.findings ?? []).filter(here).map(one => one.told.finding));
  const said = [
    ...findings.flatMap(({ severity, message, hint }) => [`${severityWord(severity)}: ${message}`, hint]),
    ...(told?.notes ?? []).filter(here).map(one => one.told.told)
  ].filter(Boolean);
  return said.length ? [...said, ...(told?.aged ? [edited()] : [])] : [tr('Nothing is known about line {number}.', { number: line.number })];
}

/** Show what is told of the caret's line there, and announce it to readers of screens. */
export function readLine(view: EditorView): void {
  const said = saidOfLine(view.state);
  const tooltip: Tooltip = {
    pos: view.state.doc.lineAt(view.state.selection.main.head).from,
    above: false, // what is pointed at is told above
    create: () => {
      const dom = document.createElement('div');
      dom.className = 'triton-lab-read';
      dom.append(...said.map(words => Object.assign(document.createElement('div'), { textContent: words })));
      return { dom };
    }
  };
  view.focus();
  view.dispatch({ effects: [setRead.of(tooltip), EditorView.announce.of(said.join('\n'))] });
}

export const reading: Extension = [
  read,
  EditorView.focusChangeEffect.of((state, focusing) =>
    !focusing && state.field(read, false) ? setRead.of(null) : null
  )
];
