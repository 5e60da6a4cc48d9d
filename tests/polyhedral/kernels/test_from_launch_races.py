"""The verdict on races against what launches recorded, for kernels with and without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import islpy as isl
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.polyhedral import recorded
from tests.polyhedral.races import CASES
from tests.polyhedral.recorded import scop
from triton_lab.examples import all_examples, example
from triton_lab.polyhedral.core import isl_effort
from triton_lab.polyhedral.kernels.races.race_verdict import Race


@pytest.fixture(autouse=True)
def _on_cpu() -> Iterator[None]:
    with lab.target("cpu"):
        yield


def meets(launch: Any, race: Race) -> bool:
    """Whether the record has the two programs of ``race`` at its element, one of them storing."""
    argument = launch.argument(race.argument)
    strides = argument.strides if len(race.element) == len(argument.shape) else (1,)
    offset = sum(i * s for i, s in zip(race.element, strides, strict=True))
    address = argument.address + offset * argument.itemsize
    stored, touched = recorded.programs_at(launch, address, argument.itemsize)
    pair = {race.first.program, race.second.program}
    return len(pair) == 2 and pair <= touched and bool(pair & stored)


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_is_that_of_the_record(name: str) -> None:
    case = CASES[name]
    with lab.record() as launches:
        case.run()
    (launch,) = launches
    assert recorded.races(launch) == case.races
    model = scop(launch)
    assert model.verification.complete == (model.verification.unchecked == ())
    assert model.is_race_free == (not case.races)
    assert (model.races.proof != "this record") == case.decided
    assert bool(model.races.witnesses) == (case.races and case.decided)
    for race in model.races.witnesses:
        assert meets(launch, race), str(race)


@pytest.mark.parametrize("name", [e.name for e in all_examples()])
def test_examples_are_race_free(name: str) -> None:
    found = example(name)
    with lab.record() as launches:
        found.run(**found.inputs("small", 0, "cpu"))
    for launch in launches:
        verdict = scop(launch).races
        assert verdict.free
        if name == "grouped_gemm":
            assert verdict.proof == "this record" and verdict.open
        elif recorded.races(launch):
            # Locks and flags: programs do meet, in an order.
            assert verdict.ordered and all(meets(launch, race) for race in verdict.witnesses)
        else:
            assert verdict.proof in ("all sizes", "some sizes", "this launch")


def test_vector_add_is_race_free_for_every_size_and_grid() -> None:
    found = example("vector_add")
    with lab.record() as launches:
        found.run(**found.inputs("small", 0, "cpu"))
    verdict = scop(launches[0]).races
    assert verdict.proof == "all sizes" and verdict.parameters == ("n", "grid") and not verdict.fixed


def test_what_isl_did_before_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl_effort, "OPERATIONS", 50_000)
    found = example("vector_add")
    with lab.record() as launches:
        found.run(**found.inputs("small", 0, "cpu"))
    hard = isl.Set("{ [a, b, c] : exists e, f: a = 7e + 3f and b = 5e - 2f + c and 0 <= a, b, c <= 90 }")
    for _ in range(200):
        hard.subtract(hard.lexmin()).count_val()
    assert scop(launches[0]).races.proof == "all sizes"


@triton.jit
def rows_kernel(out_ptr, columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * row_stride + column, 1.0 * column, mask=column < columns)


@pytest.mark.parametrize("columns", [20, 24])
def test_the_sizes_without_a_race_are_told(columns: int) -> None:
    """Rows that begin every 20 elements are apart for up to 20 columns, or if there is but one."""
    with lab.record() as launches:
        rows_kernel[(3,)](torch.zeros(3, 32), columns, 20, BLOCK=32)
    model = scop(launches[0])
    general = model.general.races
    assert general.proof == "some sizes" and general.fixed == {"row_stride": 20}
    assert general.free == model.is_race_free == (columns <= 20)
    expected = isl.Set("[columns, grid] -> { : columns <= 20 or grid = 1 }").gist(
        isl.Set("[columns, grid] -> { : columns >= 0 and grid >= 1 }")
    )
    assert general.condition is not None
    context = isl.Set("[columns, grid] -> { : columns >= 0 and grid >= 1 }")
    assert general.condition.intersect(context).is_equal(expected.intersect(context))


@triton.jit
def strided_kernel(x_ptr, out_ptr, n, step, stride, shift, BLOCK: tl.constexpr, MASK: tl.constexpr):
    index = tl.program_id(0) * step + tl.arange(0, BLOCK)
    mask = index < n if MASK else index >= 0
    x = tl.load(x_ptr + index * stride, mask=mask, other=0.0)
    tl.store(out_ptr + index * stride + shift, x, mask=mask)


@settings(max_examples=60, deadline=None)
@given(
    block=st.sampled_from([4, 8, 16]),
    n=st.integers(0, 70),
    step=st.integers(0, 20),
    stride=st.integers(1, 5),
    shift=st.integers(0, 9),
    grid=st.integers(1, 6),
    mask=st.booleans(),
    same=st.booleans(),
)
def test_strided_copies(
    block: int, n: int, step: int, stride: int, shift: int, grid: int, mask: bool, same: bool
) -> None:
    x = torch.zeros(700)
    out = x if same else torch.zeros(700)
    with lab.target("cpu"), lab.record() as launches:
        strided_kernel[(grid,)](x, out, n, step, stride, shift, BLOCK=block, MASK=mask)
    check(launches[0])


@settings(max_examples=25, deadline=None)
@given(
    step=st.integers(0, 20),
    stride=st.integers(1, 3),
    same=st.booleans(),
    others=st.lists(st.tuples(st.integers(2, 90), st.integers(2, 40), st.integers(1, 5)), min_size=4, max_size=4),
)
def test_the_sizes_without_a_race_are_those_of_other_launches(
    step: int, stride: int, same: bool, others: list[tuple[int, int, int]]
) -> None:
    """The condition found from the first launch tells for all of them."""
    x = torch.zeros(900)
    out = x if same else torch.zeros(900)
    with lab.target("cpu"), lab.record() as launches:
        for n, shift, grid in others:
            strided_kernel[(grid,)](x, out, n, step, stride, shift, BLOCK=16, MASK=True)
    model = scop(launches[0]).general
    assert model.races.exact and {"n", "shift", "grid"} <= set(model.parameters) | {"grid"}
    if model.races.proof == "none":
        return  # too hard for isl
    for launch, (n, shift, grid) in zip(launches, others, strict=True):
        if model.races.proof == "all sizes":
            assert not recorded.races(launch)
            continue
        condition = model.races.condition
        assert condition is not None
        for name, value in {"n": n, "shift": shift, "grid": grid}.items():
            place = condition.find_dim_by_name(isl.dim_type.param, name)
            if place >= 0:
                condition = condition.fix_val(isl.dim_type.param, place, value)
        assert condition.is_empty() == recorded.races(launch)


@triton.jit
def tiles_kernel(
    x_ptr, out_ptr, rows, columns, sr, sc, tr, tc, BR: tl.constexpr, BC: tl.constexpr, CYCLE: tl.constexpr
):
    program = tl.program_id(0)
    across = tl.cdiv(columns, BC)
    row = ((program // across) % CYCLE * BR + tl.arange(0, BR))[:, None]
    column = (program % across * BC + tl.arange(0, BC))[None, :]
    mask = (row < rows) & (column < columns)
    tl.store(out_ptr + row * tr + column * tc, tl.load(x_ptr + row * sr + column * sc, mask=mask), mask=mask)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 14),
    columns=st.integers(1, 14),
    strides=st.tuples(*[st.integers(1, 15)] * 4),
    blocks=st.tuples(*[st.sampled_from([2, 4, 8])] * 2),
    cycle=st.integers(1, 8),
    same=st.booleans(),
)
def test_tiles_with_any_strides(
    rows: int,
    columns: int,
    strides: tuple[int, int, int, int],
    blocks: tuple[int, int],
    cycle: int,
    same: bool,
) -> None:
    x = torch.zeros(16 * 15 * 2)
    out = x if same else torch.zeros(16 * 15 * 2)
    grid = triton.cdiv(rows, blocks[0]) * triton.cdiv(columns, blocks[1])
    with lab.target("cpu"), lab.record() as launches:
        tiles_kernel[(grid,)](x, out, rows, columns, *strides, BR=blocks[0], BC=blocks[1], CYCLE=cycle)
    check(launches[0])


def check(launch: Any) -> None:
    model = scop(launch)
    assert model.verification.complete and not model.gaps
    assert model.is_race_free == (not recorded.races(launch))
    assert model.races.proof in ("all sizes", "some sizes", "this launch")
    assert all(meets(launch, race) for race in model.races.witnesses)
    if not model.general.gaps:
        general = model.general.races
        assert general.proof == "none" or general.free == model.is_race_free


@triton.jit
def two_sizes_kernel(out_ptr, stride, start, wide_stride, wide_start):
    program = tl.program_id(0)
    tl.store(out_ptr + start + program * stride, 1)
    wide = out_ptr + 4 * (wide_start + program * wide_stride)
    tl.store(wide.to(tl.pointer_type(tl.int32)), 2)


@pytest.mark.parametrize(("stride", "wide_stride"), [(4, 1), (5, 1), (1, 2), (3, 1), (8, 2), (2, 3)])
@pytest.mark.parametrize("start", [0, 3, 16, 19, 23])
def test_bytes_of_two_sizes_meet_where_they_overlap(stride: int, wide_stride: int, start: int) -> None:
    """Some byte of one program's word is another program's byte."""
    out = torch.zeros(64, dtype=torch.int8)
    with lab.record() as launches:
        two_sizes_kernel[(4,)](out, stride, start, wide_stride, 3)
    found = scop(launches[0]).races
    pairs = {
        frozenset((a, b)): start + a * stride
        for a in range(4)
        for b in range(4)
        if a != b and 0 <= start + a * stride - 4 * (3 + b * wide_stride) < 4
    }
    assert found.free == (not pairs) == (not found.witnesses)
    for race in found.witnesses:
        (element,) = race.element
        assert abs(pairs[frozenset((race.first.program, race.second.program))] - element) < 4
