"""What is said of a kernel's scop: every verdict's words, ranges of iterators, and who shares what."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import islpy as isl
import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording, line_of
from triton_lab.polyhedral.core.affine_conditions import Constraint
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.launch_scop import KernelScop
from triton_lab.polyhedral.kernels.launch_scop_text import _conditions, condition_text, race_lines
from triton_lab.polyhedral.kernels.races.race_verdict import RaceVerdict


@triton.jit
def windows_kernel(x_ptr, out_ptr, count_ptr, step, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * step + tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + at)))
    tl.atomic_add(count_ptr, 1)


def windows(programs: int, step: int, block: int = 4) -> KernelScop:
    x = torch.ones((programs - 1) * step + block)
    with lab.target("cpu"), lab.record() as launches:
        windows_kernel[(programs,)](x, torch.zeros(programs), torch.zeros(1, dtype=torch.int32), step, BLOCK=block)
    found = lab.polyhedral.scop(launches[0])
    assert isinstance(found, KernelScop)
    return found


@pytest.mark.parametrize(("programs", "step"), [(3, 2), (4, 1), (3, 4), (2, 3), (5, 3)])
def test_footprints_tell_how_many_programs_want_an_element(programs: int, step: int, wording: Wording) -> None:
    model = windows(programs, step)
    wanted = Counter(step * program + lane for program in range(programs) for lane in range(4))
    several = sum(many > 1 for many in wanted.values())
    text = model.explain().splitlines()
    mean = f"{4 * programs / len(wanted):.3g}"
    facts = {"several": f"{several} of {len(wanted)}", "mean": mean} if several else {}
    loads, stores, atomics = (
        line_of("\n".join(text), "Each program", each) for each in ("x_ptr", "out_ptr", "count_ptr")
    )
    wording(loads, "shared" if several else "own", count="4 elements", argument="x_ptr", **facts)
    wording(stores, "stores", count="1 element", argument="out_ptr")
    wording(atomics, "atomics", count="1 element", argument="count_ptr", several="1 of 1", mean=programs)
    assert text[0] == f"windows_kernel: {programs} programs" and text[1] == ""


PARAMETERS: dict[str, Any] = {
    "parameters": ("n", "grid"),
    "fixed": {"step": 3},
    "condition": isl.Set("[n] -> { : n > 3 }"),
}


@pytest.mark.parametrize(
    ("races", "facts"),
    [
        (RaceVerdict(True, "all sizes"), {"parameters": "n, grid"}),
        (RaceVerdict(True, "some sizes"), {"condition": "n >= 4"}),
        (RaceVerdict(True, "some sizes", exact=False), {"condition": "n >= 4"}),
        (RaceVerdict(True, "this launch"), {}),
        (RaceVerdict(True, "this record", ordered=True), {}),
        (RaceVerdict(True, "this record"), {}),
        (RaceVerdict(False, "some sizes"), {"condition": "n >= 4"}),
        (RaceVerdict(False, "some sizes", exact=False), {"condition": "n >= 4"}),
        (RaceVerdict(False, "none"), {}),
        (RaceVerdict(False, "this launch"), {}),
        (RaceVerdict(False, "this record"), {}),
    ],
)
def test_every_verdict_has_its_words(races: RaceVerdict, facts: dict[str, str], wording: Wording) -> None:
    label = f"{'free' if races.free else 'race'}, {races.proof}, {races.exact}, {races.ordered}"
    races = replace(races, open=("a gather",), **PARAMETERS)
    told, gap = race_lines(races)
    assert gap == "  a gather" and (" (with step = 3 as here)" in told) == bool(facts)
    (alone,) = race_lines(replace(races, fixed=None, open=()))
    assert alone == told.replace(" (with step = 3 as here)", "")
    wording(alone, label, **facts)


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("[n] -> { : n > 3 }", "n >= 4"),
        ("[n, m] -> { : n > 3 and m = 2n }", "m = 2n and n >= 4"),
        ("[n] -> { : exists (e : n = 2e) }", "(n) mod 2 = 0"),
    ],
)
def test_a_condition_has_no_frame(condition: str, told: str) -> None:
    assert condition_text(RaceVerdict(True, "some sizes", condition=isl.Set(condition))) == told


@pytest.mark.parametrize("condition", ["[n] -> { : }", "{ : }"])
def test_a_condition_that_always_holds_is_said_to(condition: str, wording: Wording) -> None:
    wording(condition_text(RaceVerdict(True, "some sizes", condition=isl.Set(condition))))


FIRST, SECOND = AffineExpr.of("i"), AffineExpr.of("j")


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ((Constraint(FIRST), Constraint(-FIRST + 9)), ["0 ≤ i ≤ 9"]),
        ((Constraint(FIRST - 2), Constraint(FIRST - 4), Constraint(-FIRST + 9), Constraint(-FIRST + 7)), ["4 ≤ i ≤ 7"]),
        ((Constraint(FIRST + 3),), ["-3 ≤ i"]),
        ((Constraint(-SECOND + 5), Constraint(FIRST)), ["0 ≤ i", "j ≤ 5"]),
        (
            (Constraint(SECOND), Constraint(-SECOND + 3), Constraint(FIRST - SECOND)),
            ["0 ≤ j ≤ 3", str(Constraint(FIRST - SECOND))],
        ),
        ((Constraint(FIRST - 2, equality=True),), [str(Constraint(FIRST - 2, equality=True))]),
        ((Constraint(FIRST * 2 - 3),), [str(Constraint(FIRST * 2 - 3))]),
        ((Constraint(AffineExpr.of("n") - 1),), [str(Constraint(AffineExpr.of("n") - 1))]),
    ],
)
def test_bounds_of_an_iterator_are_one_range(case: tuple[Constraint, ...], told: list[str]) -> None:
    assert list(_conditions(case, ("i", "j"))) == told


def test_the_grid_is_told_by_its_axes() -> None:
    @triton.jit
    def corners_kernel(out_ptr):  # type: ignore[no-untyped-def]
        tl.store(out_ptr + tl.program_id(1) * 3 + tl.program_id(0), 1.0)

    with lab.target("cpu"), lab.record() as launches:
        corners_kernel[(3, 2)](out := torch.zeros(2, 3))
    assert bool(np.all(out.numpy() == 1))
    text = lab.polyhedral.scop(launches[0]).explain()  # type: ignore[union-attr]
    assert text.splitlines()[0] == "corners_kernel: 6 programs (3 × 2)"
    assert "\nVerified: " in text and text.splitlines()[-1].startswith("Race-free")
