"""The card of a launch that ran on a GPU and on the CPU; recorded launches, saved and loaded, stand in for a GPU."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import triton_lab as lab
from tests.launch.comparison.kernels import copied, exponential, quotient, recorded, with_ways_of_a_gpu
from tests.launch.on_both import on_both
from triton_lab.examples import recording, recordings
from triton_lab.launch.comparison.argument_difference import NEAR
from triton_lab.launch.launch import Launch
from triton_lab.notebook.cell.magic_options import Options
from triton_lab.notebook.cell.progress_line import Sign
from triton_lab.notebook.cell.show_launches import show_launches
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.comparison.comparison_view import NOT_TRIED

UNSEEN = Sign(None, str, float)  # nobody looks on


@pytest.fixture
def both(tmp_path: Path) -> Launch:
    """The launch of another machine, which had a GPU."""
    x = torch.rand(64, generator=torch.Generator().manual_seed(1))
    plain = recorded(lambda: exponential[(2,)](x, torch.empty(64), BLOCK=32))
    launch = replace(on_both(plain), outputs=with_ways_of_a_gpu(plain, "exp of the GPU").outputs)
    launch.save(tmp_path / "both.launch")
    return lab.load(tmp_path / "both.launch")


def test_a_cell_for_both_opens_on_the_comparison(both: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.display", lambda view, **how: shown.append((view, how)))
    show_launches([both], Options(target="both"), UNSEEN)
    ((card, how),) = shown
    assert how["metadata"] == {"triton_lab": {"target": "both"}}
    scene = card.scene()
    assert scene["opened"] == "comparison" and scene["parts"]["comparison"]["kind"] == "comparison"
    told = card.text()
    (out,) = (one for one in lab.compare(both) if one.written)
    assert "exponential (GPU) and exponential (CPU) are" in told
    assert re.search(rf"\bout_ptr: {NEAR}: {out.count} of 64\b", told)
    assert "program (0, 0, 0) lane " in told
    part = scene["parts"]["comparison"]
    assert "the GPU's exp" in part["cause"], "tried at once, since that takes no time"
    (row,) = part["table"]
    assert row[:4] == ["out_ptr", "float32", NEAR, f"{out.count} of 64"]


def test_without_pictures_the_comparison_still_stands(both: Launch) -> None:
    shown: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("IPython.display.display", lambda view, **how: shown.append(view))
        show_launches([both], Options(target="both", show=("none",)), UNSEEN)
    assert shown[0].looked_at == ("comparison",)


def test_a_launch_on_the_gpu_has_the_tab_behind_what_was_asked_for(both: Launch) -> None:
    scene = Card(both).scene()
    assert scene["tabs"][0]["label"] == "GPU and CPU" and scene["opened"] == "tiling"
    assert Card(both).part("comparison")["kind"] == "comparison"
    assert "GPU and CPU" not in [tab["label"] for tab in Card(recorded_alone()).scene()["tabs"]]


def recorded_alone() -> Launch:
    return recorded(lambda: copied[(1,)](torch.ones(32), torch.zeros(32), BLOCK=32, SHIFT=0))


def test_causes_that_take_long_wait_until_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = (torch.rand(64, generator=torch.Generator().manual_seed(seed)) + 0.5 for seed in (1, 2))
    plain = recorded(lambda: quotient[(2,)](a, b, torch.empty(64), BLOCK=32))
    outputs = with_ways_of_a_gpu(plain, "division of the GPU").outputs
    launch = replace(on_both(plain, interpreted=5.0), outputs=outputs)
    card = Card(launch, both=True)
    scene = card.part("comparison")
    assert scene["causes"] == [] and scene["later"] == "comparison/causes"
    assert NOT_TRIED in card.text()
    found = card.part("comparison/causes")
    assert found["kind"] == "causes" and "division" in found["title"] and found["table"]
    again = card.part("comparison")
    assert "later" not in again and again["causes"], "what was tried is kept"
    assert lab.compare(launch).plot().part("causes")["kind"] == "causes"


def test_equal_results_have_no_causes_to_look_for() -> None:
    launch = on_both(recorded_alone(), interpreted=5.0, ulps=0)
    scene = Card(launch, both=True).part("comparison")
    assert scene["title"].endswith("bit-equal") and "later" not in scene


def test_a_card_does_not_wait_long_for_how_far_rounding_goes(both: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_lab.views.launch.comparison import comparison_view

    monkeypatch.setattr(comparison_view, "PATIENCE", 0.0)
    lines = Card(both, both=True).part("comparison")["lines"]
    assert any("took too long" in line for line in lines)
    assert lab.compare(both).verdict == NEAR


@pytest.mark.parametrize("name", recordings())
def test_what_an_h100_made_is_told_with_its_time(name: str) -> None:
    card = Card(recording(name), show=(), both=True)
    time = card.launch.time
    assert time is not None and time.runs > 10 and time.low <= time.median <= time.high < 1e-4
    assert card.facts()[0] == f"GPU, {time.device}" and "H100" in time.device
    assert card.part("comparison")["kind"] == "comparison"
    assert card.panel("comparison").drawn()[0].comparison.verdict != "different"
