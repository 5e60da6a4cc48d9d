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


def of_long_add() -> Callable[[], Any]:
    x, y = (torch.rand(1 << 25, device="cuda") for _ in range(2))
    return lambda: add(x, y)


def of_tall_softmax() -> Callable[[], Any]:
    x = torch.rand(1 << 15, 1000, device="cuda")
    return lambda: softmax_forward(x)


def of_large_matmul() -> Callable[[], Any]:
    a, b = (torch.rand(2048, 2048, device="cuda", dtype=torch.float16) for _ in range(2))
    return lambda: matmul(a, b)


def of_one_element() -> Callable[[], Any]:
    x = torch.zeros(1, device="cuda")
    return lambda: add_to[(1,)](x, 1, BLOCK=16)


@pytest.mark.parametrize(
    "make", [of_one_element, of_add, of_softmax, of_matmul, of_long_add, of_tall_softmax, of_large_matmul]
)
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


def test_a_sweep_on_the_gpu_has_a_share_of_what_it_reaches() -> None:
    def mine(n: int, block: int) -> Callable[[], Any]:
        x, y = (torch.rand(n, device="cuda") for _ in range(2))
        return lambda: add(x, y, block=block)

    def of_torch(n: int) -> Callable[[], Any]:
        x, y = (torch.rand(n, device="cuda") for _ in range(2))
        return lambda: x + y

    with lab.target("gpu"):
        found = lab.sweep(
            {"mine": mine, "torch": of_torch}, [1 << 14, 1 << 24], configs=[{"block": 256}, {"block": 1024}],
            bytes=lambda n: 12 * n,
        )  # fmt: skip
    print(found)
    assert found.target == "gpu" and found.quantity == "bytes" and found.peaks is not None
    assert not any(row.error for row in found)
    shares = {(row.line, row.size): found.share(row) for row in found}
    assert all(share is not None and 0 < share < 1.2 for share in shares.values())
    assert max(share for (_, size), share in shares.items() if size == 1 << 24 and share) > 0.6


@triton.jit
def product_of_rows(x, y, out, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    where = rows[:, None] * BLOCK + columns[None, :]
    tl.store(out + where, tl.dot(tl.load(x + where), tl.load(y + where)))


def test_a_configuration_that_a_gpu_has_no_room_for_says_so() -> None:
    tuned = triton.autotune([triton.Config({"BLOCK": block}) for block in (64, 256)], key=[])(product_of_rows)
    x, y = (torch.rand(256 * 256, device="cuda") for _ in range(2))
    with lab.target("gpu"), lab.record(time=True) as launches:
        tuned[(1,)](x, y, torch.zeros_like(x))
    tuning = launches[-1].tuning
    assert tuning is not None and tuning.target == "gpu"
    print(launches[-1].plot.autotune())
    small, large = tuning.tried
    assert tuning.choice is small and 0 < small.low <= small.seconds <= small.high < 1e-2
    assert "out of resource" in large.failed
