/**
 * The parts of the extension around the cell: switch, launches, help, welcome. This file only wires.
 */

import { ILabShell, ILayoutRestorer } from '@jupyterlab/application';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import { EditorExtensionRegistry, IEditorExtensionRegistry } from '@jupyterlab/codemirror';
import { ILauncher } from '@jupyterlab/launcher';
import { ILSPCodeExtractorsManager } from '@jupyterlab/lsp';
import { INotebookTracker } from '@jupyterlab/notebook';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { LabIcon } from '@jupyterlab/ui-components';
import { Token } from '@lumino/coreutils';
import type { Widget } from '@lumino/widgets';

import { isCodeCell } from './cell.ts';
import { Current } from './desk/current.ts';
import { CHOOSE, COMPARE, COPY_HTML, INSERT_TEMPLATE, OPEN_CARD, OPEN_COURSE, PIN, RUN_ON, SHOW_LAUNCHES } from './ids.ts';
import { extractor } from './help/extractor.ts';
import { hover } from './help/hover.ts';
import { mistakeMarks } from './help/marks.ts';
import { keepMistakes } from './help/mistakes.ts';
import { placeFactory } from './help/place.ts';
import { ILanguage, language, translated } from './language.ts';
import { askCondition } from './breakpoints/condition.ts';
import { breakpoints } from './breakpoints/breakpoints.ts';
import { proofs } from './proofs/proofs.ts';
import { addSessionCommands } from './session/commands.ts';
import { SessionPanel } from './session/panel.ts';
import { openChooser } from './switch/chooser.ts';
import { RUNS, addSwitchCommands } from './switch/commands.ts';
import { chooseButton } from './switch/inline.ts';
import { TargetButton } from './switch/toolbar.ts';
import { addCourse } from './welcome/course.ts';
import { TargetStatus } from './welcome/status.ts';
import { tr } from '../../triton_lab/views/front/localization.js';

/** As in `schema/lab.json`. */
const SETTINGS = 'triton-lab:lab';
const CATEGORY = 'Triton';

const ICurrent = new Token<Current>('triton-lab:ICurrent', "The notebook in front, and its kernel's desk.");

const icon = new LabIcon({
  name: 'triton-lab:icon',
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161">' +
    '<path d="M3 3h8v8H3zM13 3h8v8h-8zM3 13h8v8H3z"/><path d="M13 13h8v8h-8zm2 2v4h4v-4z" fill-rule="evenodd"/></g></svg>'
});

const current: JupyterFrontEndPlugin<Current> = {
  id: SETTINGS,
  description: 'Asks the kernel of the current notebook for its launches and targets.',
  autoStart: true,
  requires: [INotebookTracker, ILanguage],
  optional: [ISettingRegistry],
  provides: ICurrent,
  activate: (_: JupyterFrontEnd, tracker: INotebookTracker, _language: string, registry: ISettingRegistry | null) => {
    const made = new Current(tracker);
    void registry?.load(SETTINGS).then(settings => {
      Object.assign(settings.schema, translated(settings.schema));
      const update = () => {
        const first = settings.get('first').composite;
        made.first = typeof first === 'string' ? first : '';
      };
      settings.changed.connect(update);
      update();
    });
    return made;
  }
};

const targets: JupyterFrontEndPlugin<void> = {
  id: 'triton-lab:targets',
  description: 'Chooses where %%triton cells run.',
  autoStart: true,
  requires: [ICurrent, IEditorExtensionRegistry, ILanguage],
  optional: [IToolbarWidgetRegistry, ICommandPalette],
  activate: (
    { commands }: JupyterFrontEnd,
    front: Current,
    editors: IEditorExtensionRegistry,
    _language: string,
    toolbars: IToolbarWidgetRegistry | null,
    palette: ICommandPalette | null
  ) => {
    addSwitchCommands(commands, front);
    const open = (button: HTMLElement) => openChooser(commands, front.desk?.targets ?? null, button);
    editors.addExtension({
      name: 'triton-lab:targets',
      factory: ({ model }) =>
        isCodeCell(model) ? EditorExtensionRegistry.createImmutableExtension(chooseButton(open)) : null
    });
    toolbars?.addFactory<NotebookPanel>('Notebook', 'triton-target', panel => new TargetButton(panel, open));
    for (const target of RUNS) {
      palette?.addItem({ command: RUN_ON, args: { target }, category: CATEGORY });
    }
    for (const name of ['elementwise', 'rows', 'matmul']) {
      palette?.addItem({ command: INSERT_TEMPLATE, args: { name }, category: CATEGORY });
    }
    palette?.addItem({ command: CHOOSE, category: CATEGORY });
  }
};

