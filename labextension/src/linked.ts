/**
 * The cards of one notebook and the editors that show their kernels' lines, told of each other: what is pointed at in
 * the one lights up in the other.
 */

import type { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { EditorView } from '@codemirror/view';
import type { NotebookPanel } from '@jupyterlab/notebook';

import { callProgram } from '../../triton_lab/views/front/drawing/words.js';
import type { Link, Linked } from '../../triton_lab/views/front/linked.js';
import type { AssignedTexts, CardScene, Scene, StepsScene } from '../../triton_lab/views/front/scenes.d.ts';
import type { Selection } from '../../triton_lab/views/front/selection.js';
import type { Supply } from '../../triton_lab/views/front/supply.js';
import { cellWith, codeCells } from './cells.ts';
import { light, valuesChanged } from './linkeditor.ts';
import { placed } from './linktext.ts';
import type { ISource } from './linktext.ts';
import { tr } from '../../triton_lab/views/front/localization.js';

/** Opens files for a card whose kernel is in none of the notebook's cells. */
export interface IFiles {
  /** Editors in which the file is open that the notebook `from` calls so. */
  editors(file: string, from: string): EditorView[];
  /** Open it, or say where it is. */
  open(file: string, line: number, from: string): Promise<EditorView | null>;
}

/** So long the picks of a program are let go by before its values are asked for, in ms. */
const CALM = 150;

/** One card, as an editor sees it. */
export class LinkedCard {
  readonly scene: CardScene;
  readonly selection: Selection;
  readonly source: ISource;
  pointed: readonly number[] = [];
  readonly #ask: Supply;
  readonly #known = new Map<number, readonly AssignedTexts[] | null>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(scene: CardScene, selection: Selection, ask: Supply) {
    this.scene = scene;
    this.selection = selection;
    this.source = { first: scene.source.first, lines: scene.source.lines.map(([text]) => text) };
    this.#ask = ask;
  }

  /** An editor's pointer is at a line of the source: as if it were at the same line in the card. */
  point(line: number | null): void {
    const does = line === null ? undefined : this.scene.source.lines[line - this.source.first];
    this.selection.set({ under: does ? line : null, pointed: does?.[1].length ? line : null });
  }

  /** What a variable held in the picked program, or the first, and in the picked iteration, or the last. */
  value(line: number, name: string): string | null {
    const { program, iteration } = this.selection.get();
    const values = this.#valuesOf(program ?? 0);
    return values && told(values, line, name, iteration ?? null, callProgram(program ?? 0, this.scene.grid));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Those of a program, null while nobody knows them. */
  #valuesOf(program: number): readonly AssignedTexts[] | null {
    const steps = this.scene.parts[`steps@${program}`];
    if (!this.#known.has(program) && steps?.kind === 'steps') {
      this.#known.set(program, assignedIn(steps));
    }
    if (!this.#known.has(program)) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#askFor(program), CALM);
    }
    return this.#known.get(program) ?? null;
  }

  #askFor(program: number): void {
    this.#known.set(program, null);
    this.#ask(`assigned@${program}`, (scene: Scene) => {
      if (scene.kind === 'assigned') {
        this.#known.set(program, scene.values);
        valuesChanged();
      }
    });
  }
}

/** What was assigned, as a program's steps tell it. */
export function assignedIn({ steps }: StepsScene): AssignedTexts[] {
  const found = new Map<string, AssignedTexts>();
  for (const { kind, line, name, value } of steps) {
    if (kind === 'assign' && line !== null && name !== null) {
      const key = `${line} ${name}`;
      const one = found.get(key) ?? { line, name, texts: [], last: '', count: 0 };
      found.set(key, one);
      one.texts.push(value);
      one.last = value;
      one.count += 1;
    }
  }
  return [...found.values()];
}

/** The value that is seen from a line: given there, else above it, else below, as a loop comes around. */
export function told(
  values: readonly AssignedTexts[], line: number, name: string, iteration: number | null, program: string
): string | null {
  const named = values.filter(one => one.name === name);
  const above = named.filter(one => one.line <= line).sort((a, b) => b.line - a.line);
  const below = named.filter(one => one.line > line).sort((a, b) => a.line - b.line);
  const one = above[0] ?? below[0];
  if (!one) {
    return null;
  }
  const several = one.count > 1;
  const which = several ? iteration ?? one.count - 1 : 0;
  const text = which === one.count - 1 ? one.last : one.texts[which];
  const place = [
    program,
    ...(several ? [tr('iteration {number} of {count}', { number: which, count: one.count })] : []),
    ...(one.line === line ? [] : [tr('line {number}', { number: one.line })])
  ].join(', ');
  return text === undefined ? null : `${name} = ${text}   ${place}`;
}

/** The cards and editors of a notebook as it is shown in one panel. */
export class LinkedNotebook {
  readonly panel: NotebookPanel;
  readonly #files: IFiles;
  readonly #cards = new Set<LinkedCard>();
  /** Where each card's lines were lit last. */
  readonly #lit = new Map<LinkedCard, readonly EditorView[]>();
  #last: LinkedCard | null = null;

  constructor(panel: NotebookPanel, files: IFiles) {
    this.panel = panel;
    this.#files = files;
  }

  /** A card is drawn. */
  readonly link: Link = (scene, selection, ask) => {
    const card = new LinkedCard(scene, selection, ask);
    this.#cards.add(card);
    const forget = selection.subscribe(() => {
      this.#last = card;
      this.#light(card);
      valuesChanged();
    });
    const linked: Linked = {
      point: lines => {
        if (lines.join() !== card.pointed.join()) {
          card.pointed = lines;
          this.#light(card);
        }
      },
      go: (line, opens = false) => void this.#go(card, line, opens),
      stop: () => {
        forget();
        card.stop();
        this.#cards.delete(card);
        this.#last = this.#last === card ? null : this.#last;
        this.#lit.get(card)?.forEach(view => light(view, { pointed: [], picked: null }));
        this.#lit.delete(card);
        valuesChanged();
      }
    };
    return linked;
  };

