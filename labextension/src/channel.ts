/**
 * One picture's way to its kernel, as the views' scripts want it: a part is asked for and comes, or words that say why
 * it does not.
 */

import type { Answer as PartAnswer, Picked, Question, Scene } from '../../triton_lab/views/front/scenes.d.ts';
import { unpacked } from '../../triton_lab/views/front/supply.js';
import type { Channel, Heard } from '../../triton_lab/views/front/supply.js';
import { WHOLE } from './kernel.ts';
import type { Answer, Line } from './kernel.ts';
import { tr } from '../../triton_lab/views/front/localization.js';

/** What stands where a picture would. */
export const unopened = () =>
  tr('Run the cell again to see this. It was not open when the notebook was saved, and the kernel that ran the cell is gone.');

/** What becomes of answers besides being drawn. */
export interface IKeeper {
  /** A part has come: it may be saved. */
  part(name: string, scene: Scene): void;
  /** Another whole picture has come, and with it the model of the widgets around it, if it has such. */
  whole(scene: Scene, panel: string | null): void;
  /** The kernel does not answer for the whole picture, or only says why it has none. */
  unanswered(why: string | null): void;
}

export class ViewChannel implements Channel {
  readonly #view: string;
  readonly #find: () => Promise<Line | null>;
  readonly #keeper: IKeeper;
  readonly #heard = new Set<Heard>();
  readonly #waiting = new Set<string>();
  #line: Line | null = null;
  #leave: () => void = () => undefined;

  constructor(view: string, find: () => Promise<Line | null>, keeper: IKeeper) {
    this.#view = view;
    this.#find = find;
    this.#keeper = keeper;
  }

  on(_: 'msg:custom', then: Heard): void {
    this.#heard.add(then);
  }

  off(_: 'msg:custom', then: Heard): void {
    this.#heard.delete(then);
  }

  send({ part }: Question): void {
    this.#waiting.add(part);
    void this.#ask(line => line.send({ view: this.#view, part }));
  }

  /** Ask for the whole picture. */
  whole(): void {
    this.send({ part: WHOLE });
  }

  /** Tell what is picked: the answer, if there is one, is another whole picture. */
  pick(picked: Picked): void {
    this.#waiting.add(WHOLE);
    void this.#ask(line => line.send({ view: this.#view, picked }));
  }

  /** Parts have come otherwise: who waits for one of them waits no longer. */
  came(find: (name: string) => Scene | null): void {
    for (const part of [...this.#waiting]) {
      const scene = find(part);
      if (scene) {
        this.#waiting.delete(part);
        this.#hear({ part, scene }, []);
      }
    }
  }

  stop(): void {
    this.#leave();
    this.#heard.clear();
    this.#waiting.clear();
  }

  async #ask(send: (line: Line) => boolean): Promise<void> {
    const line = await this.#find();
    if (line !== this.#line) {
      this.#leave();
      this.#line = line;
      this.#leave = line?.listen(this.#view, (answer, buffers) => this.#answered(answer, buffers)) ?? this.#leave;
    }
    if (!line || !send(line)) {
      this.#fail();
    }
  }

  #answered(answer: Answer | null, buffers: DataView[]): void {
    if (!answer) {
      this.#fail();
      return;
    }
    this.#waiting.delete(answer.part);
    const scene = unpacked(answer.scene, buffers) as Scene;
    if (answer.part === WHOLE) {
      // Words never take the place of a picture that is there.
      if (scene.kind === 'words') {
        this.#keeper.unanswered(scene.text);
      } else {
        this.#keeper.whole(scene, answer.panel);
      }
      return;
    }
    this.#hear({ part: answer.part, scene: answer.scene }, buffers);
    if (scene.kind !== 'words') {
      this.#keeper.part(answer.part, scene);
    }
  }

  #fail(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const part of waiting) {
      if (part === WHOLE) {
        this.#keeper.unanswered(null);
      } else {
        this.#hear({ part, scene: { kind: 'words', text: unopened() } }, []);
      }
    }
  }

  #hear(answer: PartAnswer, buffers: DataView[]): void {
    for (const then of [...this.#heard]) {
      then(answer, buffers);
    }
  }
}
