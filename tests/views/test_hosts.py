"""What each front end makes of an output, by the rules by which it chooses among MIME types: never nothing, never an
error."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbconvert import HTMLExporter, MarkdownExporter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output
from traitlets.config import Config

import triton_lab as lab
from triton_lab.examples import example
from triton_lab.views import frontend_presence
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.gallery import launches_of
from triton_lab.views.notebook_output import HTML, SCENE, WIDGET

# VS Code's Jupyter extension orders an output's types so, and the editor shows the first that it has a renderer for.
VSCODE_RENDERS = (WIDGET, "text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "text/plain")
# GitHub shows the richest of these, and nothing that needs scripts.
GITHUB_RENDERS = ("text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "text/latex", "text/plain")


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """A notebook's kernel, of which nobody is known."""
    shell = InteractiveShell.instance()
    comms = SimpleNamespace(targets={}, register_target=lambda *_: None)
    monkeypatch.setattr(shell, "kernel", SimpleNamespace(comm_manager=comms), raising=False)
    monkeypatch.setattr(frontend_presence, "_announced", False)
    monkeypatch.setattr(frontend_presence, "_inherited", lambda: False)
    for name in ("JPY_SESSION_NAME", "VSCODE_PID", "COLAB_RELEASE_TAG"):
        monkeypatch.delenv(name, raising=False)
    yield shell
    InteractiveShell.clear_instance()


def shown() -> tuple[dict[str, Any], dict[str, Any]]:
    return Card(launches_of(example("vector_add"))[0])._repr_mimebundle_()


def first(data: dict[str, Any], renders: tuple[str, ...]) -> str:
    return next(kind for kind in renders if kind in data)


def stored(data: dict[str, Any], metadata: dict[str, Any]) -> NotebookNode:
    png = base64.b64encode(data["image/png"]).decode()
    output = new_output("display_data", {**data, "image/png": png}, metadata=metadata)
    return new_notebook(cells=[new_code_cell("card", outputs=[output])])


class Sources(HTMLParser):
    """What a page would fetch, and its pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.pictures: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.pictures.append(dict(attributes))


def pictures_of(page: str) -> list[dict[str, str | None]]:
    found = Sources()
    found.feed(page)
    return found.pictures


def test_vscode_shows_the_widget_while_its_kernel_lives(
    kernel: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.user_ns["__vsc_ipynb_file__"] = "/a.ipynb"
    data, metadata = shown()
    assert first(data, VSCODE_RENDERS) == WIDGET and data[WIDGET]["model_id"]
    # The version of the format, which front ends ask for.
    assert (data[WIDGET]["version_major"], data[WIDGET]["version_minor"]) == (2, 0)
    assert set(metadata) == {"image/png"}
    # Where no renderer of widgets is installed, the picture that draws itself.
    assert first(data, VSCODE_RENDERS[1:]) == HTML


def test_github_shows_the_picture_at_its_size(kernel: InteractiveShell) -> None:
    data, metadata = shown()
    width = metadata["image/png"]["width"]
    assert first(data, GITHUB_RENDERS) == HTML and 100 < width < 2000
    (picture,) = pictures_of(data[HTML])
    assert picture["width"] == str(width) and (picture["src"] or "").startswith("data:image/png;base64,")
    for kind in (HTML, "image/png"):
        del data[kind]
    assert first(data, GITHUB_RENDERS) == "text/plain" and data["text/plain"]


@pytest.mark.parametrize("make", [lambda: shown(), lambda: lab.storage(*_tensors())._repr_mimebundle_()])
def test_nbconvert_shows_the_picture_with_no_network(kernel: InteractiveShell, make: Any) -> None:
    notebook = stored(*make())
    page, _ = HTMLExporter().from_notebook_node(notebook)
    (picture,) = pictures_of(page)
    assert (picture["src"] or "").startswith("data:image/png;base64,") and "widget-view" not in page
    assert SCENE not in page, "a browser would not know what to make of it"
    # Markdown has the HTML first, unless its configuration says otherwise.
    order = Config({"NbConvertBase": {"display_data_priority": ["image/png", "text/plain"]}})
    text, resources = MarkdownExporter(config=order).from_notebook_node(notebook)
    assert "![png]" in text and list(resources["outputs"])


def test_colab_is_told_which_widget_manager_shows_it(kernel: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Colab refuses a widget that is not its own, unless its custom manager is on and the output names it."""
    calls: list[str] = []
    colab: Any = ModuleType("google.colab.output")
    colab.enable_custom_widget_manager = lambda: calls.append("enabled")
    colab._widgets = SimpleNamespace(_installed_url="https://manager")
    monkeypatch.setitem(sys.modules, "google.colab.output", colab)
    monkeypatch.setenv("COLAB_RELEASE_TAG", "release")
    data, metadata = shown()
    assert WIDGET in data and calls
    assert metadata[WIDGET] == {"colab": {"custom_widget_manager": {"url": "https://manager"}}}
    assert "image/png" in metadata


def test_a_widget_in_words_is_short(kernel: InteractiveShell) -> None:
    assert len(repr(Card(launches_of(example("vector_add"))[0]).widget)) < 100


def _tensors() -> list[Any]:
    import torch

    return [torch.zeros(3, 4), torch.zeros(5)]
