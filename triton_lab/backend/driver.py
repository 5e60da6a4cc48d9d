"""The driver half of the plugin: the device, and how kernels are launched on it."""

from __future__ import annotations

import os
import threading
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from triton_lab.backend.identity import DEVICE, NAME
from triton_lab.localization import _

_asking = threading.local()


def _heeds_default_backend() -> bool:
    """Whether this Triton reads TRITON_DEFAULT_BACKEND. Before 3.7 it always requires exactly one active driver."""
    from triton import __version__

    major, minor = __version__.split(".")[:2]
    return (int(major), int(minor)) >= (3, 7)


class CPUDriver(DriverBase):
    """The CPU as a device of Triton."""

    def __init__(self) -> None:
        super().__init__()
        from triton_lab.backend.plugin import array_arguments
        from triton_lab.backend.plugin.kernel_loading import Utils
        from triton_lab.backend.plugin.triton_cache import guard

        guard()
        array_arguments.install()
        self.utils = Utils()

    def launcher_cls(self, source: Any, metadata: Any) -> Any:
        """The launcher of a kernel: ours, or a GPU's own for a kernel that was compiled for a GPU."""
        if metadata.target.backend == self.get_current_target().backend:
            from triton_lab.backend.plugin.kernel_loading import announce
            from triton_lab.backend.plugin.launcher import Launcher

            announce(source, metadata)
            return Launcher(source, metadata)
        from triton_lab.backend.targets.gpu import gpu_driver

        driver = gpu_driver()
        if driver is None:
            raise RuntimeError(
                _("the kernel {name} was compiled for {target}, but this machine has no such GPU").format(
                    name=metadata.name, target=metadata.target
                )
            )
        return driver.launcher_cls(source, metadata)

    @classmethod
    def is_active(cls) -> bool:
        """True if the user names this backend, or if there is no other device."""
        chosen = os.environ.get("TRITON_DEFAULT_BACKEND")
        if chosen and _heeds_default_backend():
            return chosen == NAME
        if getattr(_asking, "now", False):
            return False  # another plugin has called back while we ask it: let it decide
        from triton.backends import backends

        _asking.now = True
        try:
            return not any(backend.driver is not cls and backend.driver.is_active() for backend in backends.values())
        finally:
            _asking.now = False

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        from triton_lab.backend import inductor
        from triton_lab.backend.compiler import TARGET, CPUBackend

        inductor.register(CPUBackend, CPUDriver)  # Inductor calls this before it generates code
        return TARGET

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_current_device(self) -> int:
        return DEVICE

    def set_current_device(self, device: int) -> None:
        """Does nothing: there is one device."""

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_device_interface(self) -> Any:
        from triton_lab.backend.targets.benchmark_events import DeviceInterface

        return DeviceInterface

    def get_benchmarker(self) -> Any:
        from triton_lab.backend.targets.benchmark_events import benchmark_once

        return benchmark_once

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        # There is no GPU cache to flush between runs: a token tensor satisfies the interface.
        return torch.empty(1, dtype=torch.int8)

    def clear_cache(self, cache: Any) -> None:
        """Does nothing: there is no cache to flush."""

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args


def _join() -> None:
    """Report launches to `triton-lab check` or `run` if one of them started this process through its script."""
    asked = os.environ.get("TRITON_LAB_JOURNAL")
    if asked:
        from triton_lab.providers import provided

        provided("join_script")(asked)


_join()
