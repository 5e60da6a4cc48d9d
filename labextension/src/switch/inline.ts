/**
 * The button at the end of a `%%triton` line, which opens the choice of targets.
 */

import type { EditorState, Extension } from '@codemirror/state';
import { Decoration, EditorView, WidgetType } from '@codemirror/view';
import type { DecorationSet } from '@codemirror/view';

import { magicLine } from '../magic.ts';
import { asked } from './line.ts';
import { tr } from '../../../triton_lab/views/front/localization.js';

/** Opens the choice below a button; the button's cell is the active one by then. */
export type Open = (button: HTMLElement) => void;

class Button extends WidgetType {
  readonly target: string;
  readonly open: Open;

  constructor(target: string, open: Open) {
    super();
    this.target = target;
    this.open = open;
  }

  override eq(other: Button): boolean {
    return other.target === this.target;
  }

  toDOM(): HTMLElement {
    const node = document.createElement('button');
    node.type = 'button';
    node.className = 'triton-lab-choose';
    node.textContent = tr('target');
    this.updateDOM(node);
    node.setAttribute('aria-haspopup', 'menu');
    node.onclick = () => this.open(node);
    // The notebook and the editor have keys of their own for these.
    node.onkeydown = event => {
      if (event.key === 'Enter' || event.key === ' ') {
        event.stopPropagation();
      }
    };
    return node;
  }

  // The same button, which may have the focus.
  override updateDOM(node: HTMLElement): boolean {
    node.title = tr('Runs on: {target}. Choose another target.', { target: this.target });
    node.setAttribute('aria-label', node.title);
    return true;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

function decorate(state: EditorState, open: Open): DecorationSet {
  const number = magicLine(state.doc.iterLines());
  if (number === null) {
    return Decoration.none;
  }
  const line = state.doc.line(number);
  const widget = new Button(asked(line.text).target, open);
  return Decoration.set(Decoration.widget({ widget, side: 2 }).range(line.to));
}

/** The button of one cell's editor. */
export function chooseButton(open: Open): Extension {
  return EditorView.decorations.compute(['doc'], state => decorate(state, open));
}
