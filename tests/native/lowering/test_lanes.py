"""A scalar function on every lane: with branches and loops of its own, and on several neighbours at once."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from tests.native.harness import both, same_bits


@triton.jit
def ordered(a, b):
    if a < b:
        low, high = a, b
    else:
        low, high = b, a
    return low, high


@triton.jit
def steps(a, b):
    count = b * 0
    while a > 1:
        a = tl.where(a % 2 == 0, a // 2, 3 * a + 1)
        count += 1
    return count, count + b


@triton.jit
def crosswise(a0, a1, b0, b1):
    return a0 + b1, a1 * b0, a0 - b0, a1


@triton.jit
def crosswise_where(a0, a1, b0, b1):
    if a0 > b0:
        a0, a1 = a1, a0
    return a0 + b1, a1 * b0, a0, b1


@triton.jit
def early(a, b):
    if a < 4:
        return a + 100, b
    return a, b + 1


@triton.jit
def on_lanes(x, y, out, WHICH: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, 4)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.load(x + at), tl.load(y + at)
    if WHICH == "ordered":
        a, b = tl.map_elementwise(ordered, a, b)
    elif WHICH == "steps":
        a, b = tl.map_elementwise(steps, a, b)
    elif WHICH == "crosswise":
        a, b = tl.map_elementwise(crosswise, a, b, pack=2)
    elif WHICH == "crosswise_where":
        a, b = tl.map_elementwise(crosswise_where, a, b, pack=2)
    else:
        a, b = tl.map_elementwise(early, a, b)
    tl.store(out + at, a)
    tl.store(out + 4 * N + at, b)


TYPES = (torch.int32, torch.float32, torch.float16, torch.bfloat16)
CASES = [(name, dtype) for name in ("ordered", "crosswise", "crosswise_where") for dtype in TYPES]


@pytest.mark.parametrize(("function", "dtype"), [*CASES, ("steps", torch.int32)], ids=str)
def test_each_lane_goes_its_own_way(function: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x, y = (torch.randint(0, 100, (4, 32)).to(dtype) for _ in range(2))

    def launch() -> torch.Tensor:
        out = torch.zeros(8, 32, dtype=dtype)
        on_lanes[(1,)](x, y, out, function, 32)
        return out

    expected, found, handed = both(launch)
    assert same_bits(expected, found)
    assert expected.any()
    assert not handed


def test_what_returns_early_is_left_to_numpy() -> None:
    x, y = torch.arange(128, dtype=torch.int32), torch.ones(128, dtype=torch.int32)

    def launch() -> torch.Tensor:
        out = torch.zeros(8, 32, dtype=torch.int32)
        on_lanes[(1,)](x, y, out, "early", 32)
        return out

    expected, found, _ = both(launch, why="an early return in tt.map_elementwise")
    assert torch.equal(expected, found)
