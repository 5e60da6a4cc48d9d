"""The examples on a real GPU: they agree with torch and with the CPU target, and can be recorded."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
import torch

import triton_lab as lab
from triton_lab.backend.plugin.kernel_arguments import ArgumentError
from triton_lab.examples import Example, Size, all_examples
from triton_lab.examples.gpu_recordings import make

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("size", ["small", "bench"])
@pytest.mark.parametrize("each", all_examples(), ids=lambda each: each.name)
def test_example_agrees_with_torch(each: Example, size: Size) -> None:
    each.check(size, device="cuda")


@pytest.mark.parametrize("each", all_examples(), ids=lambda each: each.name)
def test_the_cpu_gives_what_the_gpu_gives(each: Example):
    on_gpu = each.run(**each.inputs("small", 0, "cuda"))
    with lab.target("cpu"):
        on_cpu = each.run(**each.inputs("small", 0, "cuda"))
    torch.testing.assert_close(on_cpu, on_gpu, rtol=2 * each.rtol, atol=2 * each.atol)


@pytest.mark.parametrize("each", all_examples(), ids=lambda each: each.name)
def test_the_gpu_takes_tensors_of_the_cpu(each: Example):
    # Addresses in memory cannot be translated.
    refused = pytest.raises(ArgumentError, match="uses addresses") if each.name == "grouped_gemm" else nullcontext()
    with lab.target("gpu"), refused:
        each.check("small", device="cpu")


def test_recordings_are_made_timed_and_named(tmp_path: Path) -> None:
    for file in make(tmp_path):
        launch = lab.load(file)
        comparison = lab.compare(launch)
        print(f"{file.stem}: {file.stat().st_size} bytes, {launch.time.median * 1e6:.1f} µs, {comparison.verdict}")
        assert launch.target == "gpu" and torch.cuda.get_device_name() in launch.remark
        assert comparison.verdict != "different"
