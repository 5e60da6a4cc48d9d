"""`lab.cell` does what ``%%triton`` does, where there are no magics."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

import triton_lab as lab
from tests.notebook.cell.test_show_launches import racy
from triton_lab.views.launch.card.launch_card import Card


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    monkeypatch.setattr("IPython.display.display", lambda value, **_: found.append(value))
    return found


def test_the_launches_inside_are_recorded_and_shown(shown: list[Any]) -> None:
    with lab.cell("cpu --show grid") as launches:
        racy[(2,)](torch.zeros(1))
        racy[(3,)](torch.zeros(1))
        assert shown == []
    assert [launch.grid[0] for launch in launches] == [2, 3]
    assert [type(one) for one in shown] == [Card, Card] and shown[0].scene()["opened"] == "grid"


def test_what_fails_inside_is_shown_and_raised(shown: list[Any]) -> None:
    with pytest.raises(lab.KernelError), lab.cell():
        racy[(2,)](torch.zeros(0))
    (card,) = shown
    assert card.launch.error is not None


def test_a_line_that_says_nothing_known_runs_nothing(shown: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"gird.*grid"), lab.cell("cpu --show gird"):
        pytest.fail("the block ran")
    assert shown == []


IMPORTED = """
import torch
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
assert shell.find_cell_magic('triton') is None
assert shell.run_cell('import triton_lab as lab').success and shell.find_cell_magic('triton')
assert shell.events.callbacks['post_run_cell'] == []
assert shell.run_cell('lab.record').success
hooks = shell.events.callbacks['post_run_cell']
assert hooks and shell.run_cell('lab.check').success and shell.run_cell('%load_ext triton_lab').success
assert len(hooks) == len(set(hooks))
assert shell.run_cell('%unload_ext triton_lab').success and shell.run_cell('lab.sweep').success
print(shell.find_cell_magic('triton'), hooks)
"""


def test_an_import_is_enough_for_what_the_extension_gives() -> None:
    ran = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=False)
    assert ran.stdout.strip().endswith("None []"), ran.stdout + ran.stderr
