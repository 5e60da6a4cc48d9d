/**
 * The status bar tells where Triton runs: target, version, GPU.
 */

import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { Current } from '../desk/current.ts';
import { statusOf } from './targets.ts';

export class TargetStatus extends Widget {
  readonly #current: Current;
  readonly told = new Signal<this, void>(this);

  constructor(current: Current) {
    super();
    this.#current = current;
    this.addClass('triton-lab-status');
    current.changed.connect(() => this.#update());
    this.#update();
  }

  get isTold(): boolean {
    return this.#current.desk?.targets != null;
  }

  #update(): void {
    const targets = this.#current.desk?.targets;
    if (targets) {
      const { text, title } = statusOf(targets);
      this.node.textContent = text;
      this.node.title = title;
    }
    this.told.emit();
  }
}
