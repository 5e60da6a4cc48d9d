/** As much of a page as controls need: elements with attributes, listeners and children. */

type Listener = (event: unknown) => void;

export class FakeElement {
  readonly attributes = new Map<string, string>();
  readonly children: (FakeElement | string)[] = [];
  readonly listeners = new Map<string, Listener>();
  readonly tag: string;
  value = '';
  textContent = '';

  constructor(tag: string) {
    this.tag = tag;
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
    if (name === 'value') {
      this.value = value;
    }
  }

  addEventListener(name: string, listener: Listener): void {
    this.listeners.set(name, listener);
  }

  append(...children: (FakeElement | string)[]): void {
    this.children.push(...children);
  }

  replaceChildren(...children: (FakeElement | string)[]): void {
    this.children.splice(0, this.children.length, ...children);
  }

  focus(): void {
    this.listeners.get('focus')?.({ target: this });
  }

  click(): void {
    this.listeners.get('click')?.({ target: this });
  }

  /** All elements with that role, in what it holds. */
  withRole(role: string): FakeElement[] {
    const inner = this.children.flatMap((child) => (typeof child === 'string' ? [] : child.withRole(role)));
    return this.attributes.get('role') === role ? [this, ...inner] : inner;
  }

  /** The first element of that tag, in this one or in what it holds. */
  find(tag: string): FakeElement | null {
    if (this.tag === tag) {
      return this;
    }
    for (const child of this.children) {
      const found = typeof child === 'string' ? null : child.find(tag);
      if (found) {
        return found;
      }
    }
    return null;
  }

  /** As if somebody had moved a slider, or chosen. */
  change(value: string | number, event = 'input'): void {
    this.value = String(value);
    this.listeners.get(event)?.({ target: this });
  }
}

/** From now on, elements are made of these. */
export function fakePage(): void {
  const createElement = (tag: string) => new FakeElement(tag);
  const createElementNS = (_: string, tag: string) => new FakeElement(tag);
  Object.assign(globalThis, { document: { createElement, createElementNS } });
}

/** What the scripts take for the page's own elements. */
export const fake = (node: unknown): FakeElement => node as FakeElement;
