/**
 * The CodeMirror extension of a `%%triton` cell that has run: a gutter with what each line of the kernel did, and
 * findings under the lines they are of, each with its remedy.
 */

import { lintKeymap, linter } from '@codemirror/lint';
import type { Action, Diagnostic } from '@codemirror/lint';
import { Compartment, EditorState, MapMode, RangeSet, StateEffect, StateField } from '@codemirror/state';
import type { ChangeDesc, ChangeSet, Extension, Text } from '@codemirror/state';
import { EditorView, GutterMarker, ViewPlugin, gutter, keymap } from '@codemirror/view';

import type { FindingNote, LineNote, NotedSource } from '../../triton_lab/views/front/scenes.d.ts';
import type { CellNotes } from './annotations.ts';
import { placed } from './linktext.ts';
import { magicLine } from './magic.ts';
import { tr } from '../../triton_lab/views/front/localization.js';

export const edited = () => tr('The cell was edited after its run. Run it again.');
const MOST_NAME = 72;

interface IAt<Told> {
  /** Where the text of the line begins. */
  readonly at: number;
  readonly told: Told;
}

/** A finding, and where each line is that its fix changes: null for one that is gone. */
interface IFound {
  readonly finding: FindingNote;
  readonly edits: readonly (number | null)[];
}

/** What is told of a text: `base` is the text of which all of it is still true, null where nobody has it. */
interface ITold {
  readonly sources: readonly NotedSource[];
  readonly notes: readonly IAt<LineNote>[];
  readonly findings: readonly IAt<IFound>[];
  readonly base: Text | null;
  readonly aged: boolean;
}

const NOTHING: ITold = { sources: [], notes: [], findings: [], base: null, aged: false };

export const setSources = StateEffect.define<readonly NotedSource[]>();

/** Put notes beside the lines of a text, which may have been edited since they were true. */
export function toldOf(sources: readonly NotedSource[], doc: Text): ITold {
  const text = [...doc.iterLines()];
  const notes = new Map<number, IAt<LineNote>>();
  const findings: IAt<IFound>[] = [];
  let same = true;
  for (const source of sources) {
    const now = placed(source, text);
    same &&= now.same;
    const find = (line: number) => {
      const number = now.numbers[line - source.first] ?? null;
      return number === null ? null : startOf(doc, number);
    };
    for (const note of source.notes) {
      const at = find(note.line);
      if (at !== null) {
        notes.set(at, { at, told: note });
      }
    }
    for (const finding of source.findings) {
      const at = find(finding.line);
      if (at !== null) {
        findings.push({ at, told: { finding, edits: finding.fix.map(([line]) => find(line)) } });
      }
    }
  }
  const inOrder = [...notes.values()].sort((a, b) => a.at - b.at);
  return { sources, notes: inOrder, findings, base: same ? doc : null, aged: !same };
}

function startOf(doc: Text, number: number): number {
  const { from, text } = doc.line(number);
  return from + (text.length - text.trimStart().length);
}

/** The same after an edit: notes go with their lines, and are old until the text is again what it was. */
export function mapped(told: ITold, changes: ChangeDesc, doc: Text): ITold {
  if (told.base?.eq(doc)) {
    return told.aged ? toldOf(told.sources, doc) : told;
  }
  const moved = (at: number | null) => (at === null ? null : changes.mapPos(at, 1, MapMode.TrackDel));
  const notes = told.notes.flatMap(one => {
    const at = moved(one.at);
    return at === null ? [] : [{ ...one, at }];
  });
  const findings = told.findings.flatMap(({ at: before, told: { finding, edits } }) => {
    const at = moved(before);
    return at === null ? [] : [{ at, told: { finding, edits: edits.map(moved) } }];
  });
  return { ...told, notes, findings, aged: true };
}

export const toldField = StateField.define<ITold>({
  create: () => NOTHING,
  update: (told, transaction) => {
    const sources = transaction.effects.findLast(effect => effect.is(setSources))?.value as ITold['sources'] | undefined;
    if (sources) {
      return sources.length ? toldOf(sources, transaction.newDoc) : NOTHING;
    }
    return transaction.docChanged && told !== NOTHING ? mapped(told, transaction.changes, transaction.newDoc) : told;
  }
});

/** The worst first, as in a card: told apart by shape and not by colour alone. */
const ICONS = { error: '✖', warning: '▲', note: '●' } as const;

