"""The session's desk: what JupyterLab's extension asks of a kernel beside pictures."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.command.launcher_extension import URL
from triton_lab.notebook.cell import magic_options
from triton_lab.notebook.cell.session_launches import MOST_LISTED, LaunchSession
from triton_lab.notebook.extension.cell_templates import TEMPLATES
from triton_lab.notebook.extension.completion import DESCRIPTION
from triton_lab.notebook.extension.extension_rpc import Desk
from triton_lab.notebook.extension.target_choices import NO_GPU
from triton_lab.views import frontend_presence
from triton_lab.views.compile_error_mark import MISTAKE
from triton_lab.views.extension_queries import DESK


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def racy(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) + tl.program_id(0))


def recorded(count: int = 1) -> list[lab.Launch]:
    with lab.record() as launches:
        for _ in range(count):
            double[(2,)](torch.zeros(30), 30, BLOCK=16)
    return list(launches)


def one_racy() -> lab.Launch:
    with lab.record() as launches:
        racy[(2,)](torch.zeros(1))
    return launches[0]


def asked(desk: Desk, name: str) -> Any:
    """As the front end gets it: plain data, whatever was asked."""
    return json.loads(json.dumps(desk.part(name)))


@pytest.fixture
def desk() -> Desk:
    return Desk(LaunchSession())


def test_launches_are_listed_once_with_what_is_known_of_them(desk: Desk) -> None:
    (launch,), racy = recorded(), one_racy()
    desk._launched.note([launch, racy], "abc", 3)
    desk._launched.note([launch], "other", 4)
    first, second = asked(desk, "launches")["launches"]
    assert (first["number"], first["cell"], first["execution"]) == (1, "abc", 3)
    assert (first["kernel"], first["grid"], first["target"]) == ("double", "(2, 1, 1)", "cpu")
    assert (first["findings"], first["severity"], first["kept"]) == ("not checked", None, True)
    assert racy.findings  # checked by now
    second = asked(desk, "launches")["launches"][1]
    assert (second["findings"], second["severity"]) == ("1 error", "error")


def test_the_list_holds_no_launch_and_is_bounded(desk: Desk, wording: Wording) -> None:
    (kept,) = recorded()
    desk._launched.note([kept], None, 1)
    desk._launched.note(recorded(3), None, 2)
    gc.collect()
    assert [row["kept"] for row in asked(desk, "launches")["launches"]] == [True, False, False, False]
    with wording.raises(LookupError):
        desk.part("card 2")

    for _ in range(MOST_LISTED):
        desk._launched._rows[desk._launched._next] = {**desk._launched._rows[4], "number": desk._launched._next}
        desk._launched._next += 1
    desk._launched.note([one_racy()], None, 3)
    told = asked(desk, "launches")
    assert len(told["launches"]) == MOST_LISTED and told["dropped"] == 5


def test_two_are_pinned_and_compared_and_a_third_takes_the_place_of_the_first(desk: Desk) -> None:
    desk._launched.note(recorded(3), None, 1)  # nobody holds them: only what is pinned stays
    gc.collect()
    with pytest.raises(LookupError):
        desk.part("pin 1")
    launches = recorded(3)
    desk._launched.note(launches, None, 2)
    for number in (4, 5, 6):
        desk.part(f"pin {number}")
    del launches
    gc.collect()
    rows = asked(desk, "launches")["launches"]
    assert [row["number"] for row in rows if row["pinned"]] == [5, 6]
    assert [row["number"] for row in rows if row["kept"]] == [5, 6]
    shown = asked(desk, "compare 5 6")
    assert shown["name"] == "compare 5 6" and "bit-equal" in shown["text"]
    desk.part("pin 5")
    assert [row["number"] for row in asked(desk, "launches")["launches"] if row["pinned"]] == [6]


def test_a_card_opens_with_what_is_preferred(desk: Desk) -> None:
    launches = recorded()
    desk._launched.note(launches, None, 1)
    try:
        desk.part("first grid")
        assert magic_options.parse("cpu").show == ("grid",) and magic_options.parse("--show steps").show == ("steps",)
        shown = asked(desk, "card 1")
        assert "double" in shown["title"] and shown["output"]["view"]
        # The same card is shown again, and asks nothing of those that answer besides.
        assert asked(desk, "card 1")["output"]["view"] == shown["output"]["view"]
        desk.part("first grit")  # of another version
        assert magic_options.parse("cpu").show == ("tiling",)
    finally:
        desk.part("first")
    assert magic_options.parse("cpu") == magic_options.Options("cpu")


def test_a_launch_goes_as_a_page(desk: Desk) -> None:
    launches = recorded()
    desk._launched.note(launches, None, 1)
    assert asked(desk, "page 1")["content"].startswith("<!doctype html>")


def test_targets_say_what_is_missing(desk: Desk) -> None:
    told = asked(desk, "targets")
    there = {one["name"]: one["why"] for one in told["targets"]}
    assert list(there) == list(magic_options.TARGETS) and there["auto"] == there["cpu"] == ""
    if not told["gpu"]:
        assert there["gpu"] == there["both"] == NO_GPU
    assert told["known"] and told["triton"] == triton.__version__
    assert "sm_90" in [one["name"] for one in told["compile"]]


@pytest.mark.parametrize("one", TEMPLATES, ids=lambda one: one.name)
def test_templates_run_and_nothing_is_wrong_with_them(one: Any, tmp_path: Path) -> None:
    path = tmp_path / "cell.py"  # Triton reads a kernel's text from its file
    path.write_text(one.cell.partition("\n")[2])
    with lab.record() as launches:
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "cell"})
    assert len(launches) == 1 and not launches[0].findings


class Comm:
    """A front end's, on which the desk answers and tells."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def send(self, data: Any, buffers: list[bytes]) -> None:
        self.sent.append(json.loads(json.dumps(data)))


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Any:
    """As much of IPython's as the desk asks for."""
    hooks: list[Any] = []
    events = SimpleNamespace(callbacks={"post_run_cell": hooks}, register=lambda _, hook: hooks.append(hook))
    mine = SimpleNamespace(
        events=events,
        user_ns={},
        get_parent=lambda: {"metadata": {"cellId": "abc"}},
        compile=SimpleNamespace(format_code_name=lambda file: None),
        magics_manager=SimpleNamespace(magics={"cell": {}}),  # none of ours: nothing of the shell is followed
    )
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: mine)
    return mine


