"""The GPU as target for launches that may have tensors of the CPU: these are mirrored on the GPU.

Each connected run of CPU memory gets one buffer on the GPU, at the same offset from a multiple of 256
bytes, so that what Triton assumes about alignment holds. After the launch the bytes that have
changed are written back; an error writes nothing.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

from triton.backends.driver import DriverBase

from triton_lab.backend.arguments import ArgumentError, tensor_of
from triton_lab.backend.launcher import checked_grid, recorders
from triton_lab.backend.mirror import joined
from triton_lab.backend.regions import extent_of
from triton_lab.backend.timing import is_trial

_ALIGNMENT = 256
# What Triton passes to a launcher before the kernel's own arguments.
_FIXED = 9


class Device(int):
    """A GPU's number, which serves as such, and as a key differs from the plain number.

    Triton keeps compiled kernels, each with its launcher, by device number.
    """

    def __eq__(self, other: object) -> bool:
        return type(other) is Device and int(self) == int(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("triton_lab", int(self)))


class OffloadDriver(DriverBase):
    """Another driver in all, except that its launches take tensors of the CPU too."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)

    def launcher_cls(self, source: Any, metadata: Any) -> OffloadLauncher:
        return OffloadLauncher(self.driver, source, metadata)

    def get_current_device(self) -> Device:
        return Device(self.driver.get_current_device())

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
        return self.driver.get_benchmarker()


class OffloadLauncher:
    """The GPU's own launcher, after tensors of the CPU have been replaced by their mirrors."""

    def __init__(self, driver: Any, source: Any, metadata: Any) -> None:
        self.driver = driver
        self.source = source
        self.metadata = metadata
        self.launch = driver.launcher_cls(source, metadata)

    def __call__(self, *arguments: Any) -> None:
        if not recorders.hearing() or is_trial():
            self.run(*arguments)
            return
        from triton_lab.backend.shadow import launch

        launch(
            self.driver,
            self.source,
            self.metadata,
            checked_grid(*arguments[:3]),
            arguments[_FIXED:],
            functools.partial(self.run, *arguments),
        )

    def run(self, *arguments: Any) -> None:
        """Launch on the GPU."""
        fixed, objects = arguments[:_FIXED], arguments[_FIXED:]
        signature = list(self.source.signature.values())
        hosts = [
            tensor for type, argument in zip(signature, objects, strict=False) for tensor in _hosts(type, argument)
        ]
        if not hosts:
            self.launch(*arguments)
            return
        self._check_pointers(signature)
        mirrors = HostMirrors(hosts, self.driver.get_active_torch_device())
        self.launch(*fixed, *(mirrors.replaced(*pair) for pair in zip(signature, objects, strict=True)))
        self.driver.get_device_interface().synchronize()
        mirrors.write_back()

    @functools.cached_property
    def _follows_pointers(self) -> bool:
        from triton_lab.backend.preview import follows_pointers

        return follows_pointers(self.source)

    def _check_pointers(self, signature: Sequence[Any]) -> None:
        """Addresses that lie in memory would be the CPU's, which the GPU cannot follow."""
        if any(type in ("*i64", "*u64") for type in signature) and self._follows_pointers:
            raise ArgumentError(
                f"the kernel {self.metadata.name} follows addresses that it loads from memory, and tensors of the CPU "
                "have other addresses on the GPU: move them there (.cuda()) before taking their data_ptr(), or run "
                "the kernel on the target 'cpu'"
            )


def _hosts(type: Any, argument: Any) -> Iterator[Any]:
    """The tensors behind an argument that the GPU cannot reach."""
    if isinstance(type, tuple):
        for inner, item in zip(type, argument, strict=True):
            yield from _hosts(inner, item)
    elif isinstance(type, str) and type.startswith(("*", "tensordesc")):
        tensor = tensor_of(argument)
        # A GPU reads and writes pinned memory by itself.
        if tensor is not None and tensor.device.type == "cpu" and not tensor.is_pinned() and extent_of(tensor):
            yield tensor


class HostMirrors:
    """Mirrors on ``device`` of all storages behind some tensors of the CPU."""

    def __init__(self, tensors: Sequence[Any], device: Any) -> None:
        import torch

        self._device = device
        self._runs: list[tuple[int, int, Any, Any]] = []
        for start, stop in joined([extent for tensor in tensors if (extent := extent_of(tensor)) is not None]):
            host = _bytes_at(start, stop)
            shift = start % _ALIGNMENT
            buffer = torch.empty(shift + stop - start, dtype=torch.uint8, device=device)
            buffer[shift:].copy_(host)
            self._runs.append((start, stop, buffer, buffer.clone()))

    def replaced(self, type: Any, argument: Any) -> Any:
        """``argument`` with mirrors in the place of tensors of the CPU."""
        if isinstance(type, tuple):
            items = [self.replaced(inner, item) for inner, item in zip(type, argument, strict=True)]
            return argument.__class__(*items) if hasattr(argument, "_fields") else tuple(items)
        if not list(_hosts(type, argument)):
            return argument
        if hasattr(argument, "untyped_storage"):
            return self._mirror(argument)
        base = self.replaced("*", argument.base)
        if type.startswith("tensordesc"):
            return dataclasses.replace(argument, base=base)
        from triton import reinterpret

        return reinterpret(base, argument.dtype)

    def _mirror(self, tensor: Any) -> Any:
        """A tensor of the same shape, strides and place in its storage's mirror."""
        import torch

        address = tensor.data_ptr()
        for start, stop, buffer, _ in self._runs:
            if start <= address < stop:
                offset = (address - start + start % _ALIGNMENT) // tensor.element_size()
                empty = torch.empty(0, dtype=tensor.dtype, device=self._device)
                return empty.set_(buffer.untyped_storage(), offset, tensor.shape, tensor.stride())
        raise RuntimeError("a tensor without a mirror")

    def restore(self) -> None:
        """Give the mirrors the bytes that they began with."""
        for _, _, buffer, before in self._runs:
            buffer.copy_(before)

    def write_back(self) -> None:
        """Put the bytes that have changed into the CPU's memory."""
        for start, stop, buffer, before in self._runs:
            changed = (buffer != before)[start % _ALIGNMENT :]
            if bool(changed.any()):
                flags = changed.cpu()
                _bytes_at(start, stop)[flags] = buffer[start % _ALIGNMENT :].cpu()[flags]


def _bytes_at(start: int, stop: int) -> Any:
    """The CPU's own memory as a tensor of bytes."""
    import torch

    from triton_lab.interpreter.memory import Region

    return torch.from_numpy(Region.over(start, stop - start).data)
