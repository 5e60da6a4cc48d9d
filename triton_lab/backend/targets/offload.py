"""The GPU as target for launches that may have CPU tensors, which are mirrored on the GPU.

Each connected run of CPU memory gets one buffer on the GPU, at the same offset from a multiple of 256 bytes, so that
Triton's assumptions about alignment hold. After the launch the changed bytes are written back; after an error nothing
is written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from triton.backends.driver import DriverBase

from triton_lab.backend.plugin.device_mirror import joined
from triton_lab.backend.plugin.kernel_arguments import ArgumentError, tensor_of
from triton_lab.backend.plugin.launch_regions import extent_of, own_memory
from triton_lab.backend.plugin.launcher import checked_grid
from triton_lab.backend.plugin.recorders import recorders
from triton_lab.backend.source.pointer_preview import follows_pointers
from triton_lab.backend.targets.autotuner_trials import heard
from triton_lab.backend.targets.benchmark_events import is_trial

_ALIGNMENT = 256
# The number of arguments that Triton passes to a launcher before the kernel's own.
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

    def __call__(self, *arguments: Any) -> None:
        if not recorders.hearing() or is_trial():
            self.run(*arguments)
            return
        from triton_lab.backend.targets.cpu_replay import launch

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
            if _is_hosts(tensor)
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
                f"the kernel {self.metadata.name} follows addresses that it loads from memory, and tensors of the CPU "
                "have other addresses on the GPU: move them there (.cuda()) before taking their data_ptr(), or run "
                "the kernel on the target 'cpu'"
            )


def tensors_of(type: Any, argument: Any) -> Iterator[Any]:
    """The tensors behind an argument with this type of the signature."""
    if isinstance(type, tuple):
        for inner, item in zip(type, argument, strict=True):
            yield from tensors_of(inner, item)
    elif isinstance(type, str) and type.startswith(("*", "tensordesc")):
        tensor = tensor_of(argument)
        if tensor is not None:
            yield tensor


def is_in_reach(tensor: Any) -> bool:
    """Whether a tensor lies in CPU memory that a GPU can read and write itself: pinned memory."""
    return bool(tensor.device.type == "cpu" and tensor.is_pinned())


def _is_hosts(tensor: Any) -> bool:
    """Whether a tensor lies where the GPU cannot reach it."""
    return bool(tensor.device.type == "cpu" and not is_in_reach(tensor) and extent_of(tensor))


class DeviceCopies:
    """Buffers on ``device`` that stand for runs of memory elsewhere; ``runs`` are ``(start, stop, buffer)``."""

    def __init__(self, device: Any) -> None:
        self.runs: list[tuple[int, int, Any]] = []
        self._device = device

    def add(self, start: int, data: Any) -> None:
        """Add a buffer for the memory at address ``start`` with the contents ``data``, a tensor of bytes."""
        import torch

        shift = start % _ALIGNMENT
        buffer = torch.empty(shift + data.numel(), dtype=torch.uint8, device=self._device)
        buffer[shift:].copy_(data)
        self.runs.append((start, start + data.numel(), buffer))

    def takes(self, tensor: Any) -> bool:
        """Whether ``tensor`` is to be replaced."""
        raise NotImplementedError

    def holds(self, address: int) -> bool:
        """Whether there is a buffer for ``address``."""
        return any(start <= address < stop for start, stop, _ in self.runs)

    def replaced(self, type: Any, argument: Any) -> Any:
        """``argument`` with our buffers in place of the tensors that `takes` accepts."""
        if isinstance(type, tuple):
            items = [self.replaced(inner, item) for inner, item in zip(type, argument, strict=True)]
            return argument.__class__(*items) if hasattr(argument, "_fields") else tuple(items)
        if not any(map(self.takes, tensors_of(type, argument))):
            return argument
        if hasattr(argument, "untyped_storage"):
            return self._copy(argument)
        base = self.replaced("*", argument.base)
        if type.startswith("tensordesc"):
            return dataclasses.replace(argument, base=base)
        from triton import reinterpret

        return reinterpret(base, argument.dtype)

    def _copy(self, tensor: Any) -> Any:
        """A tensor of the same shape, strides and place in its storage's buffer."""
        import torch

        address = tensor.data_ptr()
        for start, stop, buffer in self.runs:
            if start <= address < stop:
                offset = (address - start + start % _ALIGNMENT) // tensor.element_size()
                empty = torch.empty(0, dtype=tensor.dtype, device=self._device)
                return empty.set_(buffer.untyped_storage(), offset, tensor.shape, tensor.stride())
        raise RuntimeError("a tensor without a mirror")


class HostMirrors(DeviceCopies):
    """Mirrors, on ``device``, of all storages behind some CPU tensors."""

    def __init__(self, tensors: Sequence[Any], device: Any) -> None:
        super().__init__(device)
        runs = joined([extent for tensor in tensors if (extent := extent_of(tensor)) is not None])
        self._own = [own_memory(start, stop, tensors) for start, stop in runs]
        for region in self._own:
            self.add(region.start, _bytes_at(region.start, region.stop))
        self._before = [buffer.clone() for _, _, buffer in self.runs]

    def takes(self, tensor: Any) -> bool:
        return _is_hosts(tensor)

    def restore(self) -> None:
        """Reset the mirrors to the bytes that they began with."""
        for (_, _, buffer), before in zip(self.runs, self._before, strict=True):
            buffer.copy_(before)

    def write_back(self) -> None:
        """Write the changed bytes to the CPU's memory. Raises ArgumentError if that is read-only."""
        changes = []
        for region, (start, _, buffer), before in zip(self._own, self.runs, self._before, strict=True):
            changed = (buffer != before)[start % _ALIGNMENT :]
            if bool(changed.any()):
                if not region.writable:
                    raise ArgumentError(
                        "the kernel wrote to memory that may only be read; nothing was written to the tensors of the "
                        "CPU. Pass a copy (.clone()), or map its file for writing."
                    )
                changes.append((region, changed.cpu(), buffer[start % _ALIGNMENT :].cpu()))
        for region, flags, found in changes:
            _bytes_at(region.start, region.stop)[flags] = found[flags]


def _bytes_at(start: int, stop: int) -> Any:
    """The CPU's own memory as a tensor of bytes."""
    import torch

    from triton_lab.interpreter.memory_regions import MemoryRegion

    return torch.from_numpy(MemoryRegion.over(start, stop - start).data)