/** What stands beside one line. */
class Beside extends GutterMarker {
  readonly note: LineNote | null;
  readonly finding: FindingNote | null;
  readonly aged: boolean;

  constructor(note: LineNote | null, finding: FindingNote | null, aged: boolean) {
    super();
    this.note = note;
    this.finding = finding;
    this.aged = aged;
  }

  override eq(other: Beside): boolean {
    return other.note === this.note && other.finding === this.finding && other.aged === this.aged;
  }

  override toDOM(): HTMLElement {
    const { note, finding } = this;
    const node = document.createElement('div');
    node.className = 'triton-lab-note-of-line';
    const icon = node.appendChild(document.createElement('span'));
    icon.textContent = finding ? ICONS[finding.severity] : '';
    icon.dataset['severity'] = finding?.severity ?? '';
    node.append(note?.text ?? '');
    node.title = [finding?.message, note?.told, this.aged ? edited() : ''].filter(Boolean).join('\n');
    node.style.setProperty('--share', `${Math.min(100, Math.max(0, (note?.share ?? 0) * 100))}%`);
    return node;
  }
}

/** As cards have them. */
export function worstFirst(findings: readonly FindingNote[]): FindingNote[] {
  const order = Object.keys(ICONS);
  return [...findings].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
}

/** What is told of lines, as a gutter wants it: by their starts. */
function markersOf(state: EditorState): RangeSet<GutterMarker> {
  const { notes, findings, aged } = state.field(toldField);
  const lines = new Map<number, { note: LineNote | null; findings: FindingNote[] }>();
  const at = (place: number) => {
    const { from } = state.doc.lineAt(place);
    const line = lines.get(from) ?? { note: null, findings: [] };
    lines.set(from, line);
    return line;
  };
  notes.forEach(one => (at(one.at).note = one.told));
  findings.forEach(one => at(one.at).findings.push(one.told.finding));
  return RangeSet.of(
    [...lines].map(([from, { note, findings }]) => new Beside(note, worstFirst(findings)[0] ?? null, aged).range(from)),
    true
  );
}

/** What the gutter shows. */
export const markers = StateField.define<RangeSet<GutterMarker>>({
  create: markersOf,
  update(before, { startState, state, changes }) {
    const [old, now] = [startState.field(toldField, false), state.field(toldField)];
    if (old === now) {
      return before;
    }
    // Typing within a line, which is most of it, moves what stands beside lines and changes none.
    const same = old?.sources === now.sources && old.aged === now.aged && old.notes.length === now.notes.length;
    return same && withinLines(changes, startState.doc) ? before.map(changes) : markersOf(state);
  }
});

/** Whether no line comes or goes. */
function withinLines(changes: ChangeSet, before: Text): boolean {
  let within = true;
  changes.iterChanges((from, to, _from, _to, inserted) => {
    within &&= inserted.lines === 1 && to <= before.lineAt(from).to;
  });
  return within;
}

const SEVERITIES = { error: 'error', warning: 'warning', note: 'info' } as const;

/**
 * A finding and its remedy, which is no action of CodeMirror's: that would be a button in the panel too, where findings
 * are a list's options, and those may hold no controls. There the remedy stands in words, and `applyFix` does it.
 */
interface IFixable extends Diagnostic {
  readonly fix: Action | null;
  /** The message where somebody points at the finding: with a button. */
  readonly renderPointed: (view: EditorView) => HTMLElement;
}

/** Findings as a linter wants them. */
export function diagnosticsOf(state: EditorState): IFixable[] {
  const { findings, aged } = state.field(toldField);
  return findings.map(({ at, told: { finding, edits } }) => {
    const line = state.doc.lineAt(at);
    const to = Math.max(at, line.from + line.text.trimEnd().length);
    const fix = fixOf(state, finding, edits);
    return {
      from: at,
      to,
      severity: SEVERITIES[finding.severity],
      markClass: 'triton-lab-finding',
      message: [finding.message, finding.hint].join('\n'),
      renderMessage: () => messageOf(finding, aged, fix?.name ?? ''),
      renderPointed: view => messageOf(finding, aged, fix ? buttonOf(fix, view, at, to) : ''),
      fix
    };
  });
}

/** Findings as a tooltip wants them. */
export function pointedAt(found: readonly Diagnostic[]): Diagnostic[] {
  return found.map(one => ('renderPointed' in one ? { ...one, renderMessage: (one as IFixable).renderPointed } : one));
}

