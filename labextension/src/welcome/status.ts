/**
 * The status bar tells where Triton runs: target, version, GPU.
 */

import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { SessionTargets } from '../../../triton_lab/views/front/scenes.d.ts';
import type { Current } from '../desk/current.ts';

/** What is told of a kernel's targets, short and in full. */
export function statusOf({ known, active, gpu, triton, version }: SessionTargets): { text: string; title: string } {
  const full = `triton-lab ${version}, Triton ${triton}`;
  if (!known) {
    return { text: `Triton ${triton}`, title: `${full}: where kernels run is known once Triton is imported` };
  }
  const where = active.toUpperCase();
  return {
    text: `Triton ${triton} · ${where}${gpu ? ` · ${gpu}` : ' · no GPU'}`,
    title: `${full}: kernels run on the ${where}; ${gpu ? `GPU: ${gpu}` : 'there is no GPU that Triton can use'}`
  };
}

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
