/**
 * When a cell's proofs are asked for: once typing rests, from a kernel that is idle, one question at a time. What is
 * not proved by then is tried by small launches if the text rests longer.
 */

import type { CellProofs, ProofMark } from '../../../triton_lab/views/front/scenes.d.ts';

export const TYPING = 400; // ms without a key before the first question
export const RESTING = 1600; // ms more before launches are tried
const BUSY = 1000; // ms until a kernel that is at work is looked at again

/** An editor and its kernel, as far as asking needs them. */
export interface IAsked {
  /** The text; null where the cell is none of ours. */
  text(): string | null;
  isIdle(): boolean;
  ask(question: string): Promise<CellProofs>;
  show(marks: readonly ProofMark[]): void;
}

/** The part of the desk that a text is asked by. */
export function questionOf(source: string, refute: boolean): string {
  return `proofs ${JSON.stringify({ source, refute })}`;
}

export class Asking {
  readonly #asked: IAsked;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isOut = false;
  #isOver = false;

  constructor(asked: IAsked) {
    this.#asked = asked;
  }

  /** The text has changed, or the kernel knows more: whatever is on its way is too old. */
  later(wait = TYPING): void {
    this.#start(wait, false);
  }

  stop(): void {
    this.#isOver = true;
    this.#clear();
  }

  #start(wait: number, refute: boolean): void {
    this.#clear();
    if (!this.#isOver) {
      this.#timer = setTimeout(() => void this.#ask(refute), wait);
    }
  }

  #clear(): void {
    if (this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#timer = null;
    }
  }

  async #ask(refute: boolean): Promise<void> {
    this.#timer = null;
    const text = this.#asked.text();
    if (text === null) {
      this.#asked.show([]);
      return;
    }
    if (this.#isOut || !this.#asked.isIdle()) {
      this.#start(BUSY, refute);
      return;
    }
    this.#isOut = true;
    const answer = await this.#asked.ask(questionOf(text, refute)).catch(() => null);
    this.#isOut = false;
    // Typing went on meanwhile: its own question is to come.
    if (this.#isOver || answer === null || this.#asked.text() !== text) {
      return;
    }
    this.#asked.show(answer.marks);
    if (!refute && this.#timer === null && answer.marks.some(({ outcome }) => outcome === 'unknown')) {
      this.#start(RESTING, true);
    }
  }
}
