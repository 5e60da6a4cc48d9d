"""The GPU as target for launches that may have tensors of the CPU: these are mirrored on the GPU."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from triton.backends.driver import DriverBase

from triton_lab.backend.plugin import array_arguments, stepped_launches
from triton_lab.backend.plugin.grid_extents import checked_grid
from triton_lab.backend.plugin.kernel_arguments import ArgumentError
from triton_lab.backend.plugin.recorders import recorders
from triton_lab.backend.source import kernel_breakpoints
from triton_lab.backend.source.pointer_preview import follows_pointers
from triton_lab.backend.targets.autotuner_trials import heard
from triton_lab.backend.targets.benchmark_events import is_trial
from triton_lab.backend.targets.device_copies import HostMirrors, is_hosts, tensors_of
from triton_lab.localization import _

# What Triton passes to a launcher before the kernel's own arguments.
FIXED = 9


class GpuNumber(int):
    """A GPU's number that, as a key, differs from the plain number.

    Triton stores compiled kernels, each with its launcher, by device number.
    """

    def __eq__(self, other: object) -> bool:
        return type(other) is GpuNumber and int(self) == int(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("triton_lab", int(self)))


class OffloadDriver(DriverBase):
    """Another driver, unchanged except that its launches also take CPU tensors."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        array_arguments.install()
        kernel_breakpoints.install()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)

    def launcher_cls(self, source: Any, metadata: Any) -> OffloadLauncher:
        return OffloadLauncher(self.driver, source, metadata)

    def get_current_device(self) -> GpuNumber:
        return GpuNumber(self.driver.get_current_device())

    @classmethod
    def is_active(cls) -> bool:
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:
        return str(self.driver.map_python_to_cpp_type(ty))

    def get_current_target(self) -> Any:
        return self.driver.get_current_target()

    def get_active_torch_device(self) -> Any:
        return self.driver.get_active_torch_device()

    def get_benchmarker(self) -> Any:
        return heard(self.driver.get_benchmarker())


class OffloadLauncher:
    """The GPU's own launcher, called after CPU tensors have been replaced by their mirrors."""

    def __init__(self, driver: Any, source: Any, metadata: Any) -> None:
        self.driver = driver
        self.source = source
        self.metadata = metadata
        self.launch = driver.launcher_cls(source, metadata)
        self.stops = stepped_launches.has_stops(source)

    def __call__(self, *arguments: Any) -> None:
        if self.stops or stepped_launches.around is not None:
            stepped_launches.launch(self.source, functools.partial(self._run, *arguments))
        else:
            self._run(*arguments)

    def _run(self, *arguments: Any) -> None:
        if not recorders.hearing() or is_trial():
            self.run(*arguments)
            return
        from triton_lab.backend.targets.both_targets import launch

        launch(self, checked_grid(*arguments[:3]), arguments[:FIXED], arguments[FIXED:])

    def run(self, *arguments: Any, launch: Any = None) -> None:
        """Launch on the GPU. ``launch`` replaces the driver's own launcher."""
        launch = launch or self.launch
        fixed, objects = arguments[:FIXED], arguments[FIXED:]
        signature = list(self.source.signature.values())
        hosts = [
            tensor
            for type, argument in zip(signature, objects, strict=False)
            for tensor in tensors_of(type, argument)
            if is_hosts(tensor)
        ]
        if not hosts:
            launch(*arguments)
            return
        self._check_pointers(signature)
        mirrors = HostMirrors(hosts, self.driver.get_active_torch_device())
        launch(*fixed, *(mirrors.replaced(*pair) for pair in zip(signature, objects, strict=True)))
        self.driver.get_device_interface().synchronize()
        mirrors.write_back()

    def _check_pointers(self, signature: Sequence[Any]) -> None:
        """Refuse a kernel that follows addresses it loads from memory: they would be the CPU's, which the GPU cannot
        follow.
        """
        if any(type in ("*i64", "*u64") for type in signature) and follows_pointers(self.source):
            raise ArgumentError(
                _(
                    "the kernel {name} uses addresses that it loads from memory, but CPU tensors have other "
                    "addresses on the GPU: move them to the GPU (.cuda()) before you take their data_ptr(), or run "
                    "the kernel on the target 'cpu'"
                ).format(name=self.metadata.name)
            )
