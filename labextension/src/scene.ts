/**
 * Draws the scene that an output carries, with no kernel behind it; what the scene has not is asked of the kernel, and
 * what comes is put into the output, so that it is saved with the notebook.
 */

import type { ISessionContext } from '@jupyterlab/apputils';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { JSONObject } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';

import type { Catalogue } from '../../triton_lab/views/front/localization.js';
import { tr } from '../../triton_lab/views/front/localization.js';
import type { Link, Linked } from '../../triton_lab/views/front/linked.js';
import type { Place } from '../../triton_lab/views/front/place.js';
import type { Picked, Saved, Scene } from '../../triton_lab/views/front/scenes.d.ts';
import type { Selection } from '../../triton_lab/views/front/selection.js';
import { attempt, whyNot } from './attempt.ts';
import { ViewChannel } from './channel.ts';
import type { IKeeper } from './channel.ts';
import { Keeping } from './keeping.ts';
import { lineTo } from './kernel.ts';
import { catalogueOf } from './language.ts';
import { linksIn } from './linked.ts';
import type { Line } from './kernel.ts';
import { SCENE, WIDGET } from './output.ts';
import { placeIn } from './places.ts';

/** Loaded with the first picture: a notebook without one need not wait for it. */
const front = () => import('./front.ts');
type Front = Awaited<ReturnType<typeof front>>;

const CLASS = 'triton-lab-scene';

const WIDEST = 4096; // pixels of a still picture, whatever the output says
const noSliders = () => tr('Run the cell again to move the sliders. The kernel that ran it is gone.');

/** Renders one output. */
export class SceneRenderer extends Widget implements IRenderMime.IRenderer {
  readonly #place = document.createElement('div');
  readonly #note = document.createElement('div');
  /** What is drawn, as text; an output that changes to the same need not be drawn again. */
  #shown = '';
  /** The output as it is now: where its PNG follows the picture, JupyterLab puts another model in its place. */
  #model: IRenderMime.IMimeModel | null = null;
  #stop: () => void = () => undefined;
  /** What is drawn, which may get more parts. */
  #drawn: IDrawn | null = null;
  #attached: () => void = () => undefined;
  /** Widgets of a kernel in the picture's place. Its element is ours, which no layout knows: it comes and goes with us. */
  #panel: Widget | null = null;
  readonly #inPage = new Promise<void>(resolve => (this.#attached = resolve));

