from __future__ import annotations

import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.launch.debugging.kernels import SIZE, launched, stopping, summed
from triton_lab.command.debugging import breakpoint_front
from triton_lab.notebook.cell import breakpoint_display


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a notebook's kernel displays."""
    found: list[Any] = []
    magics = SimpleNamespace(magics={"cell": {}})  # none of ours: nothing of the shell is followed
    shell = SimpleNamespace(kernel=object(), execution_count=1, magics_manager=magics)
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    monkeypatch.setattr("IPython.display.display", found.append)
    breakpoint_display._shown.clear()
    return found


def launch() -> torch.Tensor:
    out = torch.empty(4 * SIZE)
    stopping[(4,)](torch.arange(4.0 * SIZE), out, SIZE)
    return out


def test_a_launch_in_a_cell_shows_the_program_that_stops(shown: list[Any]) -> None:
    assert torch.equal(launch(), torch.arange(4.0 * SIZE))
    (view,) = shown
    assert view.program == 2 and view.stops


def test_a_cell_shows_few_of_many_launches(shown: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    for _turn in range(breakpoint_display.MOST + 3):
        launch()
    assert len(shown) == breakpoint_display.MOST
    assert capsys.readouterr().out.count("breakpoint()") == 1


def test_a_launch_that_no_breakpoint_stops_shows_nothing(shown: list[Any]) -> None:
    breakpoint_display.show_breakpoints(launched(summed, 2, 1))
    assert shown == []


def test_without_a_notebook_or_a_terminal_the_launch_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(breakpoint_front, "_said", set())
    assert torch.equal(launch(), torch.arange(4.0 * SIZE))
    launch()
    line = stopping.starting_line_number + 6
    assert capsys.readouterr().err.count(f":{line}: ") == 1
