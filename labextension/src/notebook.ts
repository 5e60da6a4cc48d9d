/**
 * A notebook's file, seen as the pictures in it want it.
 */

import type { DocumentRegistry } from '@jupyterlab/docregistry';

import { lineTo } from './kernel.ts';
import { linesOf, magicLine } from './magic.ts';
import { dropWidgets } from './output.ts';
import type { IOutputs } from './output.ts';

type Context = DocumentRegistry.IContext<DocumentRegistry.IModel>;
/** As much of a notebook's session as it takes to know its kernel. */
export type Session = Pick<Context['sessionContext'], 'session' | 'statusChanged'>;

/** A kernel that says so has forgotten what it was told. */
export const NEW: ReadonlySet<string> = new Set(['starting', 'restarting', 'autorestarting', 'dead', 'unknown']);

/**
 * Tell the kernel, once after each start, that scenes are drawn here, if `wanted`: then it makes no widgets, and gets
 * ready for pictures while it is idle. One without the lab closes the comm, and is left alone.
 */
export function announceTo(session: Session, wanted: () => boolean): void {
  let told: object | null = null;
  session.statusChanged.connect((_, status) => {
    const kernel = session.session?.kernel;
    if (NEW.has(status)) {
      told = null;
    } else if (status === 'idle' && kernel && told !== kernel && wanted()) {
      told = kernel;
      lineTo(kernel).announce();
    }
  });
}

/**
 * Tell the kernel in time for a cell that is about to run, if it is a `%%triton` cell. One that was typed since the
 * kernel was idle, or is run while the kernel restarts, would else be the first that the kernel hears of us.
 */
export function announceBefore(cell: IText, session: Pick<Session, 'session'>): void {
  const kernel = session.session?.kernel;
  if (kernel && isTriton(cell)) {
    lineTo(kernel).announce();
  }
}

/** As much of a cell as it takes to read it. */
interface IText {
  readonly sharedModel: { getSource(): string };
}

const isTriton = ({ sharedModel }: IText) => magicLine(linesOf(sharedModel.getSource())) !== null;

/** Whether a notebook has a `%%triton` cell. */
export function hasTriton({ model }: Pick<Context, 'model'>): boolean {
  const cells = 'cells' in model ? (model.cells as Iterable<IText>) : [];
  return [...cells].some(isTriton);
}

/** From now on, what is saved names no widget in place of our pictures. */
export function cleanWhenSaved(context: Context): void {
  context.saveState.connect(({ model }, state) => {
    if (state !== 'started' || !('cells' in model)) {
      return;
    }
    for (const cell of model.cells as Iterable<{ readonly outputs?: IOutputs }>) {
      if (cell.outputs) {
        dropWidgets(cell.outputs);
      }
    }
  });
}
