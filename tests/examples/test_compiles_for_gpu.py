"""Every kernel of the examples compiles for a real GPU, down to its machine code, on a machine without one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from triton.backends.compiler import GPUTarget
from triton.runtime import JITFunction, driver

from triton_lab.examples import Example, Size, all_examples

HOPPER_SHARED_MEMORY = 227 * 1024  # bytes per program


class CompileOnly:
    """As much of a CUDA driver as compiling asks for."""

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> str:
        return "compile only"  # keys the kernels' caches: never equal to a device's number

    def get_current_stream(self, device: object) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Launches compile for CUDA and do not run; the list fills with the compiled kernels."""
    kernels: list[Any] = []
    run = JITFunction.run

    def compile_only(self: JITFunction[Any], *arguments: Any, warmup: bool, **options: Any) -> Any:
        kernels.append(run(self, *arguments, warmup=True, **options))
        return kernels[-1]

    monkeypatch.setattr(driver, "_active", CompileOnly())
    monkeypatch.setattr(JITFunction, "run", compile_only)
    return kernels


@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.parametrize("size", ["small", "bench"])
@pytest.mark.parametrize("each", all_examples(), ids=lambda each: each.name)
def test_example_compiles_for_hopper(each: Example, size: Size, compiled: list[Any]) -> None:
    each.run(**each.inputs(size, 0, "cpu"))
    assert compiled
    for kernel in compiled:
        assert kernel.asm["cubin"]
        assert kernel.metadata.shared <= HOPPER_SHARED_MEMORY
