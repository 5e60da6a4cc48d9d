"""The tables behind the verdicts on races: one row for everything that can be known, and each row where it is due."""

# A kernel's parameters have no Python types to give them.
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, get_args

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
from triton_lab.polyhedral.kernels.races import race_freedom as kernel_race
from triton_lab.polyhedral.kernels.races.race_freedom import GeneralEvidence, LaunchEvidence, races
from triton_lab.polyhedral.kernels.races.race_table import (
    GENERAL_ROWS,
    LAUNCH_ROWS,
    Conflicting,
    General,
    row_for,
)
from triton_lab.polyhedral.kernels.verification import Check, Verification

BOOL = (False, True)


@dataclass(frozen=True)
class Launch:
    """All facts of a launch, as they are given."""

    verified: bool
    conflicting: Conflicting
    decided: bool
    orderly: bool
    general: General
    recorded: bool


@dataclass(frozen=True)
class Kernel:
    """All facts of a kernel, as they are given."""

    affine: bool
    decided: bool
    conflicting: bool
    solved: bool
    free_here: bool


LAUNCHES = [
    Launch(*facts) for facts in itertools.product(BOOL, get_args(Conflicting), BOOL, BOOL, get_args(General), BOOL)
]
KERNELS = [Kernel(*facts) for facts in itertools.product(*[BOOL] * 5)]


def fitting(rows: tuple[Any, ...], facts: Any) -> list[Any]:
    names = [field.name for field in fields(rows[0]) if field.name != "verdict"]
    return [row for row in rows if all(getattr(row, n) in (None, getattr(facts, n)) for n in names)]


@pytest.mark.parametrize(("rows", "every"), [(LAUNCH_ROWS, LAUNCHES), (GENERAL_ROWS, KERNELS)])
def test_exactly_one_row_fits_whatever_is_known(rows: Any, every: Any) -> None:
    for facts in every:
        assert fitting(rows, facts) == [row_for(rows, facts)]
    assert {row_for(rows, facts) for facts in every} == set(rows)


def test_a_launch_is_free_by_the_model_only_if_the_model_holds_and_leaves_nothing_open() -> None:
    for facts in LAUNCHES:
        verdict = row_for(LAUNCH_ROWS, facts).verdict
        proved = facts.verified and facts.conflicting == "none" and facts.decided
        assert (verdict.free and verdict.proof != "this record") == proved
        if proved:
            assert verdict.proof == ("this launch" if facts.general == "none" else facts.general)
        disproved = facts.verified and facts.conflicting == "sure" and not facts.orderly
        assert (not verdict.free and verdict.proof != "this record") == disproved
        if not proved and not disproved:
            assert verdict.free == (not facts.recorded)


def test_witnesses_are_the_conflicts_that_take_place_or_all_where_the_record_decides() -> None:
    for facts in LAUNCHES:
        verdict = row_for(LAUNCH_ROWS, facts).verdict
        if not facts.verified or facts.conflicting == "none":
            assert verdict.witnesses == "none"
        else:
            assert verdict.witnesses == ("sure" if verdict.proof == "this launch" else "all")
        assert verdict.ordered == (verdict.free and facts.verified and facts.conflicting == "sure")


def test_a_kernel_is_proved_only_where_everything_is_known() -> None:
    for facts in KERNELS:
        verdict = row_for(GENERAL_ROWS, facts).verdict
        known = facts.affine and facts.decided
        assert verdict.free == (known and (not facts.conflicting or (facts.solved and facts.free_here)))
        assert (verdict.proof == "all sizes") == (known and not facts.conflicting)
        assert (verdict.proof == "some sizes") == (known and facts.conflicting and facts.solved)


def test_the_record_is_not_asked_where_the_model_decides() -> None:
    class Asked(Launch):
        def __getattribute__(self, name: str) -> Any:
            if name == "recorded":
                raise AssertionError("asked the record")
            return super().__getattribute__(name)

    for facts in LAUNCHES:
        row = row_for(LAUNCH_ROWS, facts)
        if row.recorded is None:
            assert row_for(LAUNCH_ROWS, Asked(**vars(facts))) is row


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


ROWS_BY_LAUNCH: list[tuple[int, Callable[[], Any], Callable[[KernelScop], None] | None]] = [
    (0, CASES["blocks_side_by_side"].run, refuted),
    (1, CASES["blocks_overlap"].run, refuted),
    (2, CASES["blocks_side_by_side"].run, None),
    (3, CASES["rows"].run, None),
    (4, an_example("sparse_matmul"), None),
    (5, CASES["scattered_to_a_permutation"].run, None),
    (6, CASES["scattered_to_one_place"].run, None),
    (7, lambda: masked([[1, 0, 0, 1], [0, 1, 1, 0]]), None),
    (8, lambda: masked([[1, 0, 0, 1], [1, 1, 1, 0]]), None),
    (9, CASES["blocks_overlap"].run, None),
    (10, an_example("producer_consumer"), None),
    (11, stored_after_the_ticket, None),
]


def test_each_row_of_a_launch_has_a_launch_here() -> None:
    assert [row for row, *_ in ROWS_BY_LAUNCH] == list(range(len(LAUNCH_ROWS)))


@pytest.mark.parametrize(("row", "run", "change"), ROWS_BY_LAUNCH)
def test_the_row_that_decides_a_launch(
    row: int, run: Callable[[], Any], change: Callable[[KernelScop], None] | None
) -> None:
    scop = scop_of(run)
    if change is not None:
        change(scop)
    wanted = LAUNCH_ROWS[row]
    assert row_for(LAUNCH_ROWS, LaunchEvidence(scop)) is wanted
    found, verdict = races(scop), wanted.verdict
    assert (found.free, found.proof, found.ordered) == (verdict.free, verdict.proof, verdict.ordered)
    assert bool(found.witnesses) == (verdict.witnesses != "none")
    assert bool(found.open) == (verdict.proof == "this record" and wanted.conflicting != "sure")
    if change is None:
        assert found.free == (not recorded.races(scop.launch)) or found.ordered


def unanswered(*_: Any) -> Any:
    raise TooHard("for this test")


@pytest.mark.parametrize(
    ("row", "name", "patch"),
    [
        (0, "scattered_to_a_permutation", {}),
        (1, "blocks_side_by_side", {"conflicts": lambda scop: ([], ["for this test"])}),
        (2, "blocks_side_by_side", {}),
        (3, "rows", {"_safe_sizes": unanswered}),
        (4, "rows", {}),
        (5, "blocks_overlap", {}),
    ],
)
def test_the_row_that_decides_a_kernel(
    row: int, name: str, patch: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    general = scop_of(CASES[name].run).general
    for what, instead in patch.items():
        monkeypatch.setattr(kernel_race, what, instead)
    assert row_for(GENERAL_ROWS, GeneralEvidence(general)) is GENERAL_ROWS[row]
    found, verdict = races(general), GENERAL_ROWS[row].verdict
    assert (found.free, found.proof) == (verdict.free, verdict.proof)
    assert bool(found.open) == (verdict.proof == "none")
    assert (found.condition is not None) == (verdict.proof == "some sizes")
    assert found.parameters == general.parameters
