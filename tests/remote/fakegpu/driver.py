from __future__ import annotations

import os
import signal
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime.errors import OutOfResources

from triton_lab.backend import driver, launcher, timing


class _Launcher(launcher.Launcher):
    def __call__(self, *arguments: Any) -> None:
        name = self.metadata.name
        if name == "crashes":
            os.kill(os.getpid(), signal.SIGSEGV)
        if name == "goes_astray":
            raise RuntimeError("Triton Error [CUDA]: an illegal memory access was encountered")
        if name == "takes_much":
            raise OutOfResources(300_000, 232_448, "shared memory")
        super().__call__(*arguments)


class FakeDriver(DriverBase):
    def __init__(self) -> None:
        self.utils = driver.CPUDriver().utils
        self.launcher_cls = _Launcher

    @classmethod
    def is_active(cls) -> bool:
        return bool(os.environ.get("TRITON_LAB_FAKE_GPU"))

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        from tests.remote.fakegpu.compiler import TARGET

        return TARGET

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")

    def get_current_device(self) -> int:
        return 3

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_device_interface(self) -> Any:
        return timing.DeviceInterface

    def get_benchmarker(self) -> Any:
        return timing.benchmark_once

    def get_empty_cache_for_benchmark(self) -> Any:
        return torch.empty(1)

    def clear_cache(self, cache: Any) -> None:
        """There is none."""
