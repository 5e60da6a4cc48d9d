"""A picture in an HTML output: one output of a notebook carries the code, and nothing from outside becomes markup."""

from __future__ import annotations

import base64
import copy
import gzip
import json
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

import triton_lab as lab
from tests.views.unpacking import unpacked
from triton_lab.views import html_output
from triton_lab.views.html_output import output
from triton_lab.views.nbconvert_exporter import LiveHTMLExporter, LivePictures
from triton_lab.views.notebook_output import HTML, SCENE, WIDGET

CODE = re.compile(r'<script type="application/gzip\+json">([^<]*)</script>')


class Asked(SimpleNamespace):
    """A kernel, and the request that it answers now."""

    def of(self, cell: str | None, run: str) -> str:
        """The HTML of a new picture that a cell shows in a run."""
        self.parent = {"header": {"msg_id": run}, "metadata": {"cellId": cell} if cell else {}}
        data, _ = lab.storage(torch.zeros(3))._repr_mimebundle_()
        return str(data[HTML])


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    asked = Asked(parent={})
    shell = InteractiveShell.instance()
    comms = SimpleNamespace(targets={}, register_target=lambda *_: None)
    monkeypatch.setattr(shell, "kernel", SimpleNamespace(comm_manager=comms), raising=False)
    monkeypatch.setattr(shell, "get_parent", lambda: asked.parent, raising=False)
    monkeypatch.setattr(html_output, "_carriers", {})
    for name in ("JPY_SESSION_NAME", "VSCODE_PID", "COLAB_RELEASE_TAG"):
        monkeypatch.delenv(name, raising=False)
    yield asked
    InteractiveShell.clear_instance()


def test_the_first_picture_carries_the_code_and_again_when_its_cell_runs_again(kernel: Asked) -> None:
    carried = [
        bool(CODE.search(kernel.of(*run))) for run in [("a", "1"), ("a", "1"), ("b", "2"), ("a", "3"), ("b", "4")]
    ]
    assert carried == [True, False, False, True, False]


def test_where_cells_have_no_id_the_first_picture_alone_carries_the_code(kernel: Asked) -> None:
    assert [bool(CODE.search(kernel.of(None, run))) for run in "112"] == [True, False, False]


def test_each_output_of_colab_is_a_page_of_its_own(kernel: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_lab.views.notebook_output._needs_widget", lambda *_: False)
    monkeypatch.setenv("COLAB_RELEASE_TAG", "release")
    assert all(CODE.search(kernel.of(cell, cell)) for cell in "ab")


def test_the_code_is_a_script_and_its_style() -> None:
    (code,) = CODE.findall(output("", "", "", None, True))
    found = json.loads(gzip.decompress(base64.b64decode(code)))
    assert found.keys() == {"code", "style", "texts"} and ".tl-view" in found["style"]
    assert "IntersectionObserver" in found["code"] and len(code) < 200_000


def saved(scene: Any, png: Any = "iVBORw0=", width: Any = 700) -> NotebookNode:
    data = {SCENE: {"version": 1, "scene": scene}, WIDGET: {}, "image/png": png, "text/plain": "a <b>\nc"}
    one = new_output("display_data", data, metadata={"image/png": {"width": width}})
    return new_notebook(cells=[new_code_cell("1", outputs=[one]), new_code_cell("2", outputs=[copy.deepcopy(one)])])


def test_an_old_notebook_gets_live_pictures() -> None:
    data, _ = lab.storage(torch.zeros(3))._repr_mimebundle_()
    notebook, _ = LivePictures().preprocess(saved(data[SCENE]["scene"]), {})
    first, second = (cell.outputs[0].data[HTML] for cell in notebook.cells)
    assert CODE.search(first) and not CODE.search(second)
    (scene,) = re.findall(r'<script type="application/gzip">([^<]*)</script>', second)
    assert unpacked(scene)["kind"] == data_kind(data)
    assert 'width="700"' in second and "a &lt;b&gt;" in second
    page, _ = LiveHTMLExporter().from_notebook_node(saved(data[SCENE]["scene"]))
    assert page.count(f">{scene}<") == 2 and "widget-view" not in page


def data_kind(data: dict[str, Any]) -> Any:
    return unpacked(data[SCENE]["scene"])["kind"]


@pytest.mark.parametrize("odd", ["</script><b>", "é", 3, None, ["x"]])
def test_what_is_no_packed_scene_or_picture_becomes_no_markup(odd: Any) -> None:
    (cell, _) = LivePictures().preprocess(saved(odd), {})[0].cells
    assert HTML not in cell.outputs[0].data
    attack = '"><script>1</script>'
    (cell, _) = LivePictures().preprocess(saved("H4sI", attack, attack), {})[0].cells
    assert attack not in cell.outputs[0].data[HTML] and "<img" not in cell.outputs[0].data[HTML]
