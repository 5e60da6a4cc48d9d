/** The proofs of one cell: the gutter, and when its marks are asked for. */

import type { Extension } from '@codemirror/state';
import { ViewPlugin } from '@codemirror/view';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { Kernel } from '@jupyterlab/services';

import type { CellProofs } from '../../../triton_lab/views/front/scenes.d.ts';
import { deskOf } from '../desk/desk.ts';
import { magicLine } from '../magic.ts';
import { Asking } from './asking.ts';
import { hasProofs, proofGutter, setProofs } from './gutter.ts';

/** `kernelOf` finds the kernel of the notebook that an editor is in; one that is at work is not asked. */
export function proofs(cell: ICodeCellModel, kernelOf: (node: Node) => Kernel.IKernelConnection | null): Extension {
  return [
    proofGutter(),
    ViewPlugin.define(view => {
      const isOurs = () => magicLine(view.state.doc.iterLines()) !== null;
      const asking = new Asking({
        text: () => (isOurs() ? view.state.doc.toString() : null),
        // Before it has imported Triton, a kernel has nothing to prove; without triton-lab it has no desk.
        isIdle: () => {
          const kernel = kernelOf(view.dom);
          return kernel?.status === 'idle' && deskOf(kernel).targets?.known === true;
        },
        ask: question => {
          const kernel = kernelOf(view.dom);
          return kernel ? deskOf(kernel).ask<CellProofs>(question) : Promise.reject(new Error('no kernel'));
        },
        show: marks => {
          if (marks.length > 0 || hasProofs(view.state)) {
            view.dispatch({ effects: setProofs.of(marks) });
          }
        }
      });
      // What has run is known from then on: sizes of tensors, launches of kernels.
      const ran = (_: unknown, { name }: { name: string }) => name === 'executionCount' && asking.later();
      cell.stateChanged.connect(ran);
      asking.later();
      return {
        update: ({ docChanged }) => docChanged && asking.later(),
        destroy: () => {
          cell.stateChanged.disconnect(ran);
          asking.stop();
        }
      };
    })
  ];
}
