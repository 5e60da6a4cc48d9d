"""The examples on both targets: the same inputs, the same results."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch

import triton_lab as lab
from triton_lab.backend.plugin.kernel_arguments import ArgumentError
from triton_lab.examples import Example, all_examples

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("each", all_examples(), ids=lambda each: each.name)
def test_the_cpu_gives_what_the_gpu_gives(each: Example):
    on_gpu = each.run(**each.inputs("small", 0, "cuda"))
    with lab.target("cpu"):
        on_cpu = each.run(**each.inputs("small", 0, "cuda"))
    torch.testing.assert_close(on_cpu, on_gpu, rtol=2 * each.rtol, atol=2 * each.atol)


@pytest.mark.parametrize("each", all_examples(), ids=lambda each: each.name)
def test_the_gpu_takes_tensors_of_the_cpu(each: Example):
    # Addresses in memory cannot be translated.
    refused = pytest.raises(ArgumentError, match="follows addresses") if each.name == "grouped_gemm" else nullcontext()
    with lab.target("gpu"), refused:
        each.check("small", device="cpu")
