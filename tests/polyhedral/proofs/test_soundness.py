"""What is proved holds: at other sizes when it is run, and of no planted bug."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

import triton_lab as lab
from tests.planted import bounds_indices, bounds_masks, bounds_pointers, races, unwritten
from tests.planted.plant import Plant
from tests.polyhedral.proofs.soundness import kernels, tried
from triton_lab.examples import example
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.polyhedral.proofs.proof import PROVED

QUICK = ("vector_add", "softmax", "rms_norm", "attention_causal", "collatz", "histogram", "recurrence", "prefix_sum")
PLACES = [
    each for module in (bounds_indices, bounds_masks, bounds_pointers) for each in vars(module).values()
    if isinstance(each, Plant) and each.kind in ("out-of-bounds", "null-pointer")
]  # fmt: skip
RACES = [each for each in vars(races).values() if isinstance(each, Plant) and each.kind == "race"]
UNWRITTEN = [each for each in vars(unwritten).values() if isinstance(each, Plant) and each.kind == "unwritten"]


def _named(plant: Plant) -> str:
    return plant.name


def _last_launch(plant: Plant) -> Any:
    with lab.record() as launches, contextlib.suppress(KernelError):
        plant.run(False)
    return launches[-1]


@pytest.mark.parametrize("name", QUICK)
def test_proved_accesses_stay_in_bounds_at_other_sizes(name: str) -> None:
    for launch in kernels(example(name)):
        found = tried(launch, 15, 4.0)
        assert found.ran and not found.wrong


@pytest.mark.parametrize("plant", PLACES, ids=_named)
def test_no_planted_access_out_of_bounds_is_proved(plant: Plant) -> None:
    launch = _last_launch(plant)
    wrong = {finding.op for finding in launch.findings if finding.kind == plant.kind}
    proof = lab.prove(launch, refute=False)
    assert wrong and not [str(one) for one in proof.accesses if one.op in wrong and one.outcome == PROVED]


@pytest.mark.parametrize("plant", RACES[::2], ids=_named)
def test_no_planted_race_is_proved_away(plant: Plant) -> None:
    (found,) = lab.prove(_last_launch(plant), refute=False).property("races")
    assert found.outcome != PROVED


@pytest.mark.parametrize("plant", UNWRITTEN, ids=_named)
def test_no_planted_hole_is_proved_written(plant: Plant) -> None:
    proof = lab.prove(_last_launch(plant), refute=False)
    assert PROVED not in {one.outcome for one in proof.property("writes") if one.argument == plant.argument}
