"""What is told of how long a launch took: on a GPU what its clock says, on the CPU that it is the interpreter's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

import triton_lab as lab
from tests.launch.comparison.kernels import exponential, recorded
from tests.launch.on_both import on_both
from tests.wordings import Wording
from triton_lab.backend.targets.gpu_timer import Time
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.card.launch_table import INTERPRETED, LaunchTable

TIME = Time(4.9e-6, 4.8e-6, 5.1e-6, 200, 0.0977, "NVIDIA H100 80GB HBM3")


def on_cpu() -> Launch:
    return recorded(lambda: exponential[(2,)](torch.rand(64), torch.empty(64), BLOCK=32))


def on_gpu(time: Time | None = TIME) -> Launch:
    return replace(on_both(on_cpu()), time=time, seconds=4.9e-6)


def test_a_card_names_the_gpu_its_time_and_the_compilers_apart() -> None:
    card = Card(on_gpu(), both=True)
    facts = "GPU, NVIDIA H100 80GB HBM3 · 2 programs · 4.9 µs (4.8 µs to 5.1 µs in 200 runs) · compiled in 97.7 ms"
    assert " · ".join(card.facts()) == facts and card.scene()["facts"] == card.facts()
    assert facts in card.text()
    assert "interpreter" not in facts


def test_one_run_says_that_launching_is_in_it(wording: Wording) -> None:
    card = Card(on_gpu(Time.of([95e-6])))
    (time,) = card.facts()[2:]
    wording(time, time="95 µs")


def test_on_the_cpu_it_is_the_interpreters_time(wording: Wording) -> None:
    launch = on_cpu()
    launch.seconds = 0.0012
    assert Card(launch).facts()[:2] == ["CPU", "2 programs"]
    wording(Card(launch).facts()[2], time="1.2 ms")


def test_launches_of_two_targets_are_never_told_together() -> None:
    cpu = on_cpu()
    table = LaunchTable([cpu, on_gpu(), on_gpu()])
    assert [row[:2] for row in table.table()] == [("exponential (CPU)", "1"), ("exponential (GPU)", "2")]
    assert table.title() == "3 launches of 1 kernel" and INTERPRETED in table.remarks()
    assert INTERPRETED not in LaunchTable([on_gpu()]).remarks()
    assert LaunchTable([cpu]).table()[0][0] == "exponential"


def test_a_file_keeps_the_time_and_one_of_before_has_none(tmp_path: Path) -> None:
    on_gpu().save(tmp_path / "one")
    assert lab.load(tmp_path / "one").time == TIME
    on_cpu().save(tmp_path / "two")
    assert lab.load(tmp_path / "two").time is None
