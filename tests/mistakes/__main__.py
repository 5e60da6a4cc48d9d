"""Photographs of every mistake, as a learner meets it in JupyterLab: ``python -m tests.mistakes [FOLDER]``.

Writes a picture of each cell with its output, on a light and on a dark page, and ``index.html`` with all of them. They
are to be looked at: does one see in five seconds what is wrong, and where?
"""

from __future__ import annotations

import argparse
import html
import json
import tempfile
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import sync_playwright

from tests.browser.lab import Lab, Notebook
from tests.browser.server import serve
from tests.conftest import CHROMIUM_ARGUMENTS, chromium
from tests.mistakes import MISTAKES
from triton_lab.notebook.cell.show_launches import STILL

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
REFUSED = "[data-mime-type='application/vnd.jupyter.stderr']"
# A cell that is out of sight stays in the page.
SETTINGS = "@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
_THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"


def photographed(notebook: Notebook, number: int, theme: str, folder: Path) -> Path:
    """One cell with its output, once its picture is drawn and its launch is checked."""
    cell = notebook.page.locator(".jp-Notebook-cell").nth(number)
    cell.scroll_into_view_if_needed()
    refused = MISTAKES[number - 1].kind == "refused"
    cell.locator(REFUSED if refused else ".tl-view canvas").first.wait_for()
    cell.get_by_text(STILL).wait_for(state="hidden")
    path = folder / f"{number:02}-{MISTAKES[number - 1].name}-{theme}.png"
    cell.screenshot(path=path)
    return path


def take(folder: Path) -> list[tuple[str, list[Path]]]:
    """All pictures, by mistake."""
    found: dict[int, list[Path]] = {}
    with tempfile.TemporaryDirectory() as home, serve(Path(home)) as server, sync_playwright() as playwright:
        cells = ["%load_ext triton_lab", *(each.cell for each in MISTAKES)]
        # One that raises is not to stop those after it.
        marked = [new_code_cell(cell, metadata={"tags": ["raises-exception"]}) for cell in cells]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        written = new_notebook(cells=marked, metadata={"kernelspec": kernel})
        nbformat.write(written, server.root / "mistakes.ipynb")
        settings = server.settings / SETTINGS
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(json.dumps({"windowingMode": "none"}))
        browser = playwright.chromium.launch(executable_path=chromium(), headless=True, args=CHROMIUM_ARGUMENTS)
        lab = Lab(browser.new_page(viewport={"width": 1100, "height": 2000}), server, server.root, folder)
        notebook = lab.open("mistakes.ipynb")
        notebook.run_all()
        for theme, name in THEMES.items():
            lab.page.evaluate(_THEME, name)
            lab.page.locator("#jupyterlab-splash").wait_for(state="detached")
            for number in range(1, len(cells)):
                found.setdefault(number, []).append(photographed(notebook, number, theme, folder))
        lab.shut_down_kernels()
        browser.close()
    return [(MISTAKES[number - 1].name, paths) for number, paths in found.items()]


def sheet(pictures: list[tuple[str, list[Path]]]) -> str:
    """All of them on one page."""
    rows = [
        f"<h2>{html.escape(name)}</h2><div>{''.join(f'<img src={path.name!r}>' for path in paths)}</div>"
        for name, paths in pictures
    ]
    look = "<style>body{font-family:sans-serif}div{display:flex}img{width:49%;align-self:start}</style>"
    return f"<!doctype html><meta charset='utf-8'><title>{len(pictures)} mistakes</title>{look}{''.join(rows)}"


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(prog="python -m tests.mistakes", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("mistakes"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(sheet(take(folder)), encoding="utf-8")
    print(folder / "index.html")


if __name__ == "__main__":
    main()
