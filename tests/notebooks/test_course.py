"""Every notebook runs, and what is stored beside its source is what the source makes."""

from __future__ import annotations

import ast
import base64
import gzip
import json
import re
from pathlib import Path

import jupytext
import nbformat
import pytest

from tests.conftest import has_chromium
from tests.notebooks.course import executed, sources, texts
from triton_lab.views.notebook_output import SCENE, WIDGET

MOST_BYTES = 1_100_000  # of a notebook with its outputs, most of them PNGs

each_source = pytest.mark.parametrize("source", sources(), ids=lambda source: source.stem)


def is_fit_to_store(notebook: nbformat.NotebookNode, most: int = MOST_BYTES) -> None:
    """Held to what is asked of every notebook that was run."""
    assert "widgets" not in notebook.metadata
    kinds = [kind for cell in notebook.cells for output in cell.get("outputs", ()) for kind in output.get("data", ())]
    assert SCENE in kinds and WIDGET not in kinds
    assert len(nbformat.writes(notebook)) < most


@each_source
def test_the_notebook_runs_from_top_to_bottom(source: Path) -> None:
    if has_chromium():
        pytest.skip("where its pictures are drawn it is run, too: tests/browser/test_course_lab.py")
    is_fit_to_store(executed(source))


@each_source
def test_the_stored_notebook_has_the_cells_of_its_source(source: Path) -> None:
    stored = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    assert texts(stored) == texts(jupytext.read(source)), "run `make notebooks`"


@each_source
def test_the_stored_notebook_was_run_in_order(source: Path) -> None:
    stored = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    code = [cell for cell in stored.cells if cell.cell_type == "code" and cell.source.strip()]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), "run `make notebooks`"
    assert any(cell.outputs for cell in code)


@each_source
def test_the_stored_cards_have_a_picture_behind_each_tab(source: Path) -> None:
    """The text speaks of tabs, and no kernel makes them for who reads a stored notebook."""
    stored = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    outputs = (output for cell in stored.cells for output in cell.get("outputs", ()))
    for saved in (output.get("data", {}).get(SCENE) for output in outputs):
        scene = json.loads(gzip.decompress(base64.b64decode(saved["scene"]))) if saved else {}
        if scene.get("kind") == "card":
            parts = {name.partition("@")[0] for name in scene["parts"]}
            assert [tab["name"] for tab in scene["tabs"] if tab["name"] not in parts] == []


@each_source
def test_pictures_are_asked_of_objects_not_imported(source: Path) -> None:
    """What a reader needs for a picture is the object itself: a launch, a scop, a schedule."""
    tree = ast.parse(jupytext.writes(jupytext.read(source), "py:percent"))
    names = [
        f"{node.module}.{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    ]
    names += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert "triton_lab" in names and not [name for name in names if name.startswith("triton_lab.views")]


@each_source
def test_a_chapter_asks_for_its_own_progress(source: Path) -> None:
    asked = set(re.findall(r'progress\("(\d\d)"\)', source.read_text(encoding="utf-8")))
    assert asked <= {source.stem[:2]}
