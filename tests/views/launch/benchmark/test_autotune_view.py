"""What an autotuner tried: heard from Triton's own, and drawn."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import triton

import triton_lab as lab
from tests.launch.autotuned import autotuned, tuned_doubled
from tests.views.kernels import line_kernel
from tests.wordings import Wording
from triton_lab.backend.targets.autotuner_trials import Tried, Tuning
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.benchmark.autotune_view import Autotune
from triton_lab.views.launch.card.launch_card import Card


@pytest.fixture(scope="module")
def launch() -> Launch:
    return autotuned()


def test_the_launch_knows_what_was_tried_what_was_taken_and_why_one_failed(launch: Launch) -> None:
    tuning = launch.tuning
    assert tuning is not None and tuning.target == "cpu" and not tuning.earlier
    assert [(one.config["BLOCK"], one.config["WIDE"]) for one in tuning.tried] == [(16, 1), (16, 2), (64, 1), (64, 2)]
    assert tuning.choice.config["BLOCK"] == launch.argument("BLOCK").value
    assert tuning.choice.seconds == min(one.seconds for one in tuning.tried)
    assert [one.failed for one in tuning.tried] == ["", "", "", "too wide"]
    assert math.isinf(tuning.tried[3].seconds)
    assert tuning.key == ("n=100", "torch.float32")
    assert dict(launch.configs) == pytest.approx({str(one): one.seconds for one in tuning.tried[:3]})


def test_a_later_launch_says_that_the_choice_was_made_before(wording: Wording) -> None:
    tuned = tuned_doubled()
    x, y = torch.arange(100.0), torch.zeros(100)
    with lab.target("cpu"):
        with lab.record() as launches:
            for n in (100, 50, 100):
                tuned[lambda meta, n=n: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n)
        first, other, again = (each.tuning for each in launches)
        assert first is not None and other is not None
        assert again == replace(first, earlier=True) and other.key != first.key and not other.earlier
        fresh = tuned_doubled()
        fresh[(7,)](x, y, 100)  # unrecorded
        with lab.record() as launches:
            fresh[(7,)](x, y, 100)
    view = Autotune(launches[0])
    wording(view.notes()[-2])
    assert "→" in view.text() and "time unknown" in view.text()
    assert view.figure() is not None


def test_a_benchmark_of_the_users_own_keeps_its_reasons(wording: Wording, launch: Launch) -> None:
    def bench(kernel_call, quantiles):  # type: ignore[no-untyped-def]
        kernel_call()
        return [1.0, 0.5, 2.0]

    tuned = triton.autotune(tuned_doubled().configs, key=["n"], do_bench=bench)(tuned_doubled().fn)
    with lab.target("cpu"), lab.record() as launches:
        tuned[(7,)](torch.arange(100.0), torch.zeros(100), 100)
    tuning = launches[-1].tuning
    assert tuning is not None
    assert (tuning.choice.seconds, tuning.choice.low, tuning.choice.high) == (1e-3, 5e-4, 2e-3)
    wording(tuning.tried[3].failed)


def test_the_tab_is_there_for_autotuned_launches_alone(launch: Launch) -> None:
    assert [tab["label"] for tab in Card(launch).scene()["tabs"]][-1] == "Autotuner"
    assert Card(launch).part("autotune")["kind"] == "drawing"
    with lab.target("cpu"), lab.record() as launches:
        line_kernel[(1,)](torch.ones(8), torch.zeros(8), 8, 8, BLOCK=8, MASKED=True)
    assert "autotune" not in [tab["name"] for tab in Card(launches[0]).scene()["tabs"]]
    with pytest.raises(ValueError, match=r"line_kernel: @triton\.autotune"):
        launches[0].plot.autotune()


LONG = "out of memory, " + "9" * 99


def made() -> Tuning:
    """As a GPU might give it."""
    tried = [
        Tried({"BLOCK": 64, "num_warps": 4}, 12e-6, 11e-6, 15e-6),
        Tried({"BLOCK": 128, "num_warps": 4}, 9e-6, 9e-6, 9.5e-6),
        Tried({"BLOCK": 256, "num_warps": 4}, *[math.inf] * 3, LONG),
    ]
    return Tuning("doubled_kernel", "gpu", tuple(tried), 1, ("n=100",), left_out=2)


def test_the_picture_has_the_one_taken_first_and_every_reason(wording: Wording, launch: Launch) -> None:
    view = Autotune(replace(launch, tuning=made()))
    assert view.title() == "doubled_kernel: 3 configurations tried, BLOCK=128 taken"
    *_lines, first, last = view.text().splitlines()
    notes = first, last
    assert view.text().splitlines()[1:] == [
        "  → BLOCK=128: 9 µs (9 µs to 9.5 µs) 1.00×",
        "    BLOCK=64: 12 µs (11 µs to 15 µs) 1.33×",
        f"    BLOCK=256: failed: {LONG}",
        "  all with num_warps=4",
        *notes,
    ]
    wording(notes[0], key="n=100")
    wording(notes[1], configurations="2 more configurations")
    drawn = view.chart
    words = [item.text for item in drawn.items if hasattr(item, "text")]
    assert "9 µs (9 µs to 9.5 µs) · taken" in words and any(one.endswith("9…") for one in words)
    bars = [item.width for item in drawn.items if getattr(item, "height", 0) == 14]
    assert bars[1] / bars[0] == pytest.approx(12 / 9), "as long as they took"
    card = Card(replace(launch, tuning=made()), ("autotune",))
    assert "BLOCK=128 taken" in card.text() and card.figure() is not None


def test_a_file_keeps_it(launch: Launch, tmp_path: Path) -> None:
    replace(launch, tuning=made()).save(tmp_path / "one")
    assert lab.load(tmp_path / "one").tuning == made()
    assert Autotune(lab.load(tmp_path / "one")).title().endswith("BLOCK=128 taken")
