/** Which programs have parts of their inputs in common: asked at each move of the pointer, also of a million. */

/**
 * @typedef {object} Input
 * @property {import("../drawing/data.js").Numbers} nbytes bytes of each part, from 1 on
 * @property {import("../drawing/data.js").Numbers} starts where the programs of each part begin in `items`
 * @property {import("../drawing/data.js").Numbers} items
 */

export class Sharing {
  /** @param {Input[]} inputs @param {number} programs how many there are */
  constructor(inputs, programs) {
    this.inputs = inputs;
    this.programs = programs;
    /** The program that `bytes` and `others` are of, -1 for none. */
    this.of = -1;
    this.bytes = new Float64Array(programs);
    /** @type {Uint32Array} */
    this.others = new Uint32Array(0);
    /** @type {{starts: Uint32Array, parts: Uint32Array}[] | null} */
    this.found = null;
  }

  /** The parts of each input that a program reads, worked out once. */
  get parts() {
    this.found ??= this.inputs.map(({ nbytes, starts, items }) => {
      const begin = new Uint32Array(this.programs + 2);
      for (let k = starts[1] ?? 0; k < items.length; k++) begin[items[k] + 2] += 1;
      for (let p = 2; p < begin.length; p++) begin[p] += begin[p - 1];
      const parts = new Uint32Array(items.length);
      for (let part = 1; part < nbytes.length; part++) {
        for (let k = starts[part]; k < starts[part + 1]; k++) parts[begin[items[k] + 1]++] = part;
      }
      return { starts: begin, parts };
    });
    return this.found;
  }

  /**
   * The programs that read something that `program` reads, ascending, itself among them if it reads anything; how many
   * bytes each has in common with it stands in `bytes` until another program is asked about.
   * @param {number} program
   */
  with(program) {
    if (this.of === program) return this.others;
    for (const other of this.others) this.bytes[other] = 0;
    /** @type {number[]} */
    const others = [];
    this.inputs.forEach(({ nbytes, starts, items }, number) => {
      const own = this.parts[number];
      for (let k = own.starts[program]; k < own.starts[program + 1]; k++) {
        const part = own.parts[k];
        if (!nbytes[part] || (k > own.starts[program] && part === own.parts[k - 1])) continue;
        for (let at = starts[part]; at < starts[part + 1]; at++) {
          if (!this.bytes[items[at]]) others.push(items[at]);
          this.bytes[items[at]] += nbytes[part];
        }
      }
    });
    this.of = program;
    this.others = Uint32Array.from(others).sort();
    return this.others;
  }
}
