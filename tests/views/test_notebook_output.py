"""What a notebook's output holds: the scene within its bound, and a widget only where somebody shows one."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook, new_output

import triton_lab as lab
from tests.views.test_scenes import MAKERS
from tests.views.unpacking import unpacked
from tests.wordings import Wording
from triton_lab.examples import example
from triton_lab.views import comm_handlers, frontend_presence, notebook_output
from triton_lab.views.launch.card.launch_card import SAVED_LANES, Card
from triton_lab.views.launch.gallery import launches_of
from triton_lab.views.launch.tiling.tiling_view import Tiling
from triton_lab.views.notebook_output import HTML, MOST_CHARACTERS, SCENE, WIDGET
from triton_lab.views.scene_packing import packed


class Comms:
    """What a kernel's comm manager does for us."""

    def __init__(self) -> None:
        self.targets: dict[str, Callable[[Any, Any], None]] = {}

    def register_target(self, name: str, opened: Callable[[Any, Any], None]) -> None:
        self.targets[name] = opened


class Comm:
    """A comm that a front end has opened, from its side."""

    def __init__(self, comms: Comms) -> None:
        self.heard: list[tuple[dict[str, Any], list[bytes]]] = []
        comms.targets[frontend_presence.TARGET](self, None)

    def on_msg(self, then: Callable[[Any], None]) -> None:
        self.then = then

    def send(self, data: dict[str, Any], buffers: list[bytes]) -> None:
        self.heard.append((data, buffers))

    def ask(self, **data: Any) -> list[tuple[dict[str, Any], list[bytes]]]:
        self.heard.clear()
        self.then({"content": {"data": data}})
        return self.heard


@pytest.fixture
def comms(monkeypatch: pytest.MonkeyPatch) -> Iterator[Comms]:
    """A notebook's kernel, of which nobody is known."""
    found = Comms()
    shell = InteractiveShell.instance()
    monkeypatch.setattr(shell, "kernel", SimpleNamespace(comm_manager=found), raising=False)
    monkeypatch.setattr(frontend_presence, "_announced", False)
    for name in ("JPY_SESSION_NAME", "VSCODE_PID", "COLAB_RELEASE_TAG"):
        monkeypatch.delenv(name, raising=False)
    yield found
    InteractiveShell.clear_instance()


def card() -> Card:
    return Card(launches_of(example("vector_add"))[0])


@pytest.mark.parametrize("name", MAKERS)
def test_every_view_is_packed_within_the_bound(name: str) -> None:
    saved = notebook_output.saved(MAKERS[name]())
    assert saved["version"] == 1 and len(saved["scene"]) <= MOST_CHARACTERS
    assert unpacked(saved["scene"])["kind"]


def test_a_small_launch_keeps_every_tab() -> None:
    found = unpacked(notebook_output.saved(card())["scene"])
    assert {tab["name"] + ("@0" if "window" in tab else "") for tab in found["tabs"]} <= set(found["parts"])


def test_a_large_launch_keeps_what_it_opens_with(monkeypatch: pytest.MonkeyPatch) -> None:
    view = card()
    assert 3 * 1000 <= view.lanes() <= 3 * 1024 < SAVED_LANES
    monkeypatch.setattr("triton_lab.views.launch.card.launch_card.SAVED_LANES", view.lanes() - 1)
    assert view.saved() == view.live()
    monkeypatch.setenv("TRITON_LAB_SAVE", "all")
    found = unpacked(notebook_output.saved(card())["scene"])
    assert {tab["name"] + ("@0" if "window" in tab else "") for tab in found["tabs"]} <= set(found["parts"])


def test_what_does_not_fit_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    view = card()
    monkeypatch.setattr(notebook_output, "MOST_CHARACTERS", len(packed(view.live())))
    assert unpacked(notebook_output.saved(view)["scene"])["parts"].keys() == view.live()["parts"].keys()  # type: ignore[attr-defined]
    monkeypatch.setattr(notebook_output, "MOST_CHARACTERS", 100)
    saved = notebook_output.saved(view)
    assert "scene" not in saved and comm_handlers.part(saved["view"], comm_handlers.WHOLE) == view.live()


def test_a_number_that_json_has_not_is_left_to_the_picture() -> None:
    view = Tiling(launches_of(example("vector_add"))[0], "x_ptr")
    view.beginning = {"kind": "words", "text": float("nan")}
    assert "scene" not in notebook_output.saved(view)


@pytest.mark.parametrize("host", [{}, {"JPY_SESSION_NAME": "a.ipynb"}, {"VSCODE_PID": "7"}, {"COLAB_RELEASE_TAG": "x"}])
def test_a_widget_goes_where_somebody_shows_it(
    comms: Comms, monkeypatch: pytest.MonkeyPatch, host: dict[str, str]
) -> None:
    for name, value in host.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(frontend_presence, "_inherited", lambda: False)
    view = card()
    data, _ = view._repr_mimebundle_()
    # A Jupyter server's notebook is reopened there: what is whole without its kernel needs no widget.
    lives = bool(host) and "JPY_SESSION_NAME" not in host
    assert set(data) == {SCENE, HTML, "image/png", "text/plain"} | ({WIDGET} if lives else set())
    assert ("widget" in view.__dict__) == lives
    if lives:
        assert data[WIDGET]["model_id"] == view.widget.model_id


