/**
 * What comes for a picture and is to be saved with it: one after the other, each on what the one before has made of it.
 */

export class Keeping {
  readonly #put: (scene: string) => void;
  #last = Promise.resolve();
  #over = false;

  constructor(put: (scene: string) => void) {
    this.#put = put;
  }

  /** Put what is made, unless it is null, or another picture stands there by then. */
  keep(make: () => Promise<string | null>): void {
    this.#last = this.#last.then(async () => {
      const scene = await make();
      if (scene !== null && !this.#over) {
        this.#put(scene);
      }
    });
  }

  stop(): void {
    this.#over = true;
  }
}
