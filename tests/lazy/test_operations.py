"""Each operation against torch eager, over dtypes, shapes and special values."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests import warm
from tests.wordings import Wording
from triton_lab import lazy

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
EVERY = [torch.bool, *INTEGERS, *FLOATS]


def sample(dtype: torch.dtype, shape: tuple[int, ...] = (3, 4), seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return (torch.randn(shape, generator=generator) * 3).to(dtype)
    return torch.randint(0, 2 if dtype == torch.bool else 100, shape, generator=generator).to(dtype)


def same(mine: lazy.Tensor, theirs: torch.Tensor, tolerance: float = 0.0) -> None:
    got = mine.torch().cpu()
    assert got.dtype == theirs.dtype and got.shape == theirs.shape
    torch.testing.assert_close(got, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("dtype", EVERY, ids=str)
@pytest.mark.parametrize("name", ["add", "mul", "sub", "div", "lt", "le", "gt", "ge", "eq", "ne"])
def test_arithmetic_and_comparisons(name: str, dtype: torch.dtype) -> None:
    if name == "sub" and dtype == torch.bool:
        pytest.skip("torch does not subtract bools")
    method = {"div": "__truediv__"}.get(name, f"__{name}__")
    a, b = sample(dtype), sample(dtype, seed=1)
    b[0] = a[0]
    same(getattr(lazy.tensor(a), method)(lazy.tensor(b)), getattr(a, method)(b))


@pytest.mark.parametrize("dtype", [torch.bool, *INTEGERS], ids=str)
def test_bitwise_operations(dtype: torch.dtype) -> None:
    a, b = sample(dtype), sample(dtype, seed=1)
    x, y = lazy.tensor(a), lazy.tensor(b)
    for mine, theirs in ((x & y, a & b), (x | y, a | b), (x ^ y, a ^ b), (~x, ~a)):
        same(mine, theirs)


@pytest.mark.parametrize("number", [2, 0.1, True, -3.5, 1e30, float("inf"), float("nan")])
@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_python_numbers_are_promoted_as_in_torch(dtype: torch.dtype, number: float) -> None:
    a = sample(dtype)
    x = lazy.tensor(a)
    same(x * number, a * number)
    same(number + x, number + a)
    same(x < number, a < number)
    same(lazy.where(x > 1, x, number), torch.where(a > 1, a, number))


@pytest.mark.parametrize("first", EVERY, ids=str)
@pytest.mark.parametrize("second", EVERY, ids=str)
def test_two_dtypes_meet_where_torch_has_them_meet(first: torch.dtype, second: torch.dtype) -> None:
    a, b = sample(first), sample(second, seed=1)
    same(lazy.tensor(a) * lazy.tensor(b), a * b)
    same(lazy.tensor(a) >= lazy.tensor(b), a >= b)


@pytest.mark.parametrize("dtype", [torch.int32, *FLOATS], ids=str)
@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "sqrt", "sigmoid", "abs", "neg", "relu"])
def test_functions(name: str, dtype: torch.dtype) -> None:
    a = sample(dtype)
    if name in ("log", "sqrt"):
        a = a.abs() + 1
    x = lazy.tensor(a)
    mine = -x if name == "neg" else getattr(x, name)()
    same(mine, getattr(torch, name)(a), {torch.float16: 2e-3, torch.bfloat16: 1e-2}.get(dtype, 1e-5))


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32, torch.float64], ids=str)
def test_powers_maxima_and_clamps(dtype: torch.dtype) -> None:
    a, b = sample(dtype), sample(dtype, seed=1)
    x, y = lazy.tensor(a), lazy.tensor(b)
    for exponent in (1, 2, 3):
        same(x**exponent, a**exponent)
    same(x.maximum(y), torch.maximum(a, b))
    same(x.minimum(y), torch.minimum(a, b))
    same(x.clamp(-1, 2), a.clamp(-1, 2))
    same(x.clamp(max=2), a.clamp(max=2))


def test_special_values_survive() -> None:
    a = torch.tensor([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-40])
    x = lazy.tensor(a)
    for mine, theirs in ((-x, -a), (x * -1, a * -1), (x + 0.0, a + 0.0), (x * -0.0, a * -0.0), (1 / x, 1 / a)):
        same(mine, theirs)
        number = ~theirs.isnan()
        assert torch.equal(torch.signbit(mine.torch().cpu())[number], torch.signbit(theirs)[number])
    same(x.amax(), a.amax())
    same(x[:4].amin(), a[:4].amin())


@pytest.mark.parametrize("source", EVERY, ids=str)
@pytest.mark.parametrize("target", EVERY, ids=str)
def test_casts(source: torch.dtype, target: torch.dtype) -> None:
    a = sample(source).abs() if source.is_floating_point else sample(source)
    same(lazy.tensor(a).to(target), a.to(target))


@pytest.mark.parametrize("dim", [None, 0, 1, 2, (0, 2), (1, 2), (0, 1, 2), -1])
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin"])
def test_reductions_over_any_dimensions(name: str, dim: Any) -> None:
    a = sample(torch.float32, (3, 5, 4))
    dims = (0, 1, 2) if dim is None else dim
    for keep in (False, True):
        same(getattr(lazy.tensor(a), name)(dim, keep), getattr(a, name)(dims, keep), 1e-5)


@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_reductions_of_every_dtype(dtype: torch.dtype) -> None:
    a = sample(dtype, (5, 70))
    x = lazy.tensor(a)
    same(x.sum(1), a.sum(1), 2e-2 if dtype == torch.bfloat16 else 1e-3 if dtype.is_floating_point else 0)
    same(x.amax(0), a.amax(0))
    same(x.amin(0), a.amin(0))
    assert bool(x.any()) == bool(a.any()) and bool(x.all()) == bool(a.all())


def test_reductions_longer_than_a_tile_and_of_nothing() -> None:
    a = sample(torch.float64, (2, 10000))
    same(lazy.tensor(a).sum(1), a.sum(1), 1e-9)
    same(lazy.tensor(a).amax(), a.amax())
    empty = torch.zeros(3, 0)
    same(lazy.tensor(empty).sum(1), empty.sum(1))
    same(lazy.tensor(empty).mean(1), empty.mean(1))
    with pytest.raises((RuntimeError, IndexError)):
        lazy.tensor(empty).amax(1)


@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
     ((70, 130), (130, 65)), ((3, 0), (0, 2)), ((0, 3), (3, 2))],
)  # fmt: skip
def test_matrix_products_of_any_shapes(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = sample(torch.float32, left), sample(torch.float32, right, 1)
    same(lazy.tensor(a) @ lazy.tensor(b), a @ b, 1e-4)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=str)
def test_matrix_products_of_every_dtype_and_through_views(dtype: torch.dtype) -> None:
    a, b = sample(dtype, (6, 5)), sample(dtype, (6, 7), 1)
    tolerance = {torch.float16: 1e-2, torch.bfloat16: 1e-1}.get(dtype, 1e-4 if dtype.is_floating_point else 0)
    same(lazy.tensor(a).t() @ lazy.tensor(b)[:, ::2], a.t() @ b[:, ::2], tolerance)


def test_elementwise_work_before_and_after_a_product() -> None:
    a, b = sample(torch.float32), sample(torch.float32, (4, 2), 1)
    x, y = lazy.tensor(a), lazy.tensor(b)
    same(((x * 2).relu() @ (y + 1) - 1).sum(0), ((a * 2).relu() @ (b + 1) - 1).sum(0), 1e-4)


VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda t: t.transpose(0, 2),
    "permuted": lambda t: t.permute(1, 2, 0),
    "reversed dims": lambda t: t.permute(2, 1, 0),
    "sliced": lambda t: t[1:, ::2, -2:],
    "row": lambda t: t[1],
    "element": lambda t: t[0, 1, 2],
    "newaxis": lambda t: t[:, None, ..., 1],
    "reshaped": lambda t: t.reshape(6, 4),
    "flat": lambda t: t.view(-1),
    "copying reshape": lambda t: t.transpose(0, 1).reshape(-1),
    "expanded": lambda t: t[:, :1].expand(2, 3, 4),
    "squeezed": lambda t: t[:, :1].squeeze(1),
    "unsqueezed": lambda t: t.unsqueeze(-1),
    "empty": lambda t: t[2:],
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_show_what_torchs_show(name: str) -> None:
    a = sample(torch.float32, (2, 3, 4))
    mine, theirs = VIEWS[name](lazy.tensor(a)), VIEWS[name](a)
    same(mine, theirs)
    same(mine * 2 + mine, theirs * 2 + theirs)


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "expanded"])
def test_writing_through_a_view_writes_what_torch_writes(name: str) -> None:
    a = sample(torch.float32, (2, 3, 4))
    x = lazy.tensor(a)
    mine, theirs = VIEWS[name](x), VIEWS[name](a)
    mine.mul_(3)
    theirs.mul_(3)
    x.add_(1)
    a.add_(1)
    same(x, a)
    same(mine, theirs)


def test_strides_of_what_comes_in_are_kept() -> None:
    a = sample(torch.float32, (3, 4)).t()
    x = lazy.tensor(a)
    assert x.stride() == a.stride() and not x.is_contiguous()
    same(x, a)
    assert lazy.tensor(a[::2]).is_contiguous() and lazy.tensor(a[:1].expand(3, 3)).is_contiguous()


def test_numpy_lists_and_numbers_come_in_and_go_out() -> None:
    assert lazy.tensor(3).item() == 3 and lazy.tensor([[1, 2]]).tolist() == [[1, 2]]
    array = np.arange(3, dtype=np.float32)
    x = lazy.tensor(array)
    assert np.array_equal(np.asarray(x + array), array + array)
    assert np.array_equal((array + x).numpy(), array + array)
    assert (torch.ones(3) + x).tolist() == [1, 2, 3]
    assert float(x.sum()) == 3.0 and int(x[2]) == 2 and bool(x[0] == 0) and f"{x[1]:.1f}" == "1.0"
    assert repr(x).startswith("lazy([0., 1., 2.]")


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda t: t + lazy.tensor([1.0, 2.0]), RuntimeError, r"add of float32 \(3,\) and float32 \(2,\)"),
        (lambda t: t[5], IndexError, "out of bounds"),
        (lambda t: t.view(2, 2), RuntimeError, "shape"),
        (lambda t: t @ lazy.tensor([[1.0]]), RuntimeError, r"matmul of float32 \(3,\) and float32 \(1, 1\)"),
        (lambda t: t.copy_(lazy.tensor([1.0, 2.0])), RuntimeError, "."),
        (lambda t: lazy.tensor([1 + 2j]), TypeError, "complex64"),
        (lambda t: len(t.sum()), TypeError, "no dimensions"),
    ],
)
def test_bad_input_is_refused_when_it_comes(
    wrong: Callable[[lazy.Tensor], object], error: type[Exception], says: str
) -> None:
    t = lazy.tensor([1.0, 2.0, 3.0])
    with pytest.raises(error, match=says):
        wrong(t)
    assert t.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("wrong", "error", "label", "facts"),
    [
        (lambda t: t + "1", TypeError, "operand", {"operation": "add", "type": "str"}),
        (lambda t: t[[0, 1]], TypeError, "index", {"type": "list"}),
        (lambda t: t**0.3, ValueError, "exponent", {"exponent": 0.3}),
        (lambda t: t.expand(2, 3).add_(1), RuntimeError, "overlap", {}),
        (lambda t: t.clamp(), ValueError, "bound", {"operation": "clamp", "lower": "min", "upper": "max"}),
        (lambda t: lazy.where(True, t, t), TypeError, "condition", {"operation": "where"}),
    ],
)
def test_what_the_lab_alone_refuses_says_why(
    wrong: Callable[[lazy.Tensor], object],
    error: type[Exception],
    label: str,
    facts: dict[str, object],
    wording: Wording,
) -> None:
    t = lazy.tensor([1.0, 2.0, 3.0])
    with wording.raises(error, label, **facts):
        wrong(t)
    assert t.tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["max", "min"])
def test_max_over_a_dimension_leads_to_amax(name: str, wording: Wording) -> None:
    x = lazy.tensor([[1.0, 2.0], [4.0, 3.0]])
    assert getattr(x, name)().item() == getattr(torch.tensor([[1.0, 2.0], [4.0, 3.0]]), name)().item()
    with wording.raises(TypeError, name=name, instead=f"a{name}(1)"):
        getattr(x, name)(1)


def test_a_first_step_imports_no_tracer_of_torchs() -> None:
    """torch's answers for tensors without memory bring its tracer, sympy and distributed tensors: seconds."""
    code = (
        "import sys, triton_lab as lab\n"
        "a, b = lab.lazy.tensor([1.0, 2.0]), lab.lazy.tensor([3.0, 4.0])\n"
        "a.add_(b * 2).relu().clamp(0, 1)\n"
        "a.fill_(2.0)\n"
        "print((a ** 2 < b).tolist(), 'torch._dynamo' in sys.modules)"
    )
    said = subprocess.run(warm.command("-c", code), capture_output=True, text=True, check=True).stdout
    assert said.split("] ")[-1].strip() == "False"