  constructor() {
    super();
    this.addClass(CLASS);
    this.#note.className = 'triton-lab-note';
    this.#note.setAttribute('role', 'status');
    this.node.append(this.#place, this.#note);
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.#model = model;
    const text = JSON.stringify(model.data[SCENE]);
    if (text === this.#shown) {
      return;
    }
    this.#shown = text;
    const isShown = () => text === this.#shown && !this.isDisposed;
    const drawn = viewOf(model) === this.#drawn?.view ? this.#drawn : null;
    if (!drawn) {
      this.#clear();
    }
    if (WIDGET in model.data) {
      void this.#line().then(line => line?.announce());
    }
    const why = await attempt(front, async drawing => {
      const saved = drawing.savedOf(model.data[SCENE]);
      const texts = await catalogueOf(saved.language ?? 'en');
      const { scene, why } = await startOf(saved, drawing);
      if (isShown() && !(scene && drawn?.grow(saved, scene))) {
        this.#clear();
        this.#draw(model, saved, scene, why, drawing, texts);
      }
    });
    if (why !== null && isShown()) {
      this.#fallBack(model, why);
    }
  }

  override dispose(): void {
    this.#stop();
    super.dispose();
  }

  protected override onAfterAttach(): void {
    this.#attached();
    this.#showPanel();
  }

  protected override onBeforeDetach(): void {
    if (this.#panel?.isAttached) {
      Widget.detach(this.#panel);
    }
  }

  #showPanel(): void {
    if (this.#panel && this.isAttached && !this.#panel.isAttached) {
      Widget.attach(this.#panel, this.#place);
    }
  }

  #clear(): void {
    this.#stop();
    this.#stop = () => undefined;
    this.#drawn = null;
    this.#place.replaceChildren();
    this.#note.textContent = '';
  }

  #draw(
    model: IRenderMime.IMimeModel, saved: Saved, start: Scene | null, why: string, drawing: Front, texts: Catalogue | null
  ): void {
    const selection = drawing.createSelection({});
    let remove: () => void = () => undefined;
    let kept = this.#shown;
    const keeping = new Keeping(text => {
      if (this.#shown !== kept) {
        return; // the output has become another, which is not drawn yet
      }
      const now = this.#model ?? model;
      saved.scene = text;
      kept = this.#shown = JSON.stringify(saved);
      now.setData({ data: { ...now.data, [SCENE]: { ...saved } as unknown as JSONObject } });
    });
    /** With one more part, whatever the scene has got meanwhile. */
    const added = async (name: string, scene: Scene): Promise<string | null> => {
      const before = saved.scene;
      const text = before === undefined ? null : await drawing.withPart(before, name, scene);
      return saved.scene === before ? text : added(name, scene);
    };
    const show = (scene: Scene) => {
      remove();
      selection.clear();
      if (saved.follows) {
        tellPicks(selection, picked => channel?.pick(picked));
      }
      this.#place.replaceChildren();
      const place = drawing.leftBehind(this.#placeOf(drawing.placeName(scene)));
      remove = drawing.showSaved(scene, this.#place, selection, channel, place, this.#link, texts);
    };
    const keeper: IKeeper = {
      part: (name, scene) => {
        keeping.keep(() => added(name, scene));
      },
      whole: (scene, id) => {
        if (saved.panel) {
          this.#panel = id === null ? null : this.#panelOf(id);
          this.#showPanel();
          this.#note.textContent = this.#panel ? '' : noSliders();
          return;
        }
        this.#note.textContent = '';
        this.#drawn = null;
        try {
          show(scene);
        } catch (error) {
          this.#fallBack(this.#model ?? model, whyNot(error, drawing));
          return;
        }
        keeping.keep(() => drawing.packedOf(scene));
      },
      unanswered: reason => {
        this.#note.textContent = start === null ? why : saved.panel ? noSliders() : (reason ?? tr('Run the cell again to change this picture. The kernel that ran it is gone.'));
      }
    };
    const channel = saved.view === undefined ? null : new ViewChannel(saved.view, () => this.#line(), keeper);
    this.#stop = () => {
      keeping.stop();
      channel?.stop();
      remove();
      this.#panel?.dispose();
      this.#panel = null;
    };
    if (start === null) {
      this.#picture(model);
    } else {
      show(start);
      this.#drawn = {
        view: saved.view,
        grow: (next, scene) => {
          if (!drawing.tookParts(start, scene)) {
            return false;
          }
          saved.scene = next.scene!;
          kept = this.#shown;
          channel?.came(name => drawing.partIn(scene, name));
          return true;
        }
      };
    }
    if (start === null || saved.panel) {
      channel?.whole();
    }
  }

  /** Tells the notebook around of a card, if there is one: once the output stands in it. */
  readonly #link: Link = (...card) => {
    let linked: Linked | undefined;
    let stopped = false;
    void this.#inPage.then(() => {
      linked = stopped ? undefined : linksIn(around(this, 'sessionContext'))?.link(...card);
    });
    return {
      point: lines => linked?.point(lines),
      go: (line, opens) => linked?.go(line, opens),
      stop: () => {
        stopped = true;
        linked?.stop();
      }
    };
  };

  /** Where somebody was in the picture that stood here before. */
  #placeOf(name: string): Place {
    const area = around(this, 'model');
    const ours = [...(area?.node.querySelectorAll(`.${CLASS}`) ?? [])];
    return placeIn((area as unknown as { model: object } | undefined)?.model, ours.indexOf(this.node), name);
  }

  /** The line to the kernel of the notebook, or console, in which the output stands. */
  async #line(): Promise<Line | null> {
    await this.#inPage;
    const context = ancestor(this, 'sessionContext') as ISessionContext | undefined;
    await context?.ready;
    const kernel = context?.session?.kernel;
    return kernel ? lineTo(kernel) : null;
  }

  /** The widgets around the picture take its place; null where nobody here shows widgets. */
  #panelOf(id: string): Widget | null {
    const rendermime = ancestor(this, 'rendermime') as
      | { createRenderer(type: string): IRenderMime.IRenderer; createModel(options: object): IRenderMime.IMimeModel }
      | undefined;
    try {
      const panel = rendermime?.createRenderer(WIDGET);
      if (!rendermime || !panel) {
        return null;
      }
      const data = { [WIDGET]: { version_major: 2, version_minor: 0, model_id: id } };
      void panel.renderModel(rendermime.createModel({ data, trusted: true }));
      this.#place.replaceChildren();
      return panel;
    } catch {
      return null;
    }
  }

  /** The picture that was saved beside the scene, and why the scene is not drawn. */
  #fallBack(model: IRenderMime.IMimeModel, why: string): void {
    this.#clear();
    this.#picture(model);
    this.#note.textContent = why;
    this.#shown = ''; // another time it may be drawn
  }

  #picture({ data, metadata }: IRenderMime.IMimeModel): void {
    const png = data['image/png'];
    if (typeof png === 'string') {
      const image = document.createElement('img');
      image.src = `data:image/png;base64,${png}`;
      image.alt = textOf(data['text/plain']);
      const size = metadata['image/png'];
      if (typeof size === 'object' && size !== null && 'width' in size) {
        image.width = Math.min(Number(size.width) || 0, WIDEST);
      }
      this.#place.replaceChildren(image);
    } else {
      const words = document.createElement('pre');
      words.textContent = textOf(data['text/plain']);
      this.#place.replaceChildren(words);
    }
  }
}

