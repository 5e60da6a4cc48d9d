/** The keys that a picture in a notebook keeps for itself. */

/**
 * JupyterLab takes arrow keys and Enter for the notebook before anything inside an output hears of
 * them, unless an attribute says not to: of what has the focus, which it looks at first and need not go on from.
 * Keys with Shift, Ctrl or Meta stay with the notebook.
 * @param {HTMLElement} root
 * @returns {() => void}
 */
export function keepKeys(root) {
  /** @param {KeyboardEvent} event */
  const decide = (event) => {
    const at = event.target;
    if (!(at instanceof Element) || !root.contains(at)) return;
    const ours = !(event.ctrlKey || event.metaKey || event.altKey) && !(event.shiftKey && event.key.length > 1);
    at.toggleAttribute("data-lm-suppress-shortcuts", ours);
  };
  // On the way down from the window, so before the document's own listeners.
  window.addEventListener("keydown", decide, true);
  return () => window.removeEventListener("keydown", decide, true);
}
