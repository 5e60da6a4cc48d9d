/** Elements made from plain values; words are always text, never markup. */

/** @typedef {Record<string, string | number | boolean | ((event: never) => void)>} Attributes `on...` are listeners */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/**
 * An SVG element.
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function shape(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * Text in the lines that it has, which scrolls sideways where they are long: by keyboard, too.
 * @param {Attributes} attributes
 * @param {string} label what it is, for who cannot see it
 * @param {...(Node | string)} lines
 */
export function passage(attributes, label, ...lines) {
  return make("pre", { ...attributes, tabindex: 0, role: "group", "aria-label": label }, ...lines);
}

export const MOST_PIXELS = 1 << 21; // of a canvas, in CSS pixels: as in `scene_bounds.py`
const MOST_DOTS = 1 << 21; // of a canvas, in pixels of the screen

/**
 * How many pixels a canvas of so many CSS pixels has for each, across and down: as many as the screen has there, fewer
 * where a large canvas would need too much memory for that.
 * @param {number} width
 * @param {number} height
 */
export function ratioOf(width, height) {
  const most = Math.max(1, Math.sqrt(MOST_DOTS / Math.max(1, width * height)));
  return Math.min(window.devicePixelRatio || 1, most);
}

/**
 * Make a canvas so large, with `ratioOf` pixels for each. Throws RangeError for one that no page can hold.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width CSS pixels
 * @param {number} height
 */
export function resize(canvas, width, height) {
  if (!(width * height <= MOST_PIXELS)) throw new RangeError(`a canvas of ${width} by ${height} pixels is too large`);
  const ratio = ratioOf(width, height);
  Object.assign(canvas, { width: Math.ceil(width * ratio), height: Math.ceil(height * ratio) });
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
}

/**
 * Frees the memory of a picture's canvases while they are not visible. Drawing restores their size.
 * @param {Element} node
 */
export function emptyCanvases(node) {
  const canvases = /** @type {NodeListOf<HTMLCanvasElement>} */ (node.querySelectorAll(".tl-cells, .tl-overlay, .tl-domain-stage canvas"));
  for (const canvas of canvases) canvas.width = canvas.height = 0;
}

/**
 * What draws on a canvas.
 * @param {HTMLCanvasElement} canvas
 * @returns {CanvasRenderingContext2D}
 */
export function penOf(canvas) {
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("this browser has no 2D canvas");
  return pen;
}