function buttonOf({ name, apply }: Action, view: EditorView, from: number, to: number): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'cm-diagnosticAction';
  button.textContent = name;
  button.onclick = () => apply(view, from, to);
  return button;
}

function messageOf({ message, hint }: FindingNote, aged: boolean, fix: HTMLElement | string): HTMLElement {
  const node = document.createElement('div');
  node.className = 'triton-lab-finding-message';
  for (const [words, kind] of [[message, 'what'], [hint, 'hint'], [fix, 'fix'], [aged ? edited() : '', 'aged']] as const) {
    if (words) {
      const part = node.appendChild(document.createElement('div'));
      part.dataset['part'] = kind;
      part.append(words);
    }
  }
  return node;
}

/** The remedy as an edit, where every line that it changes still says what it said. */
function fixOf(state: EditorState, finding: FindingNote, edits: readonly (number | null)[]): Action | null {
  const { fix } = finding;
  const changes = changesOf(state, fix, edits);
  if (changes === null) {
    return null;
  }
  const written = fix.map(([, , after]) => after.trim()).join(' ⏎ ');
  return {
    name: tr('Fix: {code}', { code: written.length > MOST_NAME ? `${written.slice(0, MOST_NAME - 1)}…` : written }),
    apply: view => {
      // Edits may have come between.
      const now = view.state.field(toldField, false)?.findings.find(one => one.told.finding === finding)?.told.edits;
      const still = now && changesOf(view.state, finding.fix, now);
      if (still) {
        view.dispatch({ changes: still, userEvent: 'input.fix', scrollIntoView: true });
        view.focus();
      }
    }
  };
}

function changesOf(state: EditorState, fix: FindingNote['fix'], edits: readonly (number | null)[]) {
  const changes = [];
  for (const [k, [, before, after]] of fix.entries()) {
    const at = edits[k] ?? null;
    const line = at === null || at > state.doc.length ? null : state.doc.lineAt(at);
    if (line?.text !== before || after.includes('\n')) {
      return null;
    }
    changes.push({ from: line.from, to: line.to, insert: after });
  }
  return changes.length ? changes : null;
}

/** Do what mends the first finding of the caret's line, as far as anything does. */
export function applyFix(view: EditorView): boolean {
  const { state } = view;
  const here = state.doc.lineAt(state.selection.main.head);
  const ours = state.field(toldField, false) ? diagnosticsOf(state) : [];
  const action = ours.find(({ from, fix }) => from >= here.from && from <= here.to && fix)?.fix;
  action?.apply(view, here.from, here.to);
  return Boolean(action);
}

const PARTS: Extension = [
  markers,
  gutter({ class: 'triton-lab-gutter', markers: view => view.state.field(markers) }),
  linter(view => diagnosticsOf(view.state), {
    delay: 100,
    tooltipFilter: pointedAt,
    needsRefresh: ({ startState, state }) => startState.field(toldField).findings !== state.field(toldField).findings
  }),
  keymap.of(lintKeymap),
  EditorView.editorAttributes.compute([toldField], state => ({
    class: state.field(toldField).aged ? 'triton-lab-aged' : ''
  }))
];

/** Empty, but for a cell of ours of which something is told: a gutter takes room even where it is empty. */
const parts = new Compartment();

const comeAndGo = EditorState.transactionExtender.of(({ startState, newDoc, effects, docChanged }) => {
  const sources = effects.findLast(effect => effect.is(setSources))?.value as ITold['sources'] | undefined;
  if (!sources && !docChanged) {
    return null;
  }
  const shown = parts.get(startState) === PARTS;
  const some = (sources ?? startState.field(toldField).sources).length > 0;
  const wanted = some && magicLine(newDoc.iterLines()) !== null;
  return wanted === shown ? null : { effects: parts.reconfigure(wanted ? PARTS : []) };
});

/** The annotations of one cell's editor. */
export function annotations(notes: CellNotes): Extension {
  return [
    toldField,
    parts.of([]),
    comeAndGo,
    ViewPlugin.define(view => {
      let there = true;
      const tell = () => there && view.dispatch({ effects: setSources.of(notes.sources) });
      if (notes.sources.length) {
        queueMicrotask(tell); // a view that is being made takes no transaction
      }
      const leave = notes.subscribe(tell);
      return {
        destroy() {
          there = false;
          leave();
        }
      };
    })
  ];
}
