/**
 * Wires editors and cards: what stands beside a kernel's lines, and what lights up with what.
 */

import { JupyterFrontEnd } from '@jupyterlab/application';
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { EditorExtensionRegistry, IEditorExtensionRegistry } from '@jupyterlab/codemirror';
import { closeLintPanel, nextDiagnostic, openLintPanel } from '@codemirror/lint';
import type { EditorView } from '@codemirror/view';
import { IDocumentManager } from '@jupyterlab/docmanager';
import type { NotebookPanel } from '@jupyterlab/notebook';

import { annotations, applyFix } from './annotate.ts';
import { keepNotes, notesOf } from './annotations.ts';
import { isCodeCell } from './cell.ts';
import { ILanguage } from './language.ts';
import { editorView, linkNotebook, linksIn, linksOf, show } from './linked.ts';
import type { LinkedNotebook } from './linked.ts';
import { linkEditor } from './linkeditor.ts';
import { filesOf } from './linkfile.ts';
import { readLine, reading } from './read.ts';
import { tr } from '../../triton_lab/views/front/localization.js';

const CATEGORY = 'Triton';

export const lineNotes: JupyterFrontEndPlugin<void> = {
  id: 'triton-lab:line-notes',
  description: 'Shows the work of each line of a %%triton cell, and its findings, beside the line.',
  autoStart: true,
  requires: [IEditorExtensionRegistry],
  activate: ({ docRegistry }: JupyterFrontEnd, editors: IEditorExtensionRegistry) => {
    editors.addExtension({
      name: 'triton-lab:line-notes',
      factory: ({ model }) =>
        isCodeCell(model) ? EditorExtensionRegistry.createImmutableExtension([annotations(notesOf(model)), reading]) : null
    });
    docRegistry.addWidgetExtension('Notebook', {
      createNew: panel => {
        const { model } = (panel as NotebookPanel).content;
        if (model) {
          keepNotes(model.cells);
        }
      }
    });
  }
};

export const links: JupyterFrontEndPlugin<void> = {
  id: 'triton-lab:links',
  description: 'Links the lines of a kernel in an editor with the pictures of its launches.',
  autoStart: true,
  requires: [IEditorExtensionRegistry, IDocumentManager, JupyterFrontEnd.IPaths, ILanguage],
  optional: [ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    editors: IEditorExtensionRegistry,
    documents: IDocumentManager,
    paths: JupyterFrontEnd.IPaths,
    _language: string,
    palette: ICommandPalette | null
  ) => {
    const ofEditor = linkEditor({
      point: (view, line) => linksOf(view).forEach(each => each.point(view, line)),
      value: (view, line, name) => first(linksOf(view), each => each.value(view, line, name))
    });
    editors.addExtension({
      name: 'triton-lab:links',
      factory: () => EditorExtensionRegistry.createImmutableExtension(ofEditor)
    });
    const files = filesOf(app.shell, documents, paths.directories.serverRoot);
    app.docRegistry.addWidgetExtension('Notebook', {
      createNew: panel => void linkNotebook(panel as NotebookPanel, files)
    });
    addCommands(app, palette);
  }
};

/** What the pointer does, for the keyboard. */
function addCommands({ commands, shell }: JupyterFrontEnd, palette: ICommandPalette | null): void {
  const notebook = () => shell.currentWidget as NotebookPanel | null;
  const here = () => linksIn(notebook() ?? undefined);
  const editor = () => editorView(notebook()?.content?.activeCell?.editor);
  const add = (name: string, label: () => string, caption: () => string, run: (view: EditorView, links: LinkedNotebook) => unknown) => {
    const command = `triton-lab:${name}`;
    commands.addCommand(command, {
      label,
      caption,
      isEnabled: () => here() !== undefined,
      execute: () => {
        const [view, links] = [editor(), here()];
        return view && links ? void run(view, links) : undefined;
      }
    });
    palette?.addItem({ command, category: CATEGORY });
  };
  add('list-findings', () => tr('List the Findings of the Cell'), () => tr('The findings in the kernels of the cell, below it'), view =>
    view.dom.querySelector('.cm-panel-lint') ? closeLintPanel(view) : openLintPanel(view)
  );
  add('next-finding', () => tr('Go to the Next Finding'), () => tr('Put the caret at the next line with a finding'), view => {
    view.focus();
    nextDiagnostic(view);
  });
  add('read-line', () => tr('Read the Note Beside the Line at the Caret'), () => tr('What the line did, and its findings'), readLine);
  add('apply-fix', () => tr('Apply the Fix of the Finding at the Caret'), () => tr('Edit the lines as the finding says'), view => applyFix(view));
  add('show-line', () => tr('Show What the Line at the Caret Accesses'), () => tr('Pick the line in the cards of the kernel'), (view, links) =>
    links.pick(view, view.state.doc.lineAt(view.state.selection.main.head).number)
  );
  add('go-to-line', () => tr('Go to the Line Picked in the Card'), () => tr('Put the caret at the line that is picked in a card'), (_, links) => {
    const picked = links.picked();
    if (picked) {
      show(picked.view, picked.line);
      picked.view.focus();
    }
  });
}

function first<One, Found>(all: readonly One[], find: (one: One) => Found | null): Found | null {
  for (const one of all) {
    const found = find(one);
    if (found !== null) {
      return found;
    }
  }
  return null;
}
