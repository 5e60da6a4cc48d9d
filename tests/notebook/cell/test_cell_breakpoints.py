from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.launch.debugging.kernels import SIZE, halved, summed
from triton_lab.notebook.cell import breakpoint_display, cell_breakpoints
from triton_lab.notebook.extension.extension_rpc import Desk

FIRST = summed.starting_line_number


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What a notebook's kernel displays."""
    found: list[Any] = []
    shell = SimpleNamespace(kernel=object(), execution_count=1)
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    monkeypatch.setattr("IPython.display.display", found.append)
    breakpoint_display._shown.clear()
    yield found
    cell_breakpoints._of_cells.clear()


def beside(number: int, condition: str = "", text: str | None = None) -> dict[str, Any]:
    """A breakpoint beside a line of `summed`, as JupyterLab tells it."""
    own = summed.raw_src[number].rstrip("\n")
    return {"line": FIRST + number, "text": own if text is None else text, "condition": condition}


def tell(*breakpoints: object, cell: str = "a") -> None:
    name = "breakpoints " + json.dumps({"cell": cell, "breakpoints": breakpoints})
    assert Desk().part(name) == {"name": name, "content": ""}


def launch() -> None:
    with cell_breakpoints.stopping():
        summed[(4,)](torch.arange(4.0 * SIZE), torch.empty(4 * SIZE), 3, SIZE)


def test_a_launch_stops_beside_the_line(shown: list[Any]) -> None:
    tell(beside(8, "k == 1 and pid == 2"))
    launch()
    (view,) = shown
    assert (view.program, view.line) == (2, FIRST + 8)


def test_a_line_of_a_helper_stops_too(shown: list[Any]) -> None:
    line = halved.starting_line_number + 5
    tell({"line": line, "text": halved.raw_src[5].rstrip(), "condition": "k > 1"})
    launch()
    assert [view.line for view in shown] == [line]


def test_a_line_whose_text_has_changed_does_not_stop(shown: list[Any]) -> None:
    tell(beside(8, text="acc = 0"))
    launch()
    tell(beside(8))
    tell(cell="a")  # removed again
    launch()
    assert shown == []


def test_a_wrong_condition_is_told_and_the_other_breakpoints_stop(
    shown: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    tell(beside(8, "missing > 3"))
    launch()
    said = capsys.readouterr().out
    assert shown == [] and "'missing'" in said and f"line {FIRST + 8}:" in said
    tell(beside(8, "missing > 3"), beside(9))
    launch()
    assert [view.line for view in shown] == [FIRST + 9] and "'missing'" in capsys.readouterr().out


@pytest.mark.parametrize("told", [None, 3, [], {"cell": 3}, {"cell": "a", "breakpoints": 3}])
def test_what_is_no_breakpoint_is_left_out(told: object) -> None:
    cell_breakpoints.set_breakpoints(told)
    assert not any(cell_breakpoints._of_cells.values())


@pytest.mark.parametrize(
    "one",
    [
        None,
        {"line": 0, "text": ""},
        {"line": "3", "text": ""},
        {"line": True, "text": ""},
        {"line": 3},
        {"line": 3, "text": "x" * 9999},
        {"line": 3, "text": "", "condition": 1},
    ],
)
def test_a_breakpoint_that_is_none_is_left_out(one: object) -> None:
    cell_breakpoints.set_breakpoints({"cell": "a", "breakpoints": [one]})
    assert cell_breakpoints._of_cells == {}


def test_cells_and_breakpoints_are_bounded() -> None:
    for number in range(cell_breakpoints.MOST_CELLS + 9):
        cell_breakpoints.set_breakpoints({"cell": str(number), "breakpoints": [beside(8)] * 999})
    assert len(cell_breakpoints._of_cells) == cell_breakpoints.MOST_CELLS
    assert max(map(len, cell_breakpoints._of_cells.values())) == cell_breakpoints.MOST
