"""Each rule of a bound, against the worst of all corners: operands moved by as much as they may be off."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.interpreter.support import kernel_from
from tests.launch.comparison.kernels import recorded
from triton_lab.launch.comparison.bounds.bound import CHOICE
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.launch_results import of_launch
from triton_lab.launch.launch import Launch

LANES, UNIT = 16, 2.0**-24
Corner = Callable[..., Any]


def launch_of(expression: str, *more: str, lanes: int = LANES) -> Launch:
    """``expression`` of ``y`` and ``z``, both off by some fifty units, and of ``w``, which is exact."""
    lines = "".join(f"    {line}\n" for line in more)
    kernel = kernel_from(
        "@triton.jit\n"
        "def kernel(x_ptr, w_ptr, y_ptr, z_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
        "    k = tl.arange(0, BLOCK)\n"
        "    y = tl.exp(tl.load(x_ptr + k))\n"
        "    z = tl.exp(tl.load(x_ptr + BLOCK + k))\n"
        "    w = tl.load(w_ptr + k)\n"
        "    tl.store(y_ptr + k, y)\n"
        "    tl.store(z_ptr + k, z)\n"
        f"{lines}"
        f"    tl.store(out_ptr + k, {expression})\n"
    )
    x = torch.linspace(-14, -9, 2 * lanes)
    w = torch.linspace(-1, 1, lanes) * 1e-5
    empty = [torch.zeros(lanes) for _ in range(3)]
    return recorded(lambda: kernel[(1,)](x, w, *empty, 1, BLOCK=lanes))


def off_by(launch: Launch, same: bool = True) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The values in float64, and their bounds."""
    found = {name: bound.size for name, bound in bounds(launch, same).items()}
    values = of_launch(launch).arrays
    return {name: array.astype(np.float64) for name, array in values.items()}, found


