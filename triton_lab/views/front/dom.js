/** Elements made from plain values; words are always text, never markup. */

/**
 * @param {string} tag
 * @param {Record<string, string | number | boolean | ((event: any) => void)>} attributes `on...` are listeners
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}
