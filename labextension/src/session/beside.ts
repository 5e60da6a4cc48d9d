/**
 * A card beside its notebook, live as long as the notebook's kernel is.
 */

import type { ISessionContext } from '@jupyterlab/apputils';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { PanelLayout, Widget } from '@lumino/widgets';

import type { SessionCard } from '../../../triton_lab/views/front/scenes.d.ts';
import { SCENE } from '../output.ts';

export class Beside extends Widget {
  /** Whoever asks the kernel from here finds it as in a notebook. */
  readonly sessionContext: ISessionContext;

  constructor(card: SessionCard, sessionContext: ISessionContext, rendermime: IRenderMimeRegistry) {
    super();
    this.sessionContext = sessionContext;
    this.addClass('triton-lab-beside');
    // A card is wide, and scrolls by itself; with the keyboard, too.
    this.node.tabIndex = 0;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', card.title);
    const layout = (this.layout = new PanelLayout());
    const renderer = rendermime.createRenderer(SCENE);
    layout.addWidget(renderer);
    const data = { [SCENE]: card.output, 'text/plain': card.text };
    void renderer.renderModel(rendermime.createModel({ data: data as never, trusted: true }));
  }
}