def worst(function: Corner, values: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> tuple[Any, Any]:
    """The result in float64, and how far corners lie from it."""
    y, z, w = values["y_ptr"], values["z_ptr"], values["w_ptr"]
    with np.errstate(all="ignore"):
        here = function(y, z, w)
        corners = [
            np.abs(function(y + a * found["y_ptr"], z + b * found["z_ptr"], w) - here)
            for a, b in itertools.product((-1, 0, 1), repeat=2)
        ]
    return here, np.maximum.reduce(corners)


RULES: dict[str, Corner] = {
    "y + z": lambda y, z, w: y + z,
    "y - z": lambda y, z, w: y - z,
    "z - w": lambda y, z, w: z - w,
    "w + y": lambda y, z, w: w + y,
    "y * z": lambda y, z, w: y * z,
    "y * w": lambda y, z, w: y * w,
    "w * z": lambda y, z, w: w * z,
    "y / z": lambda y, z, w: y / z,
    "w / y": lambda y, z, w: w / y,
    "z / 3.0": lambda y, z, w: z / 3,
    "tl.fma(y, z, w)": lambda y, z, w: y * z + w,
    "tl.fma(w, y, z)": lambda y, z, w: w * y + z,
    "-y": lambda y, z, w: -y,
    "tl.abs(-z)": lambda y, z, w: z,
    "tl.exp2(1e4 * y)": lambda y, z, w: np.exp2(1e4 * y),
    "tl.log(y)": lambda y, z, w: np.log(y),
    "tl.sqrt(z)": lambda y, z, w: np.sqrt(z),
    "tl.rsqrt(y)": lambda y, z, w: 1 / np.sqrt(y),
    "libdevice.tanh(y)": lambda y, z, w: np.tanh(y),
    "tl.where(w > 0, y, z * 2)": lambda y, z, w: np.where(w > 0, y, z * 2),
    "tl.where(w > 0, w, z)": lambda y, z, w: np.where(w > 0, w, z),
    "tl.cumsum(y, 0)": lambda y, z, w: np.cumsum(y),
    "tl.cumsum(z, 0, reverse=True)": lambda y, z, w: np.cumsum(z[::-1])[::-1],
    "tl.sum(y, 0) + w": lambda y, z, w: y.sum() + w,
    "tl.sum(tl.reshape(y, (4, BLOCK // 4)), 0, keep_dims=True).broadcast_to((4, BLOCK // 4)).reshape((BLOCK,))": (
        lambda y, z, w: np.tile(y.reshape(4, -1).sum(0), 4)
    ),
}
EXACT = ("-y", "tl.abs(-z)", "tl.where(w > 0, w, z)")


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("expression", RULES)
def test_a_bound_holds_at_every_corner_and_is_little_more(expression: str, same: bool) -> None:
    values, found = off_by(launch_of(expression), same)
    here, far = worst(RULES[expression], values, found)
    bound = found["out_ptr"]
    assert (found["y_ptr"] > 30 * UNIT * values["y_ptr"]).all(), "the operands are off by many units"
    assert (far <= bound * (1 + 1e-6)).all()
    terms = LANES if "sum" in expression else 1
    size = np.abs(here) + (1.0 if "log" in expression else 0.0)
    assert (bound <= 1.001 * far + 12 * terms * UNIT * size + 2.0**-20 * ("log" in expression)).all()
    if expression in EXACT:
        assert np.allclose(bound, far, rtol=1e-12)


@pytest.mark.parametrize(
    ("expression", "function"),
    [
        ("tl.maximum(y, z)", np.maximum),
        ("tl.minimum(z, y)", np.minimum),
        ("tl.maximum(y, w)", lambda y, z: np.maximum(y, np.float32(np.linspace(-1, 1, LANES)) * np.float32(1e-5))),
    ],
)
def test_the_greater_of_two_lies_between_their_least_and_their_greatest(expression: str, function: Corner) -> None:
    launch = launch_of(expression)
    values, found = of_launch(launch).arrays, bounds(launch)
    ends = []
    for sign in (-1, 1):
        y, z = (values[name].astype(np.float64) + sign * found[name].size for name in ("y_ptr", "z_ptr"))
        ends.append(function(y, z))
    out = values["out_ptr"].astype(np.float64)
    assert np.allclose(out - found["out_ptr"].below, ends[0], rtol=1e-9, atol=1e-12)
    assert np.allclose(out + found["out_ptr"].above, ends[1], rtol=1e-9, atol=1e-12)


def test_extremes_of_many_are_off_by_the_most() -> None:
    _, found = off_by(launch_of("tl.max(y, 0) + 0.0 * k"))
    most = found["y_ptr"].max()
    assert (found["out_ptr"] >= most).all() and (found["out_ptr"] <= 1.1 * most).all()


MOVES: dict[str, tuple[tuple[str, ...], Corner]] = {
    "tl.gather(y, (k + 1) % BLOCK, 0)": ((), lambda y, z: np.roll(y, -1)),
    "tl.gather(y, BLOCK - 1 - k, 0)": ((), lambda y, z: y[::-1]),
    "tl.reshape(tl.trans(tl.reshape(y, (4, BLOCK // 4))), (BLOCK,))": ((), lambda y, z: y.reshape(4, -1).T.reshape(-1)),
    "tl.reshape(tl.join(second, first), (BLOCK,))": (
        ("first, second = tl.split(tl.reshape(y, (BLOCK // 2, 2)))",),
        lambda y, z: y.reshape(-1, 2)[:, ::-1].reshape(-1),
    ),
    "tl.reshape(tl.permute(tl.join(y, z), (1, 0)), (2 * BLOCK,)).reshape((2, BLOCK)).sum(0) * 0.0 + y": (
        (), lambda y, z: y,
    ),
}  # fmt: skip


@pytest.mark.parametrize("expression", MOVES)
def test_what_only_moves_elements_moves_their_bounds(expression: str) -> None:
    more, moved = MOVES[expression]
    _, found = off_by(launch_of(expression, *more))
    expected = moved(found["y_ptr"], found["z_ptr"])
    if "sum" in expression:
        assert (found["out_ptr"] >= expected).all() and (found["out_ptr"] <= 1.2 * expected).all()
    else:
        assert np.array_equal(found["out_ptr"], expected)


def test_an_answer_is_lost_just_where_rounding_may_turn_it() -> None:
    for expression, difference in (
        ("(y > z * 0.0 + w).to(tl.float32)", lambda y, z, w: y - w),
        ("(y < z).to(tl.float32)", lambda y, z, w: y - z),
        ("(tl.log(y) > -12.0).to(tl.float32)", lambda y, z, w: np.log(y) + 12),
    ):
        values, found = off_by(launch_of(expression))
        here, far = worst(difference, values, found)
        assert (found["out_ptr"][np.abs(here) < far] == 1).all()
        assert (found["out_ptr"][np.abs(here) > 1.1 * far + 2.0**-19] == 0).all()


def test_whole_numbers_are_exact_but_where_a_bound_reaches_another_one() -> None:
    launch = launch_of("(y * 1e11).to(tl.int32).to(tl.float32)")
    scaled = launch_of("y * 1e11")
    y, off = of_launch(scaled).arrays["out_ptr"].astype(np.float64), bounds(scaled)["out_ptr"].size
    found = bounds(launch)["out_ptr"]
    cut = np.trunc(y)
    assert np.array_equal(found.below, cut - np.trunc(y - off))
    assert np.array_equal(found.above, np.trunc(y + off) - cut)
    assert found.size.any()
    twice = bounds(launch_of("((y * 1e11).to(tl.int32) * 2).to(tl.float32)"))["out_ptr"]
    assert np.array_equal(twice.below, 2 * found.below) and np.array_equal(twice.above, 2 * found.above)
    # Between the two numbers that a doubled choice may give there is another one.
    assert np.array_equal(twice.kind == CHOICE, twice.size > 0)


LOST = {
    "an index": ("tl.load(w_ptr + (y * 1e11).to(tl.int32) % 2)", (), "out_ptr"),
    "a mask": ("y", ("tl.store(w_ptr + k, w, mask=y > z * 0.0 + y)",), "w_ptr"),
    "a condition": ("w", ("if tl.sum(y, 0) > tl.sum(y + 0.0 * z, 0):", "    tl.store(w_ptr, 1.0)"), "w_ptr"),
    "a loop": (
        "w", ("for i in range((tl.sum(y, 0) * 1e12).to(tl.int64) % 7):", "    tl.store(w_ptr + i % 2, 1.0)"), "w_ptr",
    ),
    "what a condition decides": (
        "other", ("other = w", "if tl.sum(y, 0) > tl.sum(y + 0.0 * z, 0):", "    other = w + 1"), "out_ptr",
    ),
    "when a loop ends": (
        "other", ("other = w", "total = tl.sum(y, 0)", "while total < 3 * tl.sum(y, 0):",
                  "    total += tl.sum(y, 0)", "    other += 1"), "out_ptr",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", LOST)
def test_what_rounding_decides_is_not_known_and_the_rest_is(what: str) -> None:
    expression, more, name = LOST[what]
    _, found = off_by(launch_of(expression, *more))
    assert np.isinf(found[name]).any() and not np.isinf(found["x_ptr"]).any()
    if more:
        assert np.isinf(found[name]).all()


@pytest.mark.parametrize(
    "more",
    [
        ("if tl.sum(w, 0) > 1.0:", "    tl.store(z_ptr, 1.0)"),
        ("if tl.sum(y, 0) > 1.0:", "    tl.store(z_ptr, 1.0)"),  # which is certain
        ("tl.store(w_ptr + k, w, mask=y > 1.0)",),
        ("for i in range(3):", "    w += y"),
    ],
)
def test_where_rounding_says_nothing_the_rest_is_known(more: tuple[str, ...]) -> None:
    _, found = off_by(launch_of("w", *more))
    assert np.isfinite(found["out_ptr"]).all() and not found["x_ptr"].any()


def test_bounds_go_through_memory_and_masks_with_what_stands_in() -> None:
    launch = launch_of(
        "tl.load(y_ptr + k, mask=k % 2 == 0, other=0.0) + tl.load(z_ptr + BLOCK - 1 - k, mask=k > 3, other=y)"
    )
    _, found = off_by(launch)
    lane = np.arange(LANES)
    first = np.where(lane % 2 == 0, found["y_ptr"], 0)
    second = np.where(lane > 3, found["z_ptr"][::-1], found["y_ptr"])
    assert (found["out_ptr"] >= first + second).all()
    assert (found["out_ptr"] <= (first + second) * (1 + 1e-3) + 20 * UNIT * 2e-4).all()


def test_what_an_atomic_found_among_others_is_not_known() -> None:
    _, found = off_by(launch_of("tl.atomic_add(w_ptr + k % 4, y)"))
    assert np.isinf(found["out_ptr"]).all()
    assert np.isfinite(found["w_ptr"]).all() and (found["w_ptr"][:4] > 0).all() and not found["w_ptr"][4:].any()


def test_constants_of_the_rules_are_what_the_values_say() -> None:
    values, found = off_by(launch_of("y"))
    x = np.linspace(-14, -9, 2 * LANES)[:LANES]
    # The function's own two units, and what a rounded exponent makes of it.
    expected = values["y_ptr"] * (8 * UNIT / 2 + np.expm1(3 * UNIT * np.abs(x)))
    assert np.allclose(found["y_ptr"], expected, rtol=0.2)
    assert math.isclose(float(found["w_ptr"].max()), 0.0)
