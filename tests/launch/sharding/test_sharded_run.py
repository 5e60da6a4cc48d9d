"""A launch in parts is the launch whole: memory, findings, errors; where it cannot be, it runs whole and says so."""

from __future__ import annotations

import contextlib
import pickle
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.kernels import double
from tests.planted.plant import Plant
from tests.planted.test_planted import PLANTS
from tests.remote.kernels import says
from tests.wordings import Wording
from triton_lab.backend.plugin import launcher
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.launch import Launch
from triton_lab.launch.sharding.sharded_run import ranges

N = 300


@triton.jit
def wanders(x, y, sums, n, STEP: tl.constexpr, SHIFT: tl.constexpr, HOW: tl.constexpr, CELLS: tl.constexpr):
    """Loads at a shift, stores in steps that may overlap, and updates cells that all programs share."""
    offsets = tl.program_id(0) * STEP + tl.arange(0, 16)
    loaded = tl.load(x + offsets + SHIFT, (offsets + SHIFT >= 0) & (offsets + SHIFT < n), other=3)
    tl.store(y + offsets, loaded * 3 + 1, offsets < n)
    if HOW == 1:
        tl.atomic_add(sums + offsets % CELLS, loaded, offsets < n)
    if HOW == 2:
        tl.atomic_max(sums + offsets % CELLS, loaded, offsets < n)
    if HOW == 3:
        tl.atomic_xor(sums + offsets % CELLS, loaded)
        tl.atomic_and(sums + CELLS + offsets % CELLS, loaded)
    if HOW == 4:
        tl.atomic_min(sums + offsets % CELLS, loaded)
        tl.atomic_add(sums + offsets % (CELLS + 1), loaded)
    if HOW == 5:
        tl.store(sums + offsets % 16, tl.atomic_add(sums + 100 + tl.program_id(0) * 0, 1))


def told(finding: Finding) -> dict[str, Any]:
    """All of it but when it was: of a launch in parts nobody knows."""
    names = {one.name for one in fields(finding)} - {"events", "fix", "ends"}
    rest = {name: getattr(finding, name) for name in sorted(names)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in rest.items()}


def ran(parts: int, programs: int, aliased: bool, unfilled: bool, **constants: int) -> tuple[Launch, list[Any], Any]:
    """The launch, what memory holds then, and its error."""
    x, sums = torch.arange(N, dtype=torch.int32) * 7 - 900, torch.arange(400, dtype=torch.int32) - 77
    error = None
    with lab.record(parts=parts) as launches:
        y = x if aliased else torch.empty(N, dtype=torch.int32) if unfilled else torch.zeros(N, dtype=torch.int32)
        try:
            wanders[(programs,)](x, y, sums, constants.pop("n", N), **constants)
        except KernelError as raised:
            error = raised
    return launches[0], [x.tolist(), y.tolist(), sums.tolist()], error


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    parts=st.integers(2, 7),
    programs=st.integers(1, 24),
    aliased=st.booleans(),
    unfilled=st.booleans(),
    STEP=st.sampled_from([16, 16, 16, 20, 15, 1, 0]),
    SHIFT=st.sampled_from([0, 0, 1, -3, 16]),
    HOW=st.integers(0, 5),
    CELLS=st.integers(1, 6),
    n=st.sampled_from([N, N, 290, N + 5]),
)
def test_parts_make_the_whole(parts: int, **case: Any) -> None:
    whole, memory, error = ran(1, **case)
    cut, there, stopped = ran(parts, **case)
    assert (error is None) == (stopped is None)
    if error is None:  # a launch that is stopped leaves in memory what the batches before it did; in parts, nothing
        assert there == memory
    # Of one that is stopped, the parts that were not have gone further than a batch does.
    found = [[told(one) for one in launch.findings if error is None or one.stopped] for launch in (whole, cut)]
    assert found[0] == found[1]
    assert [*map(str, cut.unchecked)] == [*map(str, whole.unchecked)]
    assert bool(cut.dropped) == (not cut.remark)


@pytest.mark.parametrize("plant", PLANTS[::9], ids=lambda plant: f"{plant.kind}: {plant.name}")
def test_planted_bugs_are_told_alike(plant: Plant) -> None:
    found = []
    for parts in (1, 3):
        with lab.record(parts=parts) as launches, contextlib.suppress(KernelError):
            plant.run(False)
        # Of a list of orders, the first part that has one gives it; what a launch ran whole is compared above.
        names = ("kind", "line", "column", "argument", "count", "message", "programs", "lanes", "elements")
        found.append([{name: told(one)[name] for name in names} for launch in launches for one in launch.findings])
    assert found[0] == found[1]


@pytest.mark.parametrize("parts", [2, 5])
@pytest.mark.parametrize("how", [1, 2, 3])
def test_integer_atomics_are_put_together(how: int, parts: int) -> None:
    case = {"programs": 18, "aliased": False, "unfilled": False, "STEP": 16, "SHIFT": 0, "HOW": how, "CELLS": 5}
    _, memory, _ = ran(1, **case)
    cut, there, _ = ran(parts, **case)
    assert not cut.remark and there == memory