const session: JupyterFrontEndPlugin<void> = {
  id: 'triton-lab:session',
  description: "Lists the session's launches and opens their cards beside the notebook.",
  autoStart: true,
  requires: [ICurrent, IRenderMimeRegistry, ILanguage],
  optional: [ILabShell, ILayoutRestorer, ICommandPalette],
  activate: (
    { commands, shell }: JupyterFrontEnd,
    front: Current,
    rendermime: IRenderMimeRegistry,
    _language: string,
    lab: ILabShell | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null
  ) => {
    const panel = new SessionPanel(front, commands);
    panel.title.icon = icon;
    panel.title.caption = tr('Launches of this session');
    shell.add(panel, 'right', { rank: 600, type: 'Triton' });
    restorer?.add(panel, panel.id);
    let before: Widget | null = null;
    addSessionCommands(
      commands,
      front,
      rendermime,
      (widget, ref) => {
        // Notebook 7 shows one notebook a page, and has room beside it alone.
        if (lab) {
          const beside = before?.isAttached ? ({ mode: 'tab-after', ref: before.id } as const) : null;
          shell.add(widget, 'main', beside ?? { mode: 'split-right', ref });
          before = widget;
        } else {
          widget.title.icon = icon;
          shell.add(widget, 'right', { rank: 610 });
          shell.activateById(widget.id);
        }
      },
      () => shell.activateById(panel.id)
    );
    for (const command of [SHOW_LAUNCHES, OPEN_CARD, PIN, COMPARE, COPY_HTML]) {
      palette?.addItem({ command, category: CATEGORY });
    }
  }
};

const welcome: JupyterFrontEndPlugin<void> = {
  id: 'triton-lab:welcome',
  description: 'Opens the course.',
  autoStart: true,
  requires: [ILanguage],
  optional: [ILauncher, ICommandPalette],
  activate: ({ commands }: JupyterFrontEnd, _language: string, launcher: ILauncher | null, palette: ICommandPalette | null) => {
    addCourse(commands, icon);
    launcher?.add({ command: OPEN_COURSE, args: { launcher: true }, category: CATEGORY, rank: 1 });
    palette?.addItem({ command: OPEN_COURSE, category: CATEGORY });
  }
};

const status: JupyterFrontEndPlugin<void> = {
  id: 'triton-lab:status',
  description: 'Shows target, version and GPU in the status bar.',
  autoStart: true,
  requires: [ICurrent, ILanguage],
  optional: [IStatusBar],
  activate: (_: JupyterFrontEnd, front: Current, _language: string, bar: IStatusBar | null) => {
    const item = bar && new TargetStatus(front);
    if (item) {
      bar.registerStatusItem('triton-lab:status', {
        item,
        align: 'left',
        rank: 20,
        isActive: () => item.isTold,
        activeStateChanged: item.told
      });
    }
  }
};

const help: JupyterFrontEndPlugin<void> = {
  id: 'triton-lab:help',
  description: "Explains names of Triton's language, and marks lines that do not compile and what is proved of accesses.",
  autoStart: true,
  requires: [INotebookTracker, IEditorExtensionRegistry, IRenderMimeRegistry],
  optional: [ILSPCodeExtractorsManager],
  activate: (
    { docRegistry }: JupyterFrontEnd,
    tracker: INotebookTracker,
    editors: IEditorExtensionRegistry,
    rendermime: IRenderMimeRegistry,
    servers: ILSPCodeExtractorsManager | null
  ) => {
    const kernelOf = (node: Node) =>
      tracker.find(panel => panel.node.contains(node))?.sessionContext.session?.kernel ?? null;
    editors.addExtension({
      name: 'triton-lab:help',
      factory: ({ model }) =>
        isCodeCell(model)
          ? EditorExtensionRegistry.createImmutableExtension([
              hover(kernelOf),
              mistakeMarks(model),
              proofs(model, kernelOf),
              breakpoints(model, kernelOf, askCondition)
            ])
          : null
    });
    rendermime.addFactory(placeFactory(tracker), -100);
    docRegistry.addWidgetExtension('Notebook', {
      createNew: panel => {
        const { model } = (panel as NotebookPanel).content;
        if (model) {
          keepMistakes(model.cells);
        }
      }
    });
    servers?.register(extractor, 'python');
  }
};

export const plugins = [language, current, targets, session, help, welcome, status];
