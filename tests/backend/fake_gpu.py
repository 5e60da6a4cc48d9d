"""A second backend with a device of its own: kernels "on the GPU" run on the CPU too, in memory set apart for it.

Like a GPU's driver, it refuses tensors that are not in its memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from triton_lab.backend.compiler import CPUBackend
from triton_lab.backend.driver import CPUDriver
from triton_lab.backend.plugin.kernel_arguments import tensor_of
from triton_lab.backend.plugin.launcher import Launcher

TARGET = GPUTarget("fakegpu", 90, 32)
NUMBER = 3

# The storages that are "on the GPU", by address.
memory: dict[int, Any] = {}
launches: list[str] = []
benchmarks: list[str] = []


def on_gpu(tensor: torch.Tensor) -> torch.Tensor:
    """A copy of ``tensor`` in the GPU's memory."""
    copy = tensor.clone()
    memory[copy.untyped_storage().data_ptr()] = copy
    return copy


class Clock:
    """The GPU's own clock, in seconds: it goes on while kernels run, and when the cache is flushed."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.now = 0.0
        self.flushes = 0
        self.takes: Callable[[int], float] = lambda _: 10e-6  # the launch of that number
        self.runs = 0

    def ran(self) -> None:
        self.now += self.takes(self.runs)
        self.runs += 1

    def perf_counter(self) -> float:
        return self.now


clock = Clock()


class FakeEvent:
    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing

    def record(self) -> None:
        self.at = clock.now

    def elapsed_time(self, end: FakeEvent) -> float:
        """Milliseconds."""
        return (end.at - self.at) * 1e3


class FakeCompiler(CPUBackend):
    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "fakegpu"

    def hash(self) -> str:
        return "fakegpu-" + super().hash()


class FakeLauncher(Launcher):
    def __call__(self, *arguments: Any) -> None:
        for position, argument in enumerate(arguments[9:]):
            tensor = tensor_of(argument)
            if tensor is not None and tensor.untyped_storage().data_ptr() not in memory:
                raise ValueError(f"Pointer argument (at {position}) cannot be accessed from Triton (cpu tensor?)")
        launches.append(self.metadata.name)
        super().__call__(*arguments)
        clock.ran()


class FakeInterface:
    Event = FakeEvent

    @staticmethod
    def get_device_name() -> str:
        return "Fake 9000"

    @staticmethod
    def synchronize() -> None:
        launches.append("synchronize")


class FakeDriver(DriverBase):
    """Active like the driver of a GPU that is there."""

    def __init__(self) -> None:
        self.utils = CPUDriver().utils
        self.launcher_cls = FakeLauncher

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return TARGET

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")

    def get_current_device(self) -> int:
        return NUMBER

    def get_current_stream(self, device: int) -> int:
        assert int(device) == NUMBER
        return 0

    def get_device_interface(self) -> Any:
        return FakeInterface

    def get_empty_cache_for_benchmark(self) -> None:
        """There is none."""

    def clear_cache(self, cache: None) -> None:
        clock.now += 100e-6
        clock.flushes += 1

    def get_benchmarker(self) -> Any:
        def benchmark(kernel_call: Any, *, quantiles: Any = None, **_: Any) -> Any:
            benchmarks.append("gpu")
            kernel_call()
            kernel_call()
            return [float(len(benchmarks))] * len(quantiles)

        return benchmark