/** A picture that may get more parts while it stands there. */
interface IDrawn {
  readonly view: string | undefined;
  /** Take what the picture has come to have; false where it is another. */
  grow(saved: Saved, scene: Scene): boolean;
}

/** What was saved; where it is too large, why, and the kernel is asked for it. */
async function startOf(saved: Saved, drawing: Front): Promise<{ scene: Scene | null; why: string }> {
  if (saved.scene === undefined) {
    return { scene: null, why: tr('This picture was too large to be saved with the notebook. Run the cell again to see it live.') };
  }
  try {
    return { scene: await drawing.sceneOf(saved.scene), why: '' };
  } catch (error) {
    if (saved.view !== undefined && error instanceof drawing.TooLarge) {
      return { scene: null, why: whyNot(error, drawing) };
    }
    throw error;
  }
}

/** By which id the kernel is asked about an output, if it says so. */
function viewOf({ data }: IRenderMime.IMimeModel): unknown {
  const saved = data[SCENE];
  return typeof saved === 'object' && saved !== null && 'view' in saved ? saved.view : null;
}

/** What is picked, told as it changes; the line under the pointer passes too quickly. */
function tellPicks(selection: Selection, tell: (picked: Picked) => void): void {
  let before = '';
  selection.subscribe(({ parameters, at, dims, automatic }) => {
    // Only what Python draws anew.
    const picked: Picked = JSON.parse(JSON.stringify({ parameters, at, dims, automatic }));
    const text = JSON.stringify(picked);
    if (text !== before) {
      before = text;
      tell(picked);
    }
  });
}

/** The nearest of the widgets around this one that has something by that name. */
function around(widget: Widget, name: string): Widget | undefined {
  for (let one = widget.parent; one; one = one.parent) {
    if (name in one) {
      return one;
    }
  }
  return undefined;
}

/** What it has by that name. */
function ancestor(widget: Widget, name: string): unknown {
  return (around(widget, name) as unknown as Record<string, unknown> | undefined)?.[name];
}

/** Text in an output is one string or a list of lines. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join('') : typeof value === 'string' ? value : '';
}

/** Safe: the scene is parsed and checked, words become text, and nothing in it is ever run. */
export const sceneFactory: IRenderMime.IRendererFactory = {
  safe: true,
  mimeTypes: [SCENE],
  createRenderer: () => new SceneRenderer()
};

/** Before the widget's, which is -10. */
export const SCENE_RANK = -100;
