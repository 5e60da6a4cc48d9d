"""Bounds of rounding: what is lawful stays within them, held against float64 and against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.launch.comparison.kernels import (
    added_up,
    copied,
    exponential,
    quotient,
    recorded,
    row_sum,
    scale_and_shift,
)  # fmt: skip
from triton_lab.examples import example
from triton_lab.ir import Op
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.bounds.rounding_rules import between, gamma, own, power
from triton_lab.launch.comparison.launch_results import before, of_launch
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.gallery import launches_of

ordinary = st.floats(min_value=-(2.0**20), max_value=2.0**20, width=32)


def off(launch: Launch, exact: Any, same: bool = False) -> Any:
    """By how much more than the bound the launch is off; at most 0 where the bound holds."""
    made = of_launch(launch).arrays["out_ptr"].astype(np.float64)
    return np.abs(made - np.asarray(exact, np.float64)) - bounds(launch, same)["out_ptr"].size


@settings(deadline=None, max_examples=30)
@given(st.lists(ordinary, min_size=16, max_size=16), st.sampled_from([torch.float32, torch.bfloat16, torch.float16]))
def test_a_sum_is_within_the_bound_of_the_exact_one(numbers: list[float], dtype: torch.dtype) -> None:
    x = (torch.tensor(numbers) / (64 if dtype == torch.float16 else 1)).to(dtype).reshape(1, 16)
    launch = recorded(lambda: row_sum[(1,)](x, torch.empty(1, dtype=dtype), 16, BLOCK=16))
    exact = float(sum(Fraction(float(value)) for value in x.flatten()))
    result = of_launch(launch).arrays["out_ptr"].astype(np.float64)
    if np.isfinite(result).all():
        assert (off(launch, [exact]) <= 0).all()


@settings(deadline=None, max_examples=30)
@given(st.lists(ordinary, min_size=16, max_size=16), st.lists(ordinary, min_size=16, max_size=16))
def test_a_product_and_a_sum_may_be_one_rounding(left: list[float], right: list[float]) -> None:
    x, y = torch.tensor(left), torch.tensor(right)
    launch = recorded(lambda: scale_and_shift[(1,)](x, y, torch.empty(16), 16, BLOCK=16))
    fused = [float(np.float32(float(Fraction(a) * Fraction(b) + Fraction(b)))) for a, b in zip(
        x.tolist(), y.tolist(), strict=True)]  # fmt: skip
    assert (off(launch, fused, same=True) <= 0).all()
    assert (off(launch, fused) <= 0).all()


def test_what_every_target_rounds_alike_must_be_bit_equal() -> None:
    x = torch.randn(64)
    launch = recorded(lambda: copied[(2,)](x, torch.zeros(64), BLOCK=32, SHIFT=0))
    assert not bounds(launch, same=True)["out_ptr"].any
    assert not bounds(launch, same=False)["out_ptr"].any


def test_an_approximated_function_may_be_off_by_its_units() -> None:
    x = torch.linspace(-20, 20, 256)
    launch = recorded(lambda: exponential[(1,)](x, torch.empty(256), BLOCK=256))
    found = bounds(launch)["out_ptr"].size / np.spacing(of_launch(launch).arrays["out_ptr"])
    assert found.min() >= 1 and found.max() < 100
    # The exponent is a product that was rounded: the larger it is the more of the result is lost.
    assert found[0] > found[100]


def test_a_power_changes_as_much_as_its_function_between_the_ends_of_its_operand() -> None:
    """Far below zero it stays zero however wide the bound is, and near the greatest number it may overflow."""
    launch = recorded(lambda: exponential[(1,)](torch.zeros(16), torch.empty(16), BLOCK=16))
    (op,) = [op for op in launch.executable.plan.walk() if op.name == "math.exp"]
    x = np.array([-1e30, -200.0, -1.0, 0.5, 0.5, 80.0, np.inf])
    error = np.array([1e23, 1e-3, 1e-7, 1e-7, 2.0, 0.5, 1.0])
    with np.errstate(all="ignore"):
        result = np.exp(x).astype(np.float32).astype(np.float64)
        far = np.exp(x + error) - np.exp(x)
    found = between(op, np.exp, x, result, error, 2.0**-149)
    assert found[0] == 0 and np.isinf(found[-1])
    assert (found[1:-1] >= far[1:-1]).all() and (found[2:-1] <= 1.4 * far[2:-1]).all()


def test_a_quotient_by_what_may_be_zero_has_no_bound() -> None:
    x, y = torch.ones(32), torch.ones(32)
    launch = recorded(lambda: quotient[(1,)](x, y, torch.empty(32), BLOCK=32))
    assert np.isfinite(bounds(launch)["out_ptr"].size).all()


@pytest.mark.parametrize("name", ["math.exp", "math.exp2"])
def test_the_short_way_to_a_power_s_bound_gives_as_much(name: str) -> None:
    rng, op, u = np.random.default_rng(0), Op(name, (0,), (1,), {}, (), (), None, 0), 2.0**-24
    function = {"math.exp": np.exp, "math.exp2": np.exp2}[name]
    x, error = rng.uniform(-90, 60, 1000).astype(np.float32), 10.0 ** rng.uniform(-9, -2.6, 1000)
    result = function(x).astype(np.float64)
    moved, fresh = between(op, function, x.astype(np.float64), result, error, 0.0), own(op, x, result, u)
    for same in (True, False):
        found = power(op, x, result, error, u, same)
        rate = (2 if same else 3) * u
        whole = rate * result + moved * (1 + rate) + (fresh if same else 0.0)
        least = whole if same else np.maximum(moved + fresh, whole)
        assert found is not None and (found >= least * (1 - 1e-12)).all() and (found <= 1.1 * least).all()
    assert power(op, x, result, np.where(x > 0, error, 0.0), u, True) is None
    assert power(op, x, np.where(x > 50, np.inf, result), error, u, True) is None


def test_atomic_sums_come_in_any_order() -> None:
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.standard_normal(256), dtype=torch.float32)
    launch = recorded(lambda: added_up[(8,)](x, torch.ones(4), BLOCK=32))
    bound = bounds(launch)["out_ptr"].size
    made = of_launch(launch).arrays["out_ptr"]
    assert (before(launch)["out_ptr"] == 1).all()
    for _ in range(20):
        other = np.ones(4, np.float32)
        for k in rng.permutation(256):
            other[k % 4] += np.float32(x[k])
        assert (np.abs(made.astype(float) - other) <= bound).all()


def test_gamma_is_highams() -> None:
    assert gamma(3.0, 2.0**-24) == pytest.approx(3 * 2.0**-24 / (1 - 3 * 2.0**-24))
    assert gamma(1.0, 1.0) == np.inf and gamma(0.0, 0.5) == 0


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "matmul_float32", "matmul_bfloat16", "attention_causal"])
def test_bounds_of_whole_kernels_are_finite_and_small(name: str) -> None:
    launch = launches_of(example(name))[0]
    results = of_launch(launch)
    for same in (True, False):
        found = bounds(launch, same)
        for written in results.written:
            made = np.abs(results.arrays[written].astype(np.float64))
            assert np.isfinite(found[written].size).all(), written
            assert found[written].size.max() <= 0.2 * made.max(), (same, written)
