"""What may have been meant in place of a value: the last index as a bound, and the one lane that a label chooses."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.slips import randn


@triton.jit
def differences(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    after = i + 1  # SLIP: it is not held at the last pixel
    x = tl.load(x_ptr + row * stride + i, mask=i < n)
    y = tl.load(x_ptr + row * stride + after, mask=i < n)
    tl.store(out_ptr + row * n + i, y - x, mask=i < n)


@triton.jit
def picked(x_ptr, label_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    label = tl.load(label_ptr + row)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0) - tl.cast(label, tl.float32))  # SLIP: all lanes are added up


def test_a_missing_clamp_is_named() -> None:
    x = randn(5, 32)
    launch = recorded(lambda: differences[(5,)](x, torch.empty(5, 30), 30, 32, BLOCK=32))
    inside = x[:, :30]
    right = torch.cat([inside[:, 1:], inside[:, -1:]], 1) - inside
    causes = lab.compare(launch, {"out_ptr": right}).causes()
    assert "tl.minimum(after, n - 1)" in causes.cause
    assert f"{differences.starting_line_number + 3}" in causes.cause


def test_the_lane_that_a_label_chooses_is_named() -> None:
    x, label = randn(24, 12), torch.arange(24, dtype=torch.int32) % 12
    launch = recorded(lambda: picked[(24,)](x, label, torch.empty(24), 12, BLOCK=16))
    right = x[torch.arange(24), label.long()] - label
    causes = lab.compare(launch, {"out_ptr": right}).causes()
    assert "i == label" in causes.cause
