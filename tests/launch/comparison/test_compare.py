"""Launches beside launches, functions and tensors: what is compared, what is said, and where it went wrong first."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
import torch
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import (
    added_up,
    copied,
    exponential,
    quantised,
    recorded,
    row_sum,
    scale_and_shift,
    tile_product,
    two_stores,
)  # fmt: skip
from tests.wordings import Wording
from triton_lab.examples.matmul import matmul
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR, UNKNOWN
from triton_lab.launch.comparison.first_divergence import Lead
from triton_lab.launch.comparison.launch_results import before, of_launch
from triton_lab.launch.launch import Launch


def sums(dtype: torch.dtype = torch.float32, n: int = 100, block: int = 128, seed: int = 0) -> Launch:
    x = torch.randn(8, n, generator=torch.Generator().manual_seed(seed)).to(dtype)
    out = torch.empty(8, dtype=dtype)
    return recorded(lambda: row_sum[(8,)](x, out, n, BLOCK=block))


def test_results_are_what_the_tensors_hold_at_the_end() -> None:
    x, out = torch.randn(3, 40).t(), torch.full((40, 3), 7.0)
    y, wide = x.contiguous(), torch.zeros(256)
    launch = recorded(lambda: scale_and_shift[(1,)](y, y, out, 120, BLOCK=128))
    found = of_launch(launch)
    assert found.written == ("out_ptr",)
    assert np.array_equal(found.arrays["out_ptr"], out.numpy())
    assert (before(launch)["out_ptr"] == 7).all()
    view = wide[1::2]
    launch = recorded(lambda: copied[(1,)](torch.arange(64.0), view, BLOCK=64, SHIFT=0))
    assert np.array_equal(of_launch(launch).arrays["out_ptr"], view.numpy())


def test_a_function_of_torch_gets_the_arguments_by_name_as_they_were() -> None:
    x = torch.randn(8, 100)
    launch = recorded(lambda: row_sum[(8,)](x, torch.empty(8), 100, BLOCK=128))
    x.zero_()
    given: dict[str, Any] = {}

    def reference(x_ptr: torch.Tensor, n: int, BLOCK: int) -> torch.Tensor:
        given.update(n=n, BLOCK=BLOCK)
        return x_ptr.double().sum(1)

    found = lab.compare(launch, reference)
    assert given == {"n": 100, "BLOCK": 128}
    assert found.verdict in (EQUAL, NEAR)
    assert found.titles == ("row_sum (CPU)", "reference")


def test_a_function_may_change_its_tensors_and_aliases_stay_aliases() -> None:
    x = torch.arange(64.0)
    launch = recorded(lambda: copied[(1,)](x, x[32:], BLOCK=32, SHIFT=0))

    def inplace(x_ptr: torch.Tensor, out_ptr: torch.Tensor, **_: Any) -> None:
        out_ptr[:32] = x_ptr[:32].clone()

    found = lab.compare(launch, inplace)
    assert found.verdict == EQUAL
    assert found["out_ptr"].a.tolist() == list(range(32))


@pytest.mark.parametrize("given", [lambda x: x, lambda x: (x,), lambda x: {"out_ptr": x}])
def test_what_is_expected_may_be_given_in_any_form(given: Any) -> None:
    launch = sums()
    expected = torch.from_numpy(of_launch(launch).arrays["out_ptr"])
    assert lab.compare(launch, given(expected)).verdict == EQUAL
    found = lab.compare(launch, given(expected + 1))
    assert found.verdict == DIFFERENT and found["out_ptr"].count == 8


def test_what_does_not_fit_is_told(wording: Wording) -> None:
    launch = sums()
    with pytest.raises(ValueError, match=r"row_sum .* out_ptr.* 2 tensors"):
        lab.compare(launch, (torch.zeros(8), torch.zeros(8)))
    with pytest.raises(ValueError, match=r"out_ptr .*\(8,\).*\(7,\)"):
        lab.compare(launch, torch.zeros(7))
    with pytest.raises(ValueError, match=r"'y'.* row_sum .*: x_ptr"):
        lab.compare(launch, lambda y: y)
    with pytest.raises(ValueError, match=r"n is .* row_sum"):
        lab.compare(launch, {"n": torch.zeros(8)})
    with pytest.raises(LookupError, match=r"row_sum .* 'out'"):
        lab.compare(launch, {"out": torch.zeros(8)})
    for odd in (np.array([{}] * 8), np.array(["x"] * 8), np.array([b"x"] * 8), np.ones(8, complex)):
        with pytest.raises(TypeError, match=r"out_ptr .* ndarray"):
            lab.compare(launch, odd)
    with pytest.raises(TypeError, match=r"out_ptr .*\.\.\."):  # as the line below a card is copied
        lab.compare(launch, lambda **_: ...)
    with pytest.raises(ValueError, match=r"row_sum .* CPU") as alone:
        lab.compare(launch)
    wording(alone.value, kernel="row_sum")
    with pytest.raises(TypeError, match="Tensor") as wrong:
        lab.compare(torch.zeros(8), launch)  # type: ignore[arg-type]
    wording(wrong.value, "no launch", type="Tensor")
    with pytest.raises(KeyError, match=r"nothing .* out_ptr, x_ptr"):
        _ = lab.compare(launch, launch)["nothing"]


def test_a_launch_is_bit_equal_to_itself_run_again() -> None:
    found = lab.compare(sums(), sums())
    assert found.verdict == EQUAL and found.same and found.first is None and found.remarks == ()
    assert [one.name for one in found] == ["out_ptr", "x_ptr"]
    assert found.titles == ("row_sum (CPU, a)", "row_sum (CPU, b)")


def test_other_inputs_are_named(wording: Wording) -> None:
    found = lab.compare(sums(seed=1), sums(seed=2))
    assert found.verdict == DIFFERENT
    (one,) = found.differences
    assert one.kind == "contents"
    wording(one.told(), name="x_ptr")


def test_two_dtypes_are_near() -> None:
    x = torch.randn(8, 100, generator=torch.Generator().manual_seed(1))
    low, high = (
        recorded(lambda given=given: row_sum[(8,)](given, torch.empty(8, dtype=given.dtype), 100, BLOCK=128))
        for given in (x.half(), x)
    )
    found = lab.compare(low, high)
    assert found["out_ptr"].dtype == np.float16
    # The inputs were rounded, too: of that the bound knows nothing.
    assert found["out_ptr"].largest_ulps is not None and found["out_ptr"].largest_ulps.value < 100


def test_two_kernels_are_compared_by_name_and_then_by_order() -> None:
    x = torch.rand(64)
    a = recorded(lambda: exponential[(1,)](x, torch.empty(64), BLOCK=64))
    b = recorded(lambda: copied[(1,)](x, torch.zeros(64), BLOCK=64, SHIFT=0))
    found = lab.compare(a, b)
    assert not found.same and found["out_ptr"].verdict == DIFFERENT and found["x_ptr"].verdict == EQUAL


def test_the_first_store_that_differs_is_the_earliest() -> None:
    x = torch.arange(32.0)
    launch = recorded(lambda: two_stores[(1,)](x, torch.empty(96), BLOCK=32))
    expected = torch.cat([x, x + 1, x + 2])
    expected[40] += 1
    expected[70] += 1
    first = lab.compare(launch, expected).first
    assert first is not None
    assert (first.iteration, first.program, first.lanes, first.index) == (1, 0, (8,), (40,))
    assert first.line == two_stores.starting_line_number + 5
    assert [(origin.argument, origin.elements.tolist()) for origin in first.origins] == [("x_ptr", [8])]
    assert (first.a, first.b) == (9.0, 10.0)


def test_a_wrong_mask_shows_at_its_first_lane() -> None:
    x = torch.arange(64.0) + 1
    a, b = (recorded(lambda s=s: copied[(2,)](x, torch.zeros(64), BLOCK=32, SHIFT=s)) for s in (0, 3))
    first = lab.compare(a, b).first
    assert first is not None and first.program == 0 and first.lanes == (0, 1, 2)


def test_the_variable_that_turned_is_named() -> None:
    g = torch.Generator().manual_seed(1)
    a, b = torch.randn(16, 64, generator=g).half(), torch.randn(64, 16, generator=g).half()

    def run(acc: Any) -> Launch:
        out = torch.empty(16, 16)
        return recorded(lambda: tile_product[(1,)](a, b, out, 64, N=16, BLOCK_K=16, ACC=acc))

    found = lab.compare(run(tl.float32), run(tl.float16))
    assert found.verdict in (NEAR, DIFFERENT)
    first = found.first
    assert first is not None and first.turned is not None and first.turned.name == "acc"
    assert "acc on line" in found.text()


def test_where_the_memory_lies_is_no_difference() -> None:
    a, b = (torch.randn(40, 50, generator=torch.Generator().manual_seed(0)) for _ in range(2))
    launches = [recorded(lambda k=k: matmul(a, b.T.contiguous(), block_k=k)) for k in (16, 32)]
    for found in (lab.compare(*launches), lab.compare(launches[0], lambda **_: {"c_ptr": torch.zeros(40, 40)})):
        assert found.first is not None and found.first.leads
        assert not [lead.name for lead in found.first.leads if "ptrs" in lead.name]


def test_a_launch_whose_memory_was_not_kept_says_so() -> None:
    with lab.target("cpu"), lab.record(max_bytes=64) as launches:
        exponential[(1,)](torch.rand(1024), torch.empty(1024), BLOCK=1024)
    with pytest.raises(lab.CannotReplay, match=r"max_bytes=\d+"):
        lab.compare(launches[0], launches[0])


def test_atomic_sums_are_compared() -> None:
    x = torch.randn(256)
    launch = recorded(lambda: added_up[(8,)](x, torch.zeros(4), BLOCK=32))
    found = lab.compare(launch, lambda x_ptr, **_: x_ptr.view(-1, 4).sum(0))
    assert found.verdict in (EQUAL, NEAR)
    wrong = lab.compare(launch, lambda x_ptr, **_: x_ptr.view(-1, 4).sum(0) + 1)
    assert wrong.verdict == DIFFERENT and wrong.first is not None and "the first atomic" in wrong.text()


def test_a_comparison_is_no_truth_value() -> None:
    with pytest.raises(TypeError, match=r"comparison\.verdict"):
        bool(lab.compare(sums(), sums()))


def test_a_launch_that_was_stopped_is_compared_as_far_as_it_got(wording: Wording) -> None:
    with lab.target("cpu"), lab.record() as launches, pytest.raises(lab.KernelError):
        copied[(2,)](torch.rand(40), torch.zeros(64), BLOCK=32, SHIFT=0)
    (remark,) = lab.compare(launches[0], torch.zeros(64)).remarks
    wording(remark, title="copied (CPU)")


@pytest.mark.parametrize("a", [0.0, -0.0, 1.0, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("b", [0.0, 1.0, math.inf, -math.inf, math.nan, None])
def test_two_sides_differ_where_both_are_known_and_not_the_same_number_or_both_none(a: float, b: float | None) -> None:
    same = b is not None and np.array_equal([a], [b], equal_nan=True)
    assert Lead("x", 1, a, b).differs == (b is not None and not same)


def test_a_record_of_one_launch_stands_for_it(wording: Wording) -> None:
    x = torch.arange(64.0)
    with lab.record() as launches:
        assert len(launches) == 0
    with pytest.raises(ValueError, match="record") as none:
        lab.compare(launches, x)
    wording(none.value, "none")
    with lab.record() as launches:
        exponential[(1,)](x, torch.zeros(64), BLOCK=64)
    assert lab.compare(launches, launches).verdict == "bit-equal"
    with lab.record() as launches:
        exponential[(1,)](x, torch.zeros(64), BLOCK=64)
        exponential[(1,)](x, torch.zeros(64), BLOCK=64)
    with pytest.raises(ValueError, match=r"launches\[0\]") as several:
        lab.compare(launches, x)
    wording(several.value, "several")


def test_what_was_not_looked_at_in_time_is_not_known_and_never_different() -> None:
    x = torch.randn(1 << 12)
    launch = recorded(lambda: exponential[(32,)](x, torch.empty(1 << 12), BLOCK=128))
    late = lab.compare(launch, torch.exp(x) * 2, seconds=0.0)
    assert late.verdict == UNKNOWN and late["out_ptr"].undecided == late["out_ptr"].count == 1 << 12
    assert late["out_ptr"].reason and late["out_ptr"].reason in late.text()
    assert lab.compare(launch, torch.exp(x) * 2, seconds=60.0).verdict == DIFFERENT


def test_causes_end_in_time_and_say_that_others_were_not_tried() -> None:
    comparison = lab.compare(sums(n=1000, block=1024), torch.randn(8))
    start = time.monotonic()
    found = comparison.causes(seconds=0.2)
    assert time.monotonic() - start < 10
    assert found.seconds == 0.2 and not found.known
    assert len(found.experiments) < len(comparison.causes(seconds=600.0).experiments)


def test_a_cast_to_integers_is_exact_unless_rounding_reaches_another_one() -> None:
    x = torch.tensor([0.72, 1.74, -2.66, 3.25, 4.55, -5.95, 6.15, 7.98])
    launch = recorded(lambda: quantised[(1,)](x, torch.empty(8, dtype=torch.int8), 10.0, BLOCK=8))
    right = (x * 10).to(torch.int8)
    assert lab.compare(launch, right).verdict == EQUAL
    for off in (-2, -1, 1, 2):
        found = lab.compare(launch, right + off)
        assert found.verdict == DIFFERENT and found["out_ptr"].beyond == 8
    # 0.7 in float32 is less than 0.7: its product with 10 is just below 7, and is rounded to 7.
    launch = recorded(lambda: quantised[(1,)](x * 0 + 0.7, torch.empty(8, dtype=torch.int8), 10.0, BLOCK=8))
    assert [lab.compare(launch, torch.full((8,), k, dtype=torch.int8)).verdict for k in (6, 7, 8)] == [
        NEAR, EQUAL, DIFFERENT,
    ]  # fmt: skip