def test_a_jupyter_without_the_extension_gets_a_widget_for_what_is_not_saved_whole(
    comms: Comms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "a.ipynb")
    monkeypatch.setattr(frontend_presence, "_inherited", lambda: False)
    monkeypatch.setattr("triton_lab.views.launch.card.launch_card.SAVED_LANES", 1)
    assert WIDGET in card()._repr_mimebundle_()[0], "its tabs are made by the kernel"
    assert WIDGET in MAKERS["space"]()._repr_mimebundle_()[0], "the kernel draws what its sliders say"


def test_no_kernel_no_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "a.ipynb")
    assert not frontend_presence.widgets_are_shown()


def test_a_notebook_run_from_a_cell_has_nobody(comms: Comms, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its kernel has the session's name from the kernel that started the run, as our own child has it from us."""
    monkeypatch.setenv("JPY_SESSION_NAME", "a.ipynb")
    monkeypatch.setattr(os, "getppid", os.getpid)
    # What a process was started with is what counts: this one was started without.
    assert frontend_presence.widgets_are_shown()
    monkeypatch.setattr(frontend_presence.Path, "read_bytes", lambda _: b"A=1\0JPY_SESSION_NAME=a.ipynb\0")
    assert not frontend_presence.widgets_are_shown()


def test_a_front_end_that_draws_scenes_gets_no_widget(comms: Comms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VSCODE_PID", "7")
    first = card()
    assert WIDGET in first._repr_mimebundle_()[0]
    Comm(comms)
    again = card()
    assert WIDGET not in again._repr_mimebundle_()[0] and "widget" not in again.__dict__


def test_sliders_stay_around_their_picture(comms: Comms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VSCODE_PID", "7")
    from triton_lab.examples.vector_add import add

    def run(block: int) -> None:
        with lab.target("cpu"):
            add(torch.ones(100), torch.ones(100), block=block)

    view = lab.interact(run, block=[16, 32])
    data, _ = view._repr_mimebundle_()
    comm = Comm(comms)
    ((answer, _),) = comm.ask(view=data[SCENE]["view"], part=comm_handlers.WHOLE)
    assert data[SCENE]["panel"] and data[WIDGET]["model_id"] == answer["panel"] == view.panel_id()
    assert view._repr_mimebundle_()[0][WIDGET]["model_id"] == answer["panel"]
    ((answer, _),) = comm.ask(view=data[SCENE]["view"], part="grid")
    assert answer["scene"]["kind"] == "grid", "the card's tabs answer through it"
    view.choose(block=32)
    assert unpacked(view._repr_mimebundle_()[0][SCENE]["scene"])["grid"] == [4, 1, 1]


def test_a_comm_answers_with_parts_and_their_bytes(comms: Comms, wording: Wording) -> None:
    view = card()
    name = notebook_output.saved(view)["view"]
    comm = Comm(comms)
    ((answer, buffers),) = comm.ask(view=name, part="tiling/x_ptr")
    assert (answer["view"], answer["part"], answer["panel"]) == (name, "tiling/x_ptr", None)
    assert answer["scene"]["kind"] == "tiling" and buffers
    ((answer, _),) = comm.ask(view=name, part="nothing")
    assert set(answer["scene"]) == {"kind", "text"} and answer["scene"]["kind"] == "words"
    wording(answer["scene"]["text"], part="'nothing'")
    for odd in ({"view": 3, "part": "x"}, {"view": name}, {"view": name, "part": 3}, {}):
        assert comm.ask(**odd) == []


def test_a_picture_follows_what_is_picked(comms: Comms) -> None:
    view = MAKERS["space"]()
    saved = notebook_output.saved(view)
    assert saved["follows"] and not notebook_output.saved(card())["follows"]
    comm = Comm(comms)
    ((answer, _),) = comm.ask(view=saved["view"], picked={"parameters": {"n": 2}})
    assert answer["part"] == comm_handlers.WHOLE and answer["scene"]["kind"] == "iteration"
    assert comm.ask(view=saved["view"], picked={"dims": ["no", "such"]}) == []


def test_the_newest_views_answer_and_older_ones_say_that_they_do_not(comms: Comms, wording: Wording) -> None:
    launch = launches_of(example("vector_add"))[0]
    cards = [Card(launch) for _ in range(comm_handlers.MOST_KEPT)]
    names = [comm_handlers.keep(view) for view in cards]
    assert comm_handlers.keep(cards[0]) == names[0], "shown again, it is among the newest"
    comm_handlers.keep(Card(launch))
    frontend_presence.listen()
    comm = Comm(comms)
    ((told, _),) = comm.ask(view=names[1], part="grid")
    assert told["scene"]["kind"] == "words" and "no longer stored" in told["scene"]["text"]
    ((told, _),) = comm.ask(view="of-another-kernel", part="grid")
    wording(told["scene"]["text"])
    ((answer, _),) = comm.ask(view=names[0], part="grid")
    assert answer["scene"]["kind"] == "grid"


def test_what_answers_nothing_is_not_kept(comms: Comms) -> None:
    before = dict(comm_handlers._kept)
    assert "view" not in notebook_output.saved(lab.storage(torch.zeros(3)))
    assert comm_handlers._kept == before


def test_a_converted_notebook_shows_the_picture() -> None:
    """nbconvert prefers a widget to a PNG, also one that is gone: there is none."""
    data, metadata = card()._repr_mimebundle_()
    shown = {**data, "image/png": base64.b64encode(data["image/png"]).decode()}
    cell = new_code_cell("card", outputs=[new_output("display_data", shown, metadata=metadata)])
    page, _ = HTMLExporter().from_notebook_node(new_notebook(cells=[cell]))
    assert f'src="data:image/png;base64,{shown["image/png"][:100]}' in page.replace("\n", "")
    assert "widget-view" not in page
