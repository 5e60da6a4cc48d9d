"""Functions of a kernel that call each other: those that constants end run, others are an error that arrives soon."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.compiler.errors import CompilationError

import triton_lab as lab
from triton_lab.backend.source import recursion_depth
from triton_lab.notebook.cell.error_display import said


@triton.jit
def down(o, n: tl.constexpr):
    if n > 0:
        down(o, n - 1)
    else:
        tl.store(o, 1.0)


@triton.jit
def one(o, n: tl.constexpr):
    if n > 0:
        other(o, n - 1)
    else:
        tl.store(o, 1.0)


@triton.jit
def other(o, n: tl.constexpr):
    if n > 0:
        one(o, n - 1)
    else:
        tl.store(o, 1.0)


@triton.jit
def value(n: tl.constexpr):
    if n > 0:
        return value(n - 1) + 1.0
    else:
        return -tl.full((), 1.0, tl.float32) * n - 1.0


@triton.jit
def summed(o, n: tl.constexpr):
    for _ in range(2):
        tl.store(o, value(n) + 2.0 - n)


@triton.jit
def wrong_below(o, n: tl.constexpr):
    if n > 0:
        wrong_below(o, n - 1)
    else:
        tl.store(o, tl.laod(o))


@triton.jit
def endless(o, n: tl.constexpr):
    endless(o, n + 1)


@pytest.fixture
def limit() -> Any:
    before = sys.getrecursionlimit()
    yield before
    recursion_depth.ended()
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize("kernel", [down, one, summed], ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("depth", [1, 20, 50, 90])
def test_a_recursion_that_a_constant_ends_runs(kernel: Any, depth: int, limit: int) -> None:
    o = torch.zeros(1)
    kernel[(1,)](o, depth)
    assert o.item() == 1.0
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize(("kernel", "depth"), [(down, 400), (one, 400), (summed, 400), (endless, 0)])
def test_a_deeper_one_is_an_error_that_says_how_deep_is_allowed(kernel: Any, depth: int, limit: int) -> None:
    begun = time.monotonic()
    with pytest.raises(lab.EndlessRecursion) as caught:
        kernel[(1,)](torch.zeros(1), depth)
    assert time.monotonic() - begun < 30
    assert isinstance(caught.value, Exception)
    assert 90 < caught.value.calls < 400 and f"{caught.value.calls} deep" in str(caught.value)
    assert f"{caught.value.calls} calls deep" in "\n".join(said(caught.value))


def test_the_next_kernel_is_read_as_ever(limit: int) -> None:
    with pytest.raises(lab.EndlessRecursion):
        endless[(1,)](torch.zeros(1), 1)
    down[(1,)](torch.zeros(1), 2)
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("depth", [3, 30, 70])
def test_a_mistake_deep_in_calls_is_told_at_its_line_and_soon(depth: int, limit: int) -> None:
    begun = time.monotonic()
    with pytest.raises(CompilationError) as caught:
        wrong_below[(1,)](torch.zeros(1), depth)
    assert time.monotonic() - begun < 30, "Triton walks over a chain of errors in a time that doubles with each"
    told = "\n".join(said(caught.value))
    assert "tl.load" in told and told.count("called from") == min(depth, 12)


def test_it_is_the_same_where_a_gpu_is_compiled_for(limit: int) -> None:
    assert lab.compile(down, {"o": "*fp32"}, {"n": 60}, "sm_90").kernel == "down"
    with pytest.raises(lab.EndlessRecursion):
        lab.compile(endless, {"o": "*fp32"}, {"n": 0}, "sm_90")
    assert sys.getrecursionlimit() == limit