def test_what_there_is_not_is_said_in_words(desk: Desk, shell: Any) -> None:
    for part in ("teapot", "card 9", "pin 9", "compare 1 2", "template x"):
        desk.asked(comm := Comm(), {"view": DESK, "part": part})
        (answer,) = comm.sent
        assert (answer["view"], answer["part"], answer["scene"]["kind"]) == (DESK, part, "words")


def test_a_cell_s_own_record_is_listed_and_told_to_whoever_asked(
    monkeypatch: pytest.MonkeyPatch, desk: Desk, shell: Any
) -> None:
    monkeypatch.setattr(frontend_presence, "_lines", [comm := Comm()])
    monkeypatch.setattr(desk, "_known", True)
    with lab.record() as launches:
        double[(2,)](torch.zeros(30), 30, BLOCK=16)
    shell.user_ns["launches"] = launches
    desk.asked(comm, {"view": DESK, "part": "launches"})
    desk.asked(comm, {"view": DESK, "part": "launches"})
    (hook,) = shell.events.callbacks["post_run_cell"]
    assert [row["cell"] for row in comm.sent.pop()["scene"]["launches"]] == ["abc"]
    comm.sent.clear()
    hook(SimpleNamespace(execution_count=8))
    assert comm.sent == []  # nothing new
    shell.user_ns["again"] = lab.Launches(recorded())
    hook(SimpleNamespace(execution_count=9))
    (told,) = comm.sent
    assert (told["view"], told["part"]) == (DESK, "launches")
    assert [row["execution"] for row in told["scene"]["launches"]] == [None, 9]


def test_a_kernel_that_has_run_nothing_answers_and_imports_nothing() -> None:
    code = (
        "import sys; from triton_lab.notebook.extension.extension_rpc import desk\n"
        "asked = [desk.part(part) for part in ('targets', 'launches', 'template rows', 'first grid')]\n"
        "assert asked[0]['triton'] and not asked[0]['known'] and asked[1]['launches'] == []\n"
        "assert {'numpy', 'torch', 'triton'}.isdisjoint(sys.modules)\n"
        "from triton_lab.notebook.cell.magic_options import parse\n"
        "assert parse('cpu').show == ('grid',)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_extension_names_what_python_has() -> None:
    """Its settings and its fallback without a kernel are written there; everything else it is told."""
    extension = Path(__file__).parents[3] / "labextension"
    settings = json.loads((extension / "schema/lab.json").read_text())
    choices = settings["properties"]["first"]["oneOf"]
    assert [one["const"] for one in choices] == ["", *magic_options.VIEWS] and all(one["title"] for one in choices)
    named = re.search(r"TARGETS = \[(.*?)\]", (extension / "src/switch/line.ts").read_text())
    assert named is not None and named[1].replace("'", "").split(", ") == list(magic_options.TARGETS)
    offered = re.search(
        r"of \[(.*?)\]\) \{\n *palette\?\.addItem\(\{ command: INSERT_TEMPLATE",
        (extension / "src/plugins.ts").read_text(),
    )
    assert offered is not None and offered[1].replace("'", "").split(", ") == [one.name for one in TEMPLATES]
    texts = {name: (extension / f"src/{name}.ts").read_text() for name in ("desk/desk", "help/mistake", "help/hover")}
    texts["welcome/course"] = (extension / "src/welcome/course.ts").read_text()
    spoken = {"desk/desk": DESK, "help/mistake": MISTAKE, "help/hover": DESCRIPTION, "welcome/course": URL}
    assert all(f"'{word}'" in texts[name] for name, word in spoken.items())
