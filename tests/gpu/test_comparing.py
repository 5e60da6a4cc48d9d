"""On a GPU: a launch there and on the CPU differ by what rounding explains, and the switch that removes it is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import exponential, quotient, row_sum, scale_and_shift, tile_product
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL
from triton_lab.launch.launch import Launch

pytestmark = pytest.mark.gpu


def on_gpu(run: Callable[[], Any]) -> Launch:
    with lab.target("gpu"), lab.record() as launches:
        run()
    return launches[-1]


def randn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


CASES: dict[str, tuple[str, Callable[[int], Callable[[], Any]]]] = {
    "fma": (
        "fused multiply-add",
        lambda seed: lambda: scale_and_shift[(2,)](
            randn(256, seed=seed), randn(256, seed=seed + 100), torch.empty(256), 256, BLOCK=128
        ),
    ),
    "tf32": (
        "tf32 inputs of tl.dot",
        lambda seed: lambda: tile_product[(1,)](
            randn(16, 64, seed=seed), randn(64, 16, seed=seed + 1), torch.empty(16, 16), 64, N=16, BLOCK_K=16,
            ACC=tl.float32,
        ),
    ),
    "exp": (
        "the GPU's exp",
        lambda seed: lambda: exponential[(2,)](randn(256, seed=seed) * 10, torch.empty(256), BLOCK=128),
    ),
    "division": (
        "division",
        lambda seed: lambda: quotient[(2,)](
            randn(256, seed=seed), randn(256, seed=seed + 9), torch.empty(256), BLOCK=128
        ),
    ),
    "order": ("sum", lambda seed: lambda: row_sum[(8,)](randn(8, 128, seed=seed), torch.empty(8), 128, BLOCK=128)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_gpu_differs_by_what_rounding_explains_and_the_cause_is_named(name: str) -> None:
    cause, make = CASES[name]
    for seed in range(3):
        comparison = lab.compare(on_gpu(make(seed)))
        print(comparison, comparison.causes(), sep="\n")
        assert comparison.verdict != DIFFERENT
        if comparison.verdict != EQUAL:
            assert cause in comparison.cause
