"""A loop's sum is never called different from the same terms added in another order: that rounds elsewhere."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from triton_lab.launch.comparison.argument_difference import DIFFERENT

LANES = 256


@triton.jit
def in_a_loop(x_ptr, out_ptr, count, LANES: tl.constexpr):
    lane = tl.arange(0, LANES)
    sum = tl.zeros([LANES], tl.float32)
    for k in range(count):
        sum += tl.load(x_ptr + k * LANES + lane)
    tl.store(out_ptr + lane, sum)


@triton.jit
def unrolled(x_ptr, out_ptr, COUNT: tl.constexpr, LANES: tl.constexpr):
    lane = tl.arange(0, LANES)
    sum = tl.zeros([LANES], tl.float32)
    for k in tl.static_range(COUNT):
        sum = sum - tl.load(x_ptr + k * LANES + lane)
    tl.store(out_ptr + lane, sum)


@pytest.mark.parametrize("count", [3, 4, 5, 7])
@pytest.mark.parametrize("kernel", [in_a_loop, unrolled])
def test_another_order_is_not_different(kernel: Any, count: int) -> None:
    generator = torch.Generator().manual_seed(count)
    x = torch.randn(count, LANES, generator=generator)
    launch = recorded(lambda: kernel[(1,)](x, torch.zeros(LANES), count, LANES))
    exact = torch.zeros(LANES, dtype=torch.bool)
    for _unused in range(12):
        expected = torch.zeros(LANES)
        for k in torch.randperm(count, generator=generator):
            expected += x[k] if kernel is in_a_loop else -x[k]
        found = lab.compare(launch, {"out_ptr": expected})
        assert found.verdict != DIFFERENT
        exact |= torch.as_tensor(found["out_ptr"].a == found["out_ptr"].b)
    assert exact.any()


def test_a_term_that_is_missing_is_different() -> None:
    x = torch.randn(5, LANES, generator=torch.Generator().manual_seed(0))
    launch = recorded(lambda: in_a_loop[(1,)](x, torch.zeros(LANES), 4, LANES))
    assert lab.compare(launch, {"out_ptr": x.sum(0)}).verdict == DIFFERENT
