"""Joining, scanning, looking up, quotients, factories: as torch eager over dtypes, views, empty and 0-d tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lazy.test_operations import EVERY, FLOATS, INTEGERS, VIEWS, same, sample
from triton_lab import lazy

TOLERANCE = {torch.float16: 3e-3, torch.bfloat16: 2e-2}
Function = Callable[..., Any]


def close(mine: lazy.Tensor, theirs: torch.Tensor) -> None:
    same(mine, theirs, TOLERANCE.get(theirs.dtype, 1e-5) if theirs.dtype.is_floating_point else 0)


def each(check: Callable[[lazy.Tensor, torch.Tensor], None], pairs: Iterable[tuple[lazy.Tensor, torch.Tensor]]) -> None:
    """Check all pairs; none is looked at before all are asked for, so that one step compiles and computes them."""
    for mine, theirs in list(pairs):
        check(mine, theirs)


@pytest.mark.parametrize("dtype", EVERY, ids=str)
@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tanh", "sqrt", "rsqrt", "sigmoid", "abs", "relu"])
def test_functions_of_constants(name: str, dtype: torch.dtype) -> None:
    pairs = []
    for number in (0, 1, 2):
        theirs, mine = torch.full((3,), number, dtype=dtype), lazy.full((3,), number, dtype=dtype)
        if dtype == torch.bool and name in ("abs", "relu"):
            continue
        pairs.append((getattr(mine, name)(), getattr(torch, name)(theirs)))
        if dtype != torch.bool:
            pairs.append((getattr(mine + mine, name)(), getattr(torch, name)(theirs + theirs)))
    each(close, pairs)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_constants_meet_constants_in_half_precision(dtype: torch.dtype) -> None:
    pairs = []
    for function in (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod):
        theirs = function(torch.full((3,), 2.5, dtype=dtype), torch.full((3,), 1.5, dtype=dtype))
        pairs.append((function(lazy.full((3,), 2.5, dtype=dtype), lazy.full((3,), 1.5, dtype=dtype)), theirs))
    each(close, pairs)
    close(lazy.tensor(torch.ones(2, dtype=dtype)).zero_().exp(), torch.ones(2, dtype=dtype))
    close(lazy.ones(4, dtype=dtype).softmax(0), torch.full((4,), 0.25, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.int32, *FLOATS], ids=str)
def test_tanh_and_rsqrt(dtype: torch.dtype) -> None:
    a = sample(dtype)
    close(lazy.tensor(a).tanh(), a.tanh())
    close((lazy.tensor(a).abs() + 1).rsqrt(), (a.abs() + 1).rsqrt())
    small = torch.tensor([1e-6, -1e-6, 0.0, -0.0, 40.0, -40.0, float("nan"), float("inf")])
    torch.testing.assert_close(lazy.tensor(small).tanh().torch().cpu(), small.tanh(), rtol=1e-5, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=str)
@pytest.mark.parametrize("function", [operator.floordiv, operator.mod])
def test_quotients_and_what_they_leave(function: Function, dtype: torch.dtype) -> None:
    a, b = sample(dtype, (40,)), sample(dtype, (40,), seed=1)
    if dtype.is_signed:
        a = a - a.mean().to(dtype) if dtype.is_floating_point else a - 50
        b = b if dtype.is_floating_point else b - 50
    b[b == 0] = 3
    x, y = lazy.tensor(a), lazy.tensor(b)
    pairs = [(function(x, y), function(a, b))]
    for number in (3, -3, 2.5) if dtype.is_signed else (3, 2.5):
        pairs += [(function(x, number), function(a, number)), (function(number, y), function(number, b))]
    each(same, pairs)
    c, z = a.clone(), lazy.tensor(a)
    same(operator.ifloordiv(z, 3), operator.ifloordiv(c, 3))
    same(operator.imod(z, y), operator.imod(c, b))


@settings(max_examples=60, deadline=None)
@given(
    arrays.arrays(np.float32, 16, elements=st.floats(width=32)),
    arrays.arrays(np.float32, 16, elements=st.floats(width=32)),
)
def test_quotients_of_any_floats(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> None:
    a, b = torch.from_numpy(first.copy()), torch.from_numpy(second.copy())
    for function in (operator.floordiv, operator.mod):
        mine = function(lazy.tensor(a), lazy.tensor(b)).torch().cpu()
        theirs = torch.stack([function(x, y) for x, y in zip(a, b, strict=True)])  # torch's vectors overflow sooner
        torch.testing.assert_close(mine, theirs, rtol=0, atol=0, equal_nan=True)
        number = ~theirs.isnan()
        assert torch.equal(torch.signbit(mine)[number], torch.signbit(theirs)[number])


ALONG: dict[str, Function] = {
    "softmax": lambda t, dim: t.softmax(dim),
    "log_softmax": lambda t, dim: t.log_softmax(dim),
    "std": lambda t, dim: t.std(dim),
    "var, kept": lambda t, dim: t.var(dim, correction=0, keepdim=True),
    "argmax": lambda t, dim: t.argmax(dim),
    "argmin, kept": lambda t, dim: t.argmin(dim, keepdim=True),
    "cumsum": lambda t, dim: t.cumsum(dim),
    "any": lambda t, dim: (t > 0).any(dim),
    "all, kept": lambda t, dim: (t > -3).all(dim, keepdim=True),
    "cat": lambda t, dim: torch.cat([t, t * 2, t], dim),
    "stack": lambda t, dim: torch.stack([t, t + 1], dim),
    "split": lambda t, dim: torch.cat([part * 2 for part in reversed(t.split(1, dim))], dim),
    "gather": lambda t, dim: t.gather(dim, t.argmax(dim, keepdim=True)),
}


@pytest.mark.filterwarnings("ignore:(std|var)")
@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("view", [name for name in VIEWS if name not in ("element", "empty")])
def test_every_dimension_of_every_view(name: str, view: str) -> None:
    a = sample(torch.float32, (2, 3, 4))
    mine, theirs = VIEWS[view](lazy.tensor(a)), VIEWS[view](a)
    each(close, ((ALONG[name](mine, dim), ALONG[name](theirs, dim)) for dim in range(-1, theirs.dim())))


@pytest.mark.parametrize("dtype", EVERY, ids=str)
@pytest.mark.parametrize("name", ["softmax", "std", "argmax", "argmin, kept", "cumsum", "cat", "stack", "gather"])
def test_every_dtype(name: str, dtype: torch.dtype) -> None:
    a = sample(dtype, (3, 5))
    try:
        theirs = ALONG[name](a, 1)
    except (RuntimeError, NotImplementedError):
        with pytest.raises((RuntimeError, NotImplementedError)):
            ALONG[name](lazy.tensor(a), 1)
    else:
        close(ALONG[name](lazy.tensor(a), 1), theirs)


@pytest.mark.parametrize("name", [name for name in ALONG if name not in ("argmax", "argmin, kept", "gather")])
@pytest.mark.filterwarnings("ignore:(std|var)")
def test_tensors_of_nothing_and_of_one_element(name: str) -> None:
    samples = [sample(torch.float32, shape) for shape in ((2, 0), (0, 3), (1,), (1, 1))]
    each(close, ((ALONG[name](lazy.tensor(a), 0), ALONG[name](a, 0)) for a in samples))


def test_tensors_without_dimensions() -> None:
    a, x = torch.tensor(-2.5), lazy.tensor(-2.5)
    calls: tuple[Function, ...] = (
        lambda t: t.softmax(0), lambda t: t.cumsum(0), lambda t: t.argmax(), lambda t: t.any(), lambda t: t.all(),
        lambda t: torch.stack([t, t]), lambda t: t.gather(0, torch.tensor(0)), lambda t: t // 2, lambda t: 2 % t,
        lambda t: t.std(correction=0),
    )  # fmt: skip
    each(close, ((call(x), call(a)) for call in calls))


def test_any_and_all_of_nothing_and_of_every_dtype() -> None:
    for dtype in EVERY:
        pairs = []
        for shape in ((0,), (2, 0), (3, 4)):
            a = sample(dtype, shape)
            x = lazy.tensor(a)
            pairs += [(x.any(), a.any()), (x.all(), a.all()), (x.all(0), a.all(0))]
        each(same, pairs)
    nan = torch.tensor([float("nan")])
    assert bool(lazy.tensor(nan).any()) and bool(lazy.tensor(nan).all())


def test_the_first_of_equals_is_found_and_nan_is_the_largest() -> None:
    nan, inf = float("nan"), float("inf")
    rows = ([1.0, 3, 3, 2], [nan, 1, nan], [-inf, -inf], [inf, nan, inf], [0.0, -0.0])
    for name in ("argmax", "argmin"):
        each(same, ((getattr(lazy.tensor(row), name)(), getattr(torch.tensor(row), name)()) for row in rows))
    long = torch.zeros(9000)
    long[[5000, 8000]] = 1
    same(lazy.tensor(long).argmax(), long.argmax())


def test_rows_longer_than_a_tile() -> None:
    a = sample(torch.float64, (3, 9001))
    same(lazy.tensor(a).cumsum(1), a.cumsum(1), 1e-9)
    same(lazy.tensor(a).softmax(1), a.softmax(1), 1e-9)
    same(lazy.tensor(a).std(1), a.std(1), 1e-9)
    whole = sample(torch.int32, (9001,)) > 50
    same(lazy.tensor(whole).cumsum(0), whole.cumsum(0))


def test_parts_of_many_dtypes_and_sizes_are_joined() -> None:
    parts = [sample(torch.int32, (2, 3)), sample(torch.float32, (2, 1)), torch.ones(2, 0), torch.ones(2, 2).bool()]
    same(lazy.cat([lazy.tensor(part) for part in parts], 1), torch.cat(parts, 1))
    same(lazy.cat([lazy.tensor(parts[0]), parts[1]], -1) * 2, torch.cat(parts[:2], -1) * 2)
    same(lazy.cat([lazy.zeros(2, 2), lazy.tensor(parts[1]), lazy.arange(2)[:, None]], 1),
         torch.cat([torch.zeros(2, 2), parts[1], torch.arange(2)[:, None]], 1))  # fmt: skip
    many = [sample(torch.float32, (2,), seed) for seed in range(40)]
    same(lazy.stack([lazy.tensor(part) for part in many], 1).sum(0), torch.stack(many, 1).sum(0), 1e-5)
    with pytest.raises((RuntimeError, ValueError)):
        lazy.cat([])


def test_parts_of_a_tensor_are_views_of_it() -> None:
    a, x = torch.arange(7.0), lazy.arange(7.0)
    for mine, theirs in zip(x.split([1, 4, 2]), a.split([1, 4, 2]), strict=True):
        mine.mul_(10)
        theirs.mul_(10)
    same(x, a)
    for mine, theirs in zip(x.chunk(3), a.chunk(3), strict=True):
        same(mine, theirs)
    assert [element.item() for element in x] == a.tolist()


def test_what_is_joined_or_looked_up_may_be_written_to_where_it_came_from() -> None:
    a, x = torch.arange(6.0), lazy.arange(6.0)
    for t in (a, x):
        t[:4] = torch.cat([t[2:4], t[0:2]])
        t[1:5].copy_(t[1:5].gather(0, torch.tensor([3, 2, 1, 0])))
        t.copy_(t.cumsum(0))
        t.add_(t.gather(0, torch.tensor([5, 4, 3, 2, 1, 0])))
    same(x, a)


def test_looking_up_with_computed_indices_of_another_size() -> None:
    a, index = sample(torch.float32, (4, 5)), torch.tensor([[0, 3, 1], [2, 2, 0]])
    same(lazy.tensor(a).gather(0, lazy.tensor(index)), a.gather(0, index))
    same(lazy.tensor(a).t().gather(1, (lazy.tensor(index) + 1) % 4), a.t().gather(1, (index + 1) % 4))
    whole = torch.tensor([2**31 - 1, 5], dtype=torch.int32)  # wraps, and the assertion about indices does not mind
    same(lazy.tensor(whole).gather(0, torch.tensor([0, 1])) + 1, whole.gather(0, torch.tensor([0, 1])) + 1)


@pytest.mark.parametrize("dtype", [None, *EVERY], ids=str)
def test_factories(dtype: torch.dtype | None) -> None:
    like = sample(dtype or torch.float32, (2, 3))
    mine = lazy.tensor(like)
    pairs = []
    for name in ("zeros", "ones"):
        pairs.append((getattr(lazy, name)(2, 3, dtype=dtype), getattr(torch, name)(2, 3, dtype=dtype)))
        pairs.append((getattr(lazy, f"{name}_like")(mine), getattr(torch, f"{name}_like")(like)))
        pairs.append((getattr(torch, f"{name}_like")(mine), getattr(torch, f"{name}_like")(like)))
    for number in (True, 3, 2.5):
        pairs.append((lazy.full((2,), number, dtype=dtype), torch.full((2,), number, dtype=dtype)))
        pairs.append((lazy.full_like(mine, number), torch.full_like(like, number)))
    if dtype != torch.bool:
        for limits in ((5,), (1, 9, 3), (5, 0, -2), (3, 3)):
            pairs.append((lazy.arange(*limits, dtype=dtype), torch.arange(*limits, dtype=dtype)))
    if dtype is None or dtype.is_floating_point:
        pairs.append((lazy.arange(0, 1, 0.1, dtype=dtype), torch.arange(0, 1, 0.1, dtype=dtype)))
    each(same, pairs)


def test_random_numbers_are_those_of_torchs_generator() -> None:
    calls: list[Function] = [lambda m: m.rand(2, 3), lambda m: m.randn(4), lambda m: m.randint(0, 9, (5,))]
    for call in calls:
        torch.manual_seed(1)
        theirs = call(torch)
        torch.manual_seed(1)
        same(call(lazy), theirs)
    x = lazy.ones(2, 2, dtype=torch.float64)
    assert lazy.rand_like(x).dtype == torch.float64 and torch.randn_like(x).shape == (2, 2)
    for refused in (lambda m: m.zeros(-1), lambda m: m.full((2,), 300, dtype=torch.uint8), lambda m: m.arange(0, 1, 0)):
        with pytest.raises(RuntimeError):
            refused(torch)
        with pytest.raises(RuntimeError):
            refused(lazy)


def test_sizes_are_asked_for_as_in_torch() -> None:
    a, x = torch.zeros(2, 3), lazy.zeros(2, 3)
    assert x.size() == a.size() and x.size(-1) == a.size(-1) and x.dim() == a.dim() and x.stride(0) == a.stride(0)


def test_powers_have_torchs_dtype() -> None:
    for dtype in EVERY:
        a = sample(dtype) if dtype == torch.bool else sample(dtype).abs() + 1
        x = lazy.tensor(a)
        each(close, ((x**exponent, a**exponent) for exponent in (1, 2, 3, 0.5, 2.0, -1.0)))


def test_eager_tensors_alone_are_joined_too() -> None:
    parts = [torch.ones(2, 3), torch.zeros(1, 3)]
    same(lazy.cat(parts), torch.cat(parts))
    same(lazy.stack([parts[0], parts[0] * 2], 1), torch.stack([parts[0], parts[0] * 2], 1))


def test_operators_of_torch_that_are_turned_around_take_lazy_tensors() -> None:
    x, t = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([8.0, 6.0, 5.0])
    for name in ("__rsub__", "__rdiv__"):
        close(getattr(torch.Tensor, name)(t, lazy.tensor(x)), getattr(torch.Tensor, name)(t, x))
