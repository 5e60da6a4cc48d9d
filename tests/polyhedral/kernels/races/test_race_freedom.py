"""Verdicts on races between programs: one launch or kernel for everything that can be known."""

# A kernel's parameters have no Python types to give them.
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.polyhedral import recorded
from tests.polyhedral.races import CASES
from triton_lab.examples import example
from triton_lab.polyhedral.core.isl_effort import TooHard
from triton_lab.polyhedral.kernels.launch_scop import KernelScop
from triton_lab.polyhedral.kernels.races import race_freedom
from triton_lab.polyhedral.kernels.races.race_freedom import races
from triton_lab.polyhedral.kernels.verification import Check, Verification


@triton.jit
def store_where(mask_ptr, out_ptr, BLOCK: tl.constexpr):
    pid, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, lanes + pid, mask=tl.load(mask_ptr + pid * BLOCK + lanes) > 0)


def masked(lanes_of_programs: list[list[int]]) -> None:
    """Each program stores to the elements that its row of a mask allows: nobody knows it from the kernel."""
    mask = torch.tensor(lanes_of_programs)
    store_where[(len(mask),)](mask, torch.zeros(mask.shape[1], dtype=torch.int64), mask.shape[1])


@triton.jit
def tickets(counter_ptr, out_ptr):
    tl.store(out_ptr, tl.atomic_add(counter_ptr, 1))


def stored_after_the_ticket() -> None:
    """All programs store to one element, after an atomic that does not order what comes after it."""
    tickets[(3,)](torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32))


def an_example(name: str) -> Callable[[], Any]:
    one = example(name)
    return lambda: one.run(**one.inputs("small", 0, "cpu"))


def scop_of(run: Callable[[], Any]) -> KernelScop:
    with lab.target("cpu"), lab.record() as launches:
        run()
    found = lab.polyhedral.scop(launches[0])
    assert isinstance(found, KernelScop)
    return found


def refuted(scop: KernelScop) -> None:
    """As if the model had not stood the comparison with the record."""
    vars(scop)["verification"] = Verification((Check("S0", 1, 1, 1, False, "differ: for this test"),))


@dataclass(frozen=True)
class Case:
    """A launch, and the verdict on it. ``refuted``: as if the record contradicted the model."""

    run: Callable[[], Any]
    free: bool
    proof: str
    witnesses: bool = False
    ordered: bool = False
    refuted: bool = False


LAUNCHES = {
    "a model that contradicts the record": Case(
        CASES["blocks_side_by_side"].run, free=True, proof="this record", refuted=True
    ),
    "the same, with a race": Case(CASES["blocks_overlap"].run, free=False, proof="this record", refuted=True),
    "no conflict for any size": Case(CASES["blocks_side_by_side"].run, free=True, proof="all sizes"),
    "no conflict for some sizes": Case(CASES["rows"].run, free=True, proof="some sizes"),
    "no conflict in this launch": Case(an_example("sparse_matmul"), free=True, proof="this launch"),
    "an address that is not affine": Case(CASES["scattered_to_a_permutation"].run, free=True, proof="this record"),
    "such an address, with a race": Case(CASES["scattered_to_one_place"].run, free=False, proof="this record"),
    "accesses that do not take place": Case(
        lambda: masked([[1, 0, 0, 1], [0, 1, 1, 0]]), free=True, proof="this record", witnesses=True
    ),
    "accesses of which one does": Case(
        lambda: masked([[1, 0, 0, 1], [1, 1, 1, 0]]), free=False, proof="this record", witnesses=True
    ),
    "a conflict": Case(CASES["blocks_overlap"].run, free=False, proof="this launch", witnesses=True),
    "atomics that order programs": Case(
        an_example("producer_consumer"), free=True, proof="this record", witnesses=True, ordered=True
    ),
    "atomics that order nothing": Case(stored_after_the_ticket, free=False, proof="this record", witnesses=True),
}


@pytest.mark.parametrize("case", LAUNCHES.values(), ids=LAUNCHES)
def test_the_verdict_on_a_launch(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    scop = scop_of(case.run)
    if case.refuted:
        refuted(scop)
    if case.proof != "this record":
        monkeypatch.setattr(race_freedom, "_recorded", unanswered)  # where the model decides, it is not asked
    found = races(scop)
    assert (found.free, found.proof, found.ordered) == (case.free, case.proof, case.ordered)
    assert bool(found.witnesses) == case.witnesses
    by_atomics = case.run in (stored_after_the_ticket, LAUNCHES["atomics that order programs"].run)
    assert bool(found.open) == (case.proof == "this record" and not by_atomics)
    if not case.refuted:
        assert found.free == (not recorded.races(scop.launch)) or found.ordered


def unanswered(*_: Any) -> Any:
    raise TooHard("for this test")


@pytest.mark.parametrize(
    ("free", "proof", "name", "patch"),
    [
        (False, "none", "scattered_to_a_permutation", {}),
        (False, "none", "blocks_side_by_side", {"conflicts": lambda scop: ([], ["for this test"])}),
        (True, "all sizes", "blocks_side_by_side", {}),
        (False, "none", "rows", {"_safe_sizes": unanswered}),
        (True, "some sizes", "rows", {}),
        (False, "some sizes", "blocks_overlap", {}),
    ],
)
def test_the_verdict_on_a_kernel(
    free: bool, proof: str, name: str, patch: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    general = scop_of(CASES[name].run).general
    for what, instead in patch.items():
        monkeypatch.setattr(race_freedom, what, instead)
    found = races(general)
    assert (found.free, found.proof) == (free, proof)
    assert bool(found.open) == (proof == "none")
    assert (found.condition is not None) == (proof == "some sizes")
    assert found.parameters == general.parameters
