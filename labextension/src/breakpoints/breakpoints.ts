/** The breakpoints of one cell: kept in its metadata, and told to the kernel, which stops launches of its cells there. */

import type { EditorState, Extension } from '@codemirror/state';
import { ViewPlugin } from '@codemirror/view';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { Kernel } from '@jupyterlab/services';

import { deskOf } from '../desk/desk.ts';
import type { Desk } from '../desk/desk.ts';
import { breakpointGutter, breakpointsOf, setBreakpoints } from './gutter.ts';
import type { AskCondition, IBreakpoint } from './gutter.ts';

const KEY = 'triton_lab';
const MOST = 100;
const WAIT = 1000; // ms until a kernel is looked for again

/** A cell's metadata, as far as breakpoints need it. */
export interface IKept {
  getMetadata(key: string): unknown;
  setMetadata(key: string, value: unknown): void;
  deleteMetadata(key: string): void;
}

/** The breakpoints in a cell's metadata; what is none is left out. */
export function kept(cell: IKept): IBreakpoint[] {
  const found = (cell.getMetadata(KEY) as { breakpoints?: unknown } | undefined)?.breakpoints;
  return (Array.isArray(found) ? found.slice(0, MOST) : [])
    .filter(one => Number.isSafeInteger(one?.line) && one.line >= 1)
    .map(one => ({ line: one.line, condition: typeof one.condition === 'string' ? one.condition : '' }));
}

/** Keep the breakpoints in a cell's metadata, beside what else is there. */
export function keep(cell: IKept, breakpoints: readonly IBreakpoint[]): void {
  const { breakpoints: _, ...others } = (cell.getMetadata(KEY) ?? {}) as Record<string, unknown>;
  if (breakpoints.length) {
    const plain = breakpoints.map(({ line, condition }) => (condition ? { line, condition } : { line }));
    cell.setMetadata(KEY, { ...others, breakpoints: plain });
  } else if (Object.keys(others).length) {
    cell.setMetadata(KEY, others);
  } else if (cell.getMetadata(KEY) !== undefined) {
    cell.deleteMetadata(KEY);
  }
}

/** The part of the desk that tells a cell's breakpoints: each with the text of its line, by which kernels know it. */
export function questionOf(cell: string, state: EditorState): string {
  const breakpoints = breakpointsOf(state).map(one => ({ ...one, text: state.doc.line(one.line).text }));
  return `breakpoints ${JSON.stringify({ cell, breakpoints })}`;
}

/** `kernelOf` finds the kernel of the notebook that an editor is in. */
export function breakpoints(
  cell: ICodeCellModel,
  kernelOf: (node: Node) => Kernel.IKernelConnection | null,
  ask: AskCondition
): Extension {
  return [
    breakpointGutter(ask),
    ViewPlugin.define(view => {
      let told = questionOf(cell.id, view.state); // a kernel that was told nothing has no breakpoints
      let desk: Desk | null = null;
      let timer: ReturnType<typeof setTimeout> | null = null;
      const forget = () => {
        if (desk?.targets === null) {
          told = '';
        } else {
          tell();
        }
      };
      const tell = () => {
        const question = questionOf(cell.id, view.state);
        const kernel = kernelOf(view.dom);
        const now = kernel && deskOf(kernel);
        if (now !== desk) {
          desk?.changed.disconnect(forget);
          now?.changed.connect(forget);
          desk = now;
          told = '';
        }
        if (question === told || (!told && !breakpointsOf(view.state).length)) {
          return;
        }
        if (desk?.targets) {
          told = question;
          desk.ask(question).catch(() => (told = ''));
        } else {
          later();
        }
      };
      const later = (wait = WAIT) => {
        timer ??= setTimeout(() => {
          timer = null;
          tell();
        }, wait);
      };
      const first = kept(cell);
      if (first.length) {
        // A view cannot be changed while it is made.
        void Promise.resolve().then(() => view.dispatch({ effects: setBreakpoints.of(first) }));
      }
      return {
        update: ({ state, startState, docChanged }) => {
          const [before, now] = [breakpointsOf(startState), breakpointsOf(state)];
          if (JSON.stringify(before) !== JSON.stringify(now)) {
            keep(cell, now);
          }
          if (docChanged || JSON.stringify(before) !== JSON.stringify(now)) {
            later(0);
          }
        },
        destroy: () => {
          desk?.changed.disconnect(forget);
          if (timer !== null) {
            clearTimeout(timer);
          }
        }
      };
    })
  ];
}
