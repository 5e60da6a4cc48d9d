"""How long kernels take on a real GPU, beside what Triton's own benchmark says of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.testing import do_bench

import triton_lab as lab
from triton_lab.examples.matmul import matmul
from triton_lab.examples.softmax import softmax_forward
from triton_lab.examples.vector_add import add

pytestmark = pytest.mark.gpu


@triton.jit
def add_to(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x + offsets, tl.load(x + offsets, mask=mask) + 1, mask=mask)


def of_add() -> Callable[[], Any]:
    x, y = (torch.rand(1 << 20, device="cuda") for _ in range(2))
    return lambda: add(x, y)


def of_softmax() -> Callable[[], Any]:
    x = torch.rand(1823, 781, device="cuda")
    return lambda: softmax_forward(x)


def of_matmul() -> Callable[[], Any]:
    a, b = (torch.rand(512, 512, device="cuda", dtype=torch.float16) for _ in range(2))
    return lambda: matmul(a, b)


@pytest.mark.parametrize("make", [of_add, of_softmax, of_matmul])
def test_the_time_is_what_do_bench_says(make: Callable[[], Callable[[], Any]]) -> None:
    run = make()
    run()
    theirs = do_bench(run, return_mode="median") * 1e-3
    with lab.target("gpu"), lab.record(time=True) as launches:
        run()
    time = launches[-1].time
    assert time is not None
    print(f"{launches[-1].kernel}: {time}, do_bench {theirs:.3g} s")
    assert time.runs > 10 and time.low <= time.median <= time.high
    assert time.device == torch.cuda.get_device_name()
    # An event takes a good microsecond by itself, and its grain is half of one.
    assert time.median == pytest.approx(theirs, rel=0.1, abs=0.5e-6)


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_a_kernel_that_changes_its_input_is_run_again_on_copies_alone(device: str) -> None:
    x = torch.zeros(1000, device=device)
    with lab.target("gpu"), lab.record(time=True) as launches:
        add_to[(8,)](x, 1000, BLOCK=128)
    time = launches[-1].time
    assert time is not None and time.runs > 10
    assert x.unique().tolist() == [1.0]
    assert time.median < 20e-6, "neither copies nor the compiler are in it"


def test_the_compilers_time_is_apart() -> None:
    @triton.jit
    def never_compiled(x, WHEN: tl.constexpr):
        tl.store(x, WHEN)

    import time

    x = torch.zeros(1, dtype=torch.int64, device="cuda")
    with lab.target("gpu"), lab.record(time=True) as launches:
        for _ in range(2):
            never_compiled[(1,)](x, WHEN=time.time_ns() if not launches else int(x.item()))
    first, second = launches
    assert first.time is not None and first.time.compile is not None and first.time.compile > 1e-3
    assert first.time.median < 1e-3
    assert second.time is not None and second.time.median < 1e-3
