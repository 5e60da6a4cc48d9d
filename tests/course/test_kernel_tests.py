"""Tests as answers: those that miss a wrong kernel, or fail for a right one, are told which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.hostile.notebooks import check, notebook
from triton_lab.course.exercise_registry import exercise
from triton_lab.course.grading import grade
from triton_lab.testing import assert_close

Test = Callable[[Callable[..., Any]], None]


def reference(x: torch.Tensor) -> torch.Tensor:
    wide = x.double()
    return (wide / (wide.square().mean(1, keepdim=True) + 1e-6).sqrt()).to(x.dtype)


def norm_test(**changes: Any) -> Test:
    """A test of the norm, right unless it is told to look at less, or too closely."""
    given: dict[str, Any] = {
        "shapes": ((1, 1), (5, 31), (3, 64), (2, 65), (7, 100)),
        "dtypes": (torch.float32, torch.float16),
        "scale": 100.0,
        "views": True,
        "zeros": True,
        "compare": lambda got, wanted: assert_close(got, wanted, ulps=4),
        "numbers": torch.randn,
    } | changes

    def check(norm: Callable[[torch.Tensor], torch.Tensor]) -> None:
        torch.manual_seed(0)
        for dtype in given["dtypes"]:
            for shape in given["shapes"]:
                x = (given["numbers"](shape) * given["scale"]).to(dtype)
                given["compare"](norm(x), reference(x))
                if given["views"]:
                    given["compare"](norm(x.T), reference(x.T))
        if given["zeros"]:
            given["compare"](norm(torch.zeros(3, 10)), torch.zeros(3, 10))

    return check


def of_values(
    values: Callable[[int], torch.Tensor], n: int = 200, size: int = 7, first: int = 0, last: int = 0
) -> Test:
    """A test of sums by index, from ``first`` to ``size - 1 - last``."""

    def check(add: Callable[..., torch.Tensor]) -> None:
        torch.manual_seed(0)
        given = values(n)
        index = torch.randint(first, size - last, (n,), dtype=torch.int32)
        index[0], index[-1] = first, size - last - 1
        expected = torch.zeros(size, dtype=torch.float64).index_add_(0, index, given.double())
        assert_close(add(given, index, size), expected.float(), terms=n, magnitude=given.abs().sum().item())

    return check


def distinct(add: Callable[..., torch.Tensor]) -> None:
    torch.manual_seed(0)
    values, index = torch.randn(100), torch.randperm(100).int()
    assert_close(add(values, index, 100), torch.zeros(100).index_copy_(0, index.long(), values), ulps=2)


def nothing(function: Callable[..., Any]) -> None:
    pass


def exactly(got: torch.Tensor, wanted: torch.Tensor) -> None:
    assert torch.equal(got, wanted)


def loosely(got: torch.Tensor, wanted: torch.Tensor) -> None:
    assert torch.allclose(got, wanted, rtol=0.5, atol=0.5)


def nearly(got: torch.Tensor, wanted: torch.Tensor) -> None:
    assert torch.allclose(got, wanted, rtol=1e-2, atol=1e-2)


def shape_only(got: torch.Tensor, wanted: torch.Tensor) -> None:
    assert got.shape == wanted.shape


def total_only(add: Callable[..., torch.Tensor]) -> None:
    torch.manual_seed(0)
    values, index = torch.randn(200), torch.randint(0, 7, (200,), dtype=torch.int32)
    assert_close(add(values, index, 7).sum(), values.sum(), terms=200)


def returns_false(norm: Callable[..., Any]) -> bool:
    x = torch.randn(3, 65)
    return torch.allclose(norm(x), reference(x))


def whole(n: int) -> torch.Tensor:
    return torch.randint(-9, 9, (n,)).float()


WRONG: list[tuple[str, Any, str]] = [
    ("check_norm", nothing, "passes for a wrong kernel"),
    ("check_norm", returns_false, "assert"),
    ("check_norm", norm_test(shapes=((4, 64), (8, 32))), "block"),
    ("check_norm", norm_test(shapes=((5, 31), (7, 50)), views=False), "64 columns"),
    ("check_norm", norm_test(shapes=((4, 65), (8, 100)), views=False), "// 4"),
    ("check_norm", norm_test(views=False), "contiguous"),
    ("check_norm", norm_test(dtypes=(torch.float32,)), "dtype"),
    ("check_norm", norm_test(zeros=False), "zeros"),
    ("check_norm", norm_test(numbers=torch.rand), "signs"),
    ("check_norm", norm_test(compare=exactly), "right kernel"),
    ("check_norm", norm_test(compare=loosely), "passes for a wrong kernel"),
    ("check_norm", norm_test(compare=nearly), "passes for a wrong kernel"),
    ("check_norm", norm_test(compare=shape_only), "passes for a wrong kernel"),
    ("check_norm", lambda norm: norm(torch.zeros(400, 400)), "100,000"),
    ("check_norm", 3, "function"),
    ("check_add", nothing, "passes for a wrong kernel"),
    ("check_add", total_only, "passes for a wrong kernel"),
    ("check_add", distinct, "without adding"),
    ("check_add", of_values(torch.ones), "counts"),
    ("check_add", of_values(whole), "fractions"),
    ("check_add", of_values(torch.rand), "negative"),
    ("check_add", of_values(torch.randn, n=64), "first 64"),
    ("check_add", of_values(torch.randn, n=192), "last block"),
    ("check_add", of_values(torch.randn, first=1), "index 0"),
    ("check_add", of_values(torch.randn, last=1), "last index"),
    ("check_add", lambda add: add(torch.ones(3), torch.zeros(3).int(), 2).fail(), "right kernel"),
]


@pytest.mark.parametrize(("name", "answer", "fact"), WRONG, ids=[f"{n}-{one[0]}" for n, one in enumerate(WRONG)])
def test_a_test_that_shows_too_little_or_too_much_is_told(name: str, answer: Any, fact: str) -> None:
    fault = str(exercise(name).judge(answer))
    assert fact in fault, fault


@pytest.mark.parametrize(("name", "answer"), [("check_norm", norm_test()), ("check_add", of_values(torch.randn))])
def test_another_right_test_is_right(name: str, answer: Test) -> None:
    assert str(exercise(name).judge(answer) or "right") == "right"


RIGHT = """
def check_add(add):
    values = torch.randn(200, generator=torch.Generator().manual_seed(0))
    index = (torch.arange(200) % 7).to(torch.int32)
    expected = torch.zeros(7).index_add_(0, index, values)
    assert torch.allclose(add(values, index, 7), expected, atol=1e-4)
"""
# The first two kernels of the list are the right ones.
COUNTS = """
seen = []
def check_norm(norm):
    seen.append(norm)
    assert len(seen) <= 3
"""


def test_in_a_class_the_kernels_run_with_the_judge(tmp_path: Path) -> None:
    """The process that has the test does not have the kernels, and cannot know which one it is given."""
    path = tmp_path / "37_tests.ipynb"
    cells = "import torch", RIGHT, check("check_add"), COUNTS, check("check_norm")
    path.write_text(notebook(*cells), encoding="utf-8")
    points = {row.exercise: (row.points, row.message) for row in grade(path, told=None)}
    assert points["check_add"][0] == exercise("check_add").points, points["check_add"]
    assert points["check_norm"][0] == 0 and "kernel" in points["check_norm"][1]
