"""A saved notebook of the course in a real JupyterLab: how long its first live picture takes once it is scrolled to."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat.v4 import new_markdown_cell

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SCENE = "application/vnd.triton-lab.scene.v1+json"
# Seconds until a cell's picture is drawn, from the moment at which the page is scrolled to it.
_SHOWN = """async index => {
  const { content } = window.jupyterapp.shell.currentWidget;
  const start = performance.now();
  await content.scrollToItem(index, 'center');
  const drawn = () => document.querySelector(`[data-windowed-list-index='${index}'] .tl-view canvas`);
  while (!drawn()?.width) await new Promise(requestAnimationFrame);
  return (performance.now() - start) / 1000;
}"""


def time_reopening(name: str) -> float:
    """Seconds by the clock, for notebook ``name``; above its cells stands a text that fills the page, so that no
    picture is drawn before."""
    from playwright.sync_api import sync_playwright

    from tests.browser.lab import Lab
    from tests.browser.server import serve

    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    notebook.cells.insert(0, new_markdown_cell("\n\n".join(f"line {number}" for number in range(200))))
    first = next(number for number, cell in enumerate(notebook.cells) if _shows_a_picture(cell))
    with TemporaryDirectory() as home, serve(Path(home)) as server, sync_playwright() as driver:
        nbformat.write(notebook, server.root / "saved.ipynb")
        chromium = driver.chromium.launch(executable_path=shutil.which("chromium"))
        page = chromium.new_page(viewport={"width": 1280, "height": 1000})
        lab = Lab(page, server, server.root, Path(home))
        lab.open("saved.ipynb")
        seconds: float = page.evaluate(_SHOWN, first)
        lab.shut_down_kernels()
        chromium.close()
    return seconds


def _shows_a_picture(cell: nbformat.NotebookNode) -> bool:
    return any(SCENE in output.get("data", {}) for output in cell.get("outputs", ()))
