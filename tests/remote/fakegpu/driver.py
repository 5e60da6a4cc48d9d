from __future__ import annotations

import os
import signal
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.runtime.errors import OutOfResources

from tests.backend import fake_gpu
from triton_lab.backend.plugin import launcher
from triton_lab.backend.targets import benchmark_events


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


class FakeDriver(fake_gpu.FakeDriver):
    """Of another architecture than kernels are read for at first, and with no memory of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.launcher_cls = _Launcher

    @classmethod
    def is_active(cls) -> bool:
        return bool(os.environ.get("TRITON_LAB_FAKE_GPU"))

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("fakegpu", 70, 32)

    def get_device_interface(self) -> Any:
        return benchmark_events.DeviceInterface

    def get_benchmarker(self) -> Any:
        return benchmark_events.benchmark_once

    def clear_cache(self, cache: Any) -> None:
        """There is none."""
