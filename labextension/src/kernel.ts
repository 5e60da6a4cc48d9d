/**
 * Questions to the kernel that ran a cell: one comm for each kernel, over which every picture asks for what it lacks.
 */

import type { Kernel } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

import type { ViewAnswer, ViewPicked, ViewQuestion } from '../../triton_lab/views/front/scenes.d.ts';

/** As in `answering.py`. */
const TARGET = 'triton_lab.views';
/** The part that is the whole picture. */
export const WHOLE = '';

export type Answer = ViewAnswer;
/** Hears an answer with its buffers, or null once nobody can answer any more. */
export type Listener = (answer: Answer | null, buffers: DataView[]) => void;
type KernelConnection = Pick<
  Kernel.IKernelConnection,
  'createComm' | 'statusChanged' | 'disposed' | 'status' | 'handleComms'
>;

/** After these nothing that was asked is answered. */
const GONE: ReadonlySet<Kernel.Status> = new Set(['restarting', 'autorestarting', 'terminating', 'dead']);
/** After these nobody listens any more. */
const LOST: ReadonlySet<Kernel.Status> = new Set(['terminating', 'dead']);

let language = 'en';

/** From now on, kernels hear that their texts are to be in this language, such as `zh-CN`. */
export function speak(code: string): void {
  language = code;
}

/** The line to one kernel. */
export class Line {
  readonly #kernel: KernelConnection;
  readonly #listeners = new Map<string, Set<Listener>>();
  #comm: Kernel.IComm | null = null;

  constructor(kernel: KernelConnection) {
    this.#kernel = kernel;
    kernel.statusChanged.connect((_, status) => {
      if (GONE.has(status)) {
        this.#hangUp();
      }
    });
    kernel.disposed.connect(() => this.#hangUp());
  }

  /** Hear what is answered to the view; the returned function ends that. */
  listen(view: string, listener: Listener): () => void {
    const own = this.#listeners.get(view) ?? new Set();
    this.#listeners.set(view, own.add(listener));
    return () => {
      own.delete(listener);
      if (own.size === 0) {
        this.#listeners.delete(view);
      }
    };
  }

  /**
   * Tell the kernel that scenes are drawn here, so that it makes no widgets for us. One that restarts hears it when it is
   * back, before the cells that were run meanwhile.
   */
  announce(): void {
    this.#open(LOST);
  }

  /** Whether the kernel could be asked. */
  send(message: ViewQuestion | ViewPicked): boolean {
    const comm = this.#open();
    void comm?.send(message as unknown as JSONObject).done.catch(() => undefined);
    return comm !== null;
  }

  #open(gone = GONE): Kernel.IComm | null {
    if (this.#comm && !this.#comm.isDisposed) {
      return this.#comm;
    }
    if (!this.#kernel.handleComms || gone.has(this.#kernel.status)) {
      return null;
    }
    const comm = this.#kernel.createComm(TARGET);
    // Answers are made between cells and never beside one that runs: both launch kernels, and what is set for one
    // launch is set for the process. It also keeps a question from overtaking the opening.
    Object.assign(comm, { commsOverSubshells: 'disabled' });
    this.#comm = comm;
    comm.onMsg = ({ content, buffers }) => {
      const answer = answerOf(content.data);
      for (const listener of [...(this.#listeners.get(answer?.view ?? '') ?? [])]) {
        listener(answer, (buffers ?? []).map(viewOf));
      }
    };
    // A kernel that has not shown a picture since it started knows of no such comm, and closes it.
    comm.onClose = () => this.#hangUp();
    void comm.open({ language }).done.catch(() => undefined);
    return comm;
  }

  #hangUp(): void {
    this.#comm?.dispose();
    this.#comm = null;
    for (const listener of [...this.#listeners.values()].flatMap(own => [...own])) {
      listener(null, []);
    }
  }
}

const lines = new WeakMap<object, Line>();

/** The one line to a kernel. */
export function lineTo(kernel: KernelConnection): Line {
  const line = lines.get(kernel) ?? new Line(kernel);
  lines.set(kernel, line);
  return line;
}

/** What a kernel sends, or null where it is no answer of ours: kernels run anybody's code. */
export function answerOf(data: unknown): Answer | null {
  if (typeof data !== 'object' || data === null || !('view' in data && 'part' in data && 'scene' in data)) {
    return null;
  }
  const { view, part, scene } = data;
  const panel = 'panel' in data && typeof data.panel === 'string' ? data.panel : null;
  return typeof view === 'string' && typeof part === 'string' ? { view, part, scene, panel } : null;
}

function viewOf(buffer: ArrayBuffer | ArrayBufferView): DataView {
  return ArrayBuffer.isView(buffer)
    ? new DataView(buffer.buffer as ArrayBuffer, buffer.byteOffset, buffer.byteLength)
    : new DataView(buffer);
}
