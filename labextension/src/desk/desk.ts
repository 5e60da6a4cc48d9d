/**
 * A kernel's desk, where it is asked for what is not in a picture: its session's launches, and where cells can run.
 *
 * As `views/extension_queries.py` has it: a question is the name of a part, and so is its answer, which may also come unasked.
 */

import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import type { ISignal } from '@lumino/signaling';

import type { SessionLaunches, SessionTargets, WordsScene } from '../../../triton_lab/views/front/scenes.d.ts';
import { lineTo } from '../kernel.ts';
import type { Answer, Line } from '../kernel.ts';
import { NEW } from '../notebook.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

/** As in `desk.py`. */
export const DESK = 'triton-lab.desk';

export const noDesk = () => tr('There is no triton-lab in this kernel, or the kernel is gone.');

/** The kernel says, in words for the reader, why it does not give what was asked for. */
export class Refused extends Error {}

interface IWaiting {
  readonly resolve: (scene: never) => void;
  readonly reject: (error: Refused) => void;
}

export class Desk {
  readonly #line: Line;
  readonly #waiting = new Map<string, IWaiting[]>();
  readonly #changed = new Signal<this, void>(this);
  #begun = false;
  /** What is told to a kernel before all else. */
  #first: string | null = null;

  /** The session's launches; null where nobody tells. */
  launches: SessionLaunches | null = null;
  targets: SessionTargets | null = null;

  constructor(kernel: Line) {
    this.#line = kernel;
    this.#line.listen(DESK, answer => this.#heard(answer));
  }

  /** Launches or targets are others now. */
  get changed(): ISignal<this, void> {
    return this.#changed;
  }

  /** Ask for what is told unasked from then on, once in the life of a kernel. `first` is what its cards open with. */
  begin(first: string): void {
    if (!this.#begun || (this.#first ?? '') !== first) {
      if (first || this.#first) {
        this.#send(`first ${first}`);
      }
      this.#first = first;
    }
    if (!this.#begun) {
      this.#begun = true;
      this.#send('targets');
      this.#send('launches');
    }
  }

  /** The kernel has started anew and knows nothing. */
  forget(): void {
    this.#begun = false;
    this.#first = null;
    this.#lost();
  }

  /** A part of the desk. Rejects with `Refused`. */
  ask<T>(part: string): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = this.#waiting.get(part) ?? [];
      waiting.push({ resolve, reject });
      this.#waiting.set(part, waiting);
      this.#send(part);
    });
  }

  #send(part: string): void {
    if (!this.#line.send({ view: DESK, part })) {
      this.#lost();
    }
  }

  #heard(answer: Answer | null): void {
    if (answer === null) {
      this.#lost();
      return;
    }
    const { part } = answer;
    const refused = wordsOf(answer.scene);
    if (refused === null && part === 'targets') {
      this.targets = answer.scene as SessionTargets;
      this.#changed.emit();
    } else if (refused === null && (part === 'launches' || part.startsWith('pin '))) {
      this.launches = answer.scene as SessionLaunches;
      this.#changed.emit();
    }
    const waiting = this.#waiting.get(part) ?? [];
    this.#waiting.delete(part);
    for (const { resolve, reject } of waiting) {
      if (refused === null) {
        resolve(answer.scene as never);
      } else {
        reject(new Refused(refused));
      }
    }
  }

  #lost(): void {
    this.launches = this.targets = null;
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    waiting.forEach(({ reject }) => reject(new Refused(noDesk())));
    this.#changed.emit();
  }
}

function wordsOf(scene: unknown): string | null {
  const words = scene as Partial<WordsScene> | null;
  return words?.kind === 'words' ? (words.text ?? '') : null;
}

type KernelConnection = Parameters<typeof lineTo>[0] & Pick<Kernel.IKernelConnection, 'statusChanged'>;
const desks = new WeakMap<object, Desk>();

/** The one desk of a kernel. */
export function deskOf(kernel: KernelConnection): Desk {
  let desk = desks.get(kernel);
  if (!desk) {
    const made = (desk = new Desk(lineTo(kernel)));
    desks.set(kernel, made);
    kernel.statusChanged.connect((_, status) => {
      if (NEW.has(status)) {
        made.forget();
      }
    });
  }
  return desk;
}