  /** An editor's pointer is at a line. */
  point(view: EditorView, line: number | null): void {
    for (const card of this.#cardsIn(view)) {
      card.point(line === null ? null : lineOfSource(card, view, line));
    }
  }

  /** What a variable holds, as the card tells that somebody was at last, else the last one. */
  value(view: EditorView, line: number, name: string): string | null {
    const cards = this.#cardsIn(view).filter(card => lineOfSource(card, view, line) !== null);
    const card = cards.find(one => one === this.#last) ?? cards.at(-1);
    return card?.value(lineOfSource(card, view, line)!, name) ?? null;
  }

  /** Pick the line, as a click on it in the card's own listing does; and no longer, where it is picked. */
  pick(view: EditorView, line: number): void {
    for (const card of this.#cardsIn(view)) {
      const own = lineOfSource(card, view, line);
      card.selection.set({ line: card.selection.get().line === own ? null : own, pointed: null });
    }
  }

  /** The line that is picked in the card that somebody was at last, or the first such: where it stands. */
  picked(): { view: EditorView; line: number } | null {
    for (const card of [...(this.#last ? [this.#last] : []), ...this.#cards]) {
      const { line = null } = card.selection.get();
      const [view] = this.#editorsOf(card);
      const number = view && line !== null ? lineOfText(card, view, line) : null;
      if (view && number !== null) {
        return { view, line: number };
      }
    }
    return null;
  }

  #cardsIn(view: EditorView): LinkedCard[] {
    return [...this.#cards].filter(card => this.#editorsOf(card).includes(view));
  }

  #indexOf(card: LinkedCard): number {
    const { place } = card.scene.source;
    const cells = codeCells(this.panel.content.model?.cells ?? []);
    const found = place?.cell == null ? undefined : cellWith(place.cell, card.source, cells);
    return found ? this.panel.content.widgets.findIndex(({ model }) => model === found) : -1;
  }

  #editorsOf(card: LinkedCard): EditorView[] {
    const { place } = card.scene.source;
    if (place?.cell == null) {
      return place?.path ? this.#files.editors(place.path, this.panel.context.path) : [];
    }
    const view = editorView(this.panel.content.widgets[this.#indexOf(card)]?.editor);
    return view ? [view] : [];
  }

  #light(card: LinkedCard): void {
    const { under = null, line = null } = card.selection.get();
    const pointed = under === null ? card.pointed : [under];
    const views = pointed.length || line !== null ? this.#editorsOf(card) : this.#lit.get(card) ?? [];
    for (const view of views) {
      const find = (one: number) => lineOfText(card, view, one);
      light(view, {
        pointed: pointed.map(find).filter(one => one !== null),
        picked: line === null ? null : find(line)
      });
    }
    this.#lit.set(card, views);
  }

  async #go(card: LinkedCard, line: number, opens: boolean): Promise<void> {
    const { place } = card.scene.source;
    if (place?.cell == null) {
      const from = this.panel.context.path;
      const open = place?.path ? this.#files.editors(place.path, from) : [];
      const view =
        open[0] && !opens ? open[0] : opens && place?.path ? await this.#files.open(place.path, line, from) : null;
      if (view) {
        show(view, lineOfText(card, view, line));
      }
      return;
    }
    const index = this.#indexOf(card);
    const cell = this.panel.content.widgets[index];
    if (cell && !cell.node.isConnected) {
      await this.panel.content.scrollToItem(index);
    }
    const view = editorView(cell?.editor);
    if (view) {
      show(view, lineOfText(card, view, line));
    }
  }
}

const notebooks = new WeakMap<object, LinkedNotebook>();
const views = new Set<LinkedNotebook>();

/** From now on the cards of a notebook and its editors are linked. */
export function linkNotebook(panel: NotebookPanel, files: IFiles): LinkedNotebook {
  const linked = new LinkedNotebook(panel, files);
  notebooks.set(panel, linked);
  views.add(linked);
  panel.disposed.connect(() => views.delete(linked));
  return linked;
}

/** The links of the notebook that is shown in a panel. */
export const linksIn = (panel: object | undefined) => panel && notebooks.get(panel);

/** Whoever may have cards for an editor: the notebook around it, else, for a file, all of them. */
export function linksOf(view: EditorView): LinkedNotebook[] {
  const around = [...views].find(({ panel }) => panel.node.contains(view.dom));
  return around ? [around] : [...views];
}

/** What CodeMirror shows of an editor of JupyterLab's, if it is one of CodeMirror's. */
export function editorView(editor: unknown): EditorView | null {
  return editor !== null && typeof editor === 'object' && 'editor' in editor
    ? (editor as CodeMirrorEditor).editor
    : null;
}

/** Put the caret at a line and have it in view; who is in a card stays there. */
export function show(view: EditorView, line: number | null): void {
  if (line !== null && line <= view.state.doc.lines) {
    const { from, text } = view.state.doc.line(line);
    const anchor = from + (text.length - text.trimStart().length);
    view.dispatch({ selection: { anchor }, scrollIntoView: true });
  }
}

const textOf = (view: EditorView) => [...view.state.doc.iterLines()];

function lineOfText(card: LinkedCard, view: EditorView, line: number): number | null {
  return placed(card.source, textOf(view)).numbers[line - card.source.first] ?? null;
}

function lineOfSource(card: LinkedCard, view: EditorView, line: number): number | null {
  const at = placed(card.source, textOf(view)).numbers.indexOf(line);
  return at < 0 ? null : card.source.first + at;
}