def remark(parts: int = 2, **case: int) -> str:
    whole = {"programs": 10, "aliased": 0, "unfilled": 0, "STEP": 16, "SHIFT": 0, "HOW": 0, "CELLS": 3}
    launch, _, _ = ran(parts, **{**whole, **case})  # type: ignore[arg-type]
    return launch.remark.removeprefix("it ran as a whole, not in parts: ")


def test_what_cannot_be_put_together_says_so(wording: Wording) -> None:
    one, other = "one of programs (0, 0, 0) to (4, 0, 0)", "one of programs (5, 0, 0) to (9, 0, 0)"
    line = wanders.starting_line_number
    load, store = f"(line {line + 4})", f"(line {line + 5})"
    assert remark() == ""
    both = {"one": one, "other": other}
    wording(remark(STEP=15), "stores", **both, element="y[75]", line=store)
    wording(remark(aliased=1, SHIFT=1), "load", **both, element="y[80]", first=load, second=store)
    wording(
        remark(HOW=4), "atomics", **both, element="sums[0]", first=f"(line {line + 15})", second=f"(line {line + 14})"
    )
    wording(remark(HOW=5), "result", line=f"(line {line + 17})")


@triton.jit
def adds(x, total):
    tl.atomic_add(total, tl.load(x + tl.program_id(0)))


def test_sums_of_floats_are_not_put_together(wording: Wording) -> None:
    x, total = torch.rand(8), torch.zeros(1)
    with lab.record(parts=4) as launches:
        adds[(8,)](x, total)
    wording(launches[0].remark, line=f"(line {adds.starting_line_number + 2})")
    assert launches[0].accesses  # it ran whole, as ever


def test_a_launch_too_large_to_be_kept_knows_of_the_race_all_the_same() -> None:
    """The parts fit into what a record keeps, and the whole does not."""
    x, y, sums = torch.zeros(40_000, dtype=torch.int32), torch.zeros(40_000, dtype=torch.int32), torch.zeros(400)
    with lab.record(max_bytes=400_000, parts=20) as launches:
        wanders[(2_000,)](x, y, sums, 40_000, STEP=15, SHIFT=0, HOW=0, CELLS=1)
    (launch,) = launches
    assert launch.tape is not None
    found = [one for one in launch.findings if one.kind in ("race", "same-value")]
    assert found and (found[0].kind, found[0].argument) == ("same-value", "y")
    with lab.record(max_bytes=400_000, parts=20) as launches:
        wanders[(2_000,)](x, y, sums, 40_000, STEP=16, SHIFT=0, HOW=0, CELLS=1)
    assert not launches[0].remark and not [one for one in launches[0].findings if one.kind == "same-value"]


def test_what_is_printed_comes_once_and_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    with lab.record(parts=3):
        says[(7,)](torch.arange(7))
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == [*"0123456"]


def test_a_check_raises_what_a_part_has_found() -> None:
    with pytest.raises(lab.CheckFailed, match="never written"), lab.check(parts=3):
        double[(4,)](torch.empty(100), torch.empty(100), 100, BLOCK=32)


def test_an_error_is_raised_and_nothing_is_written() -> None:
    x = torch.zeros(100)
    told = r"out of bounds(.|\n)*copies, part by part: nothing was written"
    with pytest.raises(KernelError, match=told), lab.record(parts=2) as launches:
        double[(4,)](torch.ones(100), x, 128, BLOCK=32)
    assert not x.any()
    assert [one.kind for one in launches[0].findings] == ["out-of-bounds"]


def test_what_a_launch_that_was_stopped_has_not_written_is_unwritten_still() -> None:
    with lab.record(parts=2) as launches:
        y = torch.empty(100)
        with contextlib.suppress(KernelError):
            double[(4,)](torch.ones(100), y, 128, BLOCK=32)
        double[(4,)](y, torch.zeros(100), 100, BLOCK=32)
    assert [(one.kind, one.count) for one in launches[1].findings] == [("uninitialized", 100)]


def test_programs_are_cut_evenly() -> None:
    assert ranges(10, 4) == [range(3), range(3, 6), range(6, 9), range(9, 10)]
    assert ranges(2, 4) == [range(1), range(1, 2)]
    assert ranges(0, 4) == []


def test_a_part_travels() -> None:
    """What is sent and what comes back are plain data."""
    kept = []

    def apart(self: Any, call: Any, work: Any, whole: Any, parts: Any) -> list[Any]:
        kept.append(pickle.dumps(whole))
        return [pickle.loads(pickle.dumps(work(pickle.loads(kept[0]), one))) for one in parts]

    x, y = torch.arange(100.0), torch.zeros(100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launcher.Launcher, "apart", apart)
        with lab.record(parts=3) as launches:
            double[(4,)](x, y, 100, BLOCK=32)
    assert torch.equal(y, 2 * x) and kept and not launches[0].remark


def test_a_launch_of_no_programs_has_no_parts() -> None:
    with lab.record(parts=3) as launches:
        double[(0,)](torch.ones(4), torch.ones(4), 4, BLOCK=4)
    assert not launches[0].remark and [found.kind for found in launches[0].findings] == ["small-grid"]
