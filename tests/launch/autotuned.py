"""A launch that an autotuner made, one of whose configurations fails."""

# A kernel's parameters have no Python types to give them.
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.launch import Launch


@triton.jit
def doubled_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    tl.static_assert(BLOCK * WIDE < 128, "too wide")
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 2, mask=offsets < n)


def tuned_doubled() -> Any:
    """An autotuner of four configurations, one of which does not compile."""
    configs = [
        triton.Config({"BLOCK": block, "WIDE": wide}, num_warps=2) for block in (16, 64) for wide in (1, 2)
    ]  # fmt: skip
    return triton.autotune(configs, key=["n"])(doubled_kernel)


def autotuned() -> Launch:
    """The first launch of `tuned_doubled`."""
    with lab.target("cpu"), lab.record() as launches:
        tuned_doubled()[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](torch.arange(100.0), torch.zeros(100), 100)
    return launches[-1]
