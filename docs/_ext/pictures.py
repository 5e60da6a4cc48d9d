"""Notebooks and Python as pages of the site, with pictures that stay live where no server and no kernel is.

A scene is put into its page as text, with its PNG before it until the script has drawn it. Script and style lie beside
the pages as a plain script: browsers load no modules from a folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chapters import LIST, chapter_page, listed, put_downloads
from IPython.lib.lexers import IPython3Lexer
from languages import editions
from pygments.token import Comment, _TokenType
from sphinx.application import Sphinx

from triton_lab.course.edition import notebooks_at, read
from triton_lab.views.html_output import picture
from triton_lab.views.notebook_output import SCENE
from triton_lab.views.script_bundle import SITE, script, stylesheet

SCRIPT, STYLE = "triton-lab.js", "triton-lab.css"
CHAPTERS = "course"  # the folder of the site that holds the course
CELL = "triton-cell"


class CellLexer(IPython3Lexer):
    """IPython's, for which a cell with a magic of its own is plain text: below `%%triton` stands Python."""

    name = CELL
    aliases = (CELL,)

    def get_tokens_unprocessed(self, text: str, *rest: Any, **options: Any) -> Iterator[tuple[int, _TokenType, str]]:
        magic, line, below = text.partition("\n") if text.startswith("%%triton") else ("", "", text)
        if magic:
            yield 0, Comment.Preproc, magic + line
        start = len(magic + line)
        for index, token, value in super().get_tokens_unprocessed(below, *rest, **options):
            yield start + index, token, value


def page_of(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with its scenes as HTML; what else an output has stays."""
    notebook["metadata"].setdefault("language_info", {})["pygments_lexer"] = CELL
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if scene := data.get(SCENE, {}).get("scene"):
                text = "".join(data.get("text/plain", "")).strip()
                png = "".join(data.get("image/png", "")).replace("\n", "")
                size = output.get("metadata", {}).get("image/png", {})
                output["data"] = {"text/html": picture(scene, png, text.partition("\n")[0], size), "text/plain": text}
    return notebook


def put_chapters(app: Sphinx) -> None:
    """Copy the executed notebooks of the course into the sources of the site, those alone that have changed, in every
    language."""
    into, notebooks = Path(app.srcdir), Path(app.srcdir).parent / "notebooks"
    chapters = {f"{CHAPTERS}/{path.name}": read(path) for path in notebooks_at(notebooks)}
    chapters |= dict(editions(notebooks, CHAPTERS))
    put_downloads(chapters, Path(app.outdir))
    for folder in {name.partition("/")[0] for name in chapters}:
        (into / folder).mkdir(exist_ok=True)
        _put(into / folder / LIST, listed(chapters, folder))
    for name, notebook in chapters.items():
        folder, _unused, file = name.partition("/")
        path, text = into / name, json.dumps(page_of(chapter_page(notebook, folder, file)))
        _put(path, text)
    for path in into.glob(f"{CHAPTERS}*/*.ipynb"):
        if str(path.relative_to(into)) not in chapters:
            path.unlink()


def _put(path: Path, text: str) -> None:
    """Write what has changed: the rest need not be read again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def put_script(app: Sphinx) -> None:
    """Write the script and the style sheet of all pictures."""
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SCRIPT).write_text(f"(() => {{\n{script(SITE)}\n}})();\n", encoding="utf-8")
    (folder / STYLE).write_text(stylesheet(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_lexer(CELL, CellLexer)
    app.connect("builder-inited", put_chapters)
    app.connect("builder-inited", put_script)
    app.add_js_file(SCRIPT, loading_method="defer")
    app.add_css_file(STYLE)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
