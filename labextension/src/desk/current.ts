/**
 * The notebook in front, and the desk of its kernel.
 */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import type { ISignal } from '@lumino/signaling';

import { hasTriton } from '../notebook.ts';
import { deskOf } from './desk.ts';
import type { Desk } from './desk.ts';

export class Current {
  readonly #changed = new Signal<this, void>(this);
  readonly #followed = new WeakSet<object>();
  readonly #desks = new WeakSet<Desk>();
  #first = '';

  readonly tracker: INotebookTracker;

  constructor(tracker: INotebookTracker) {
    this.tracker = tracker;
    tracker.currentChanged.connect(() => this.#update());
    tracker.activeCellChanged.connect(() => this.#changed.emit());
    this.#update();
  }

  /** The notebook, its kernel, what the kernel tells, or the active cell is another now. */
  get changed(): ISignal<this, void> {
    return this.#changed;
  }

  get panel(): NotebookPanel | null {
    return this.tracker.currentWidget;
  }

  /** The desk of the notebook in front; null where it has no cell of ours, or no kernel. */
  get desk(): Desk | null {
    return this.panel && this.deskOf(this.panel);
  }

  deskOf(panel: NotebookPanel): Desk | null {
    const kernel = panel.sessionContext?.session?.kernel;
    return kernel && panel.context.isReady && hasTriton(panel.context) ? deskOf(kernel) : null;
  }

  /** The desk of any notebook's kernel, whatever is in its cells: somebody wants it now. */
  anyDesk(panel: NotebookPanel): Desk | null {
    const kernel = panel.sessionContext?.session?.kernel;
    return kernel ? deskOf(kernel) : null;
  }

  /** What cards open with. */
  set first(view: string) {
    this.#first = view;
    this.#update();
  }

  /** Cells have changed: the notebook may be one of ours now. */
  refresh(): void {
    this.#update();
  }

  #update(): void {
    const { panel } = this;
    if (panel && !this.#followed.has(panel)) {
      this.#followed.add(panel);
      panel.sessionContext.statusChanged.connect((_, status) => {
        if (status === 'idle' || status === 'dead') {
          this.#update();
        }
      });
      panel.sessionContext.kernelChanged.connect(() => this.#update());
      void panel.context.ready.then(() => this.#update());
    }
    const { desk } = this;
    if (desk) {
      if (!this.#desks.has(desk)) {
        this.#desks.add(desk);
        desk.changed.connect(() => this.#changed.emit());
      }
      desk.begin(this.#first);
    }
    this.#changed.emit();
  }
}
