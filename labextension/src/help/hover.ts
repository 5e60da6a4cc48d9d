/**
 * What a name of Triton's language means, under the pointer: the kernel knows, as the installed Triton has it.
 */

import { hoverTooltip } from '@codemirror/view';
import type { Tooltip } from '@codemirror/view';
import type { Extension } from '@codemirror/state';
import type { Kernel } from '@jupyterlab/services';

/** As in `completing.py`. */
const DESCRIPTION = 'application/vnd.triton-lab.description.v1+json';

interface IDescription {
  readonly signature: string;
  readonly text: string;
}

/** The dotted name around a column of a line, from its beginning up to the part that is pointed at; null without a dot. */
export function nameAt(text: string, column: number): { name: string; from: number; to: number } | null {
  for (const { 0: dotted, index } of text.matchAll(/[^\W\d]\w*(?:\.[^\W\d]\w*)+/g)) {
    if (index <= column && column <= index + dotted.length) {
      const end = dotted.indexOf('.', Math.max(column - index, dotted.indexOf('.') + 1));
      const name = end < 0 ? dotted : dotted.slice(0, end);
      return { name, from: index, to: index + name.length };
    }
  }
  return null;
}

/** What the kernel says of it, if it is of the language. */
function descriptionOf(data: unknown): IDescription | null {
  const one = (data as Record<string, unknown> | undefined)?.[DESCRIPTION] as Partial<IDescription> | undefined;
  return typeof one?.signature === 'string' && typeof one.text === 'string' ? (one as IDescription) : null;
}

/** `kernelOf` finds the kernel of the notebook that an editor is in; one that is at work is not asked. */
export function hover(kernelOf: (node: Node) => Kernel.IKernelConnection | null): Extension {
  return hoverTooltip(
    async (view, position): Promise<Tooltip | null> => {
      const line = view.state.doc.lineAt(position);
      const found = nameAt(line.text, position - line.from);
      const kernel = found && kernelOf(view.dom);
      if (!found || kernel?.status !== 'idle') {
        return null;
      }
      const reply = await kernel
        .requestInspect({ code: found.name, cursor_pos: found.name.length, detail_level: 0 })
        .catch(() => null);
      const told = reply?.content.status === 'ok' ? descriptionOf(reply.content.data) : null;
      if (!told) {
        return null;
      }
      return {
        pos: line.from + found.from,
        end: line.from + found.to,
        create: () => ({ dom: drawn(told) })
      };
    },
    { hoverTime: 400 }
  );
}

function drawn({ signature, text }: IDescription): HTMLElement {
  const node = document.createElement('div');
  node.className = 'triton-lab-hover';
  node.tabIndex = 0; // what scrolls is reached by the keyboard
  const head = document.createElement('code');
  head.textContent = signature;
  const body = document.createElement('div');
  body.textContent = text;
  node.append(head, body);
  return node;
}
