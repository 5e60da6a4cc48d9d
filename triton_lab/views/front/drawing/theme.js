/** Whether the page is light or dark, and word when that changes. */

/**
 * @param {Element} element
 * @returns {"light" | "dark"}
 */
export function themeOf(element) {
  const told = document.body.dataset.jpThemeLight;
  if (told !== undefined) return told === "false" ? "dark" : "light";
  const kind = document.body.dataset.vscodeThemeKind; // VS Code's page has no background of its own
  if (kind !== undefined) return /dark$|^vscode-high-contrast$/.test(kind) ? "dark" : "light";
  // Elsewhere: by the nearest background that is not see-through.
  for (let at = /** @type {Element | null} */ (element); at; at = at.parentElement) {
    const [red, green, blue, alpha = 1] = (getComputedStyle(at).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
    if (red !== undefined && alpha > 0.5) return 0.3 * red + 0.59 * green + 0.11 * blue < 110 ? "dark" : "light";
  }
  return "light";
}

/**
 * Calls `listener` when page or body change their classes or theme, or the machine its own; returns how to stop.
 * @param {() => void} listener
 * @returns {() => void}
 */
export function onThemeChange(listener) {
  const soon = () => requestAnimationFrame(listener);
  const observer = new MutationObserver(soon);
  const machine = matchMedia("(prefers-color-scheme: dark)");
  const watched = { attributes: true, attributeFilter: ["class", "style", "theme", "data-theme", "data-jp-theme-light", "data-vscode-theme-kind"] };
  observer.observe(document.documentElement, watched);
  observer.observe(document.body, watched);
  machine.addEventListener("change", soon);
  return () => {
    observer.disconnect();
    machine.removeEventListener("change", soon);
  };
}
