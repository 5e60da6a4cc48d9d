"""Buffers on one device that stand for memory of another while a launch runs: mirrors of the CPU's on the GPU.

Each connected run of CPU memory gets one buffer on the GPU, at the same offset from a multiple of 256
bytes, so that what Triton assumes about alignment holds. After the launch the bytes that have
changed are written back; an error writes nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from triton_lab.backend.plugin.device_mirror import joined
from triton_lab.backend.plugin.kernel_arguments import ArgumentError, tensor_of
from triton_lab.backend.plugin.launch_regions import extent_of, own_memory
from triton_lab.localization import _

_ALIGNMENT = 256


def tensors_of(type: Any, argument: Any) -> Iterator[Any]:
    """The tensors behind an argument of that type of the signature."""
    if isinstance(type, tuple):
        for inner, item in zip(type, argument, strict=True):
            yield from tensors_of(inner, item)
    elif isinstance(type, str) and type.startswith(("*", "tensordesc")):
        tensor = tensor_of(argument)
        if tensor is not None:
            yield tensor


def is_in_reach(tensor: Any) -> bool:
    """Whether it lies in memory of the CPU that a GPU reads and writes by itself: in pinned memory."""
    return bool(tensor.device.type == "cpu" and tensor.is_pinned())


def is_hosts(tensor: Any) -> bool:
    """Whether it lies where the GPU cannot reach it."""
    return bool(tensor.device.type == "cpu" and not is_in_reach(tensor) and extent_of(tensor))


class DeviceCopies:
    """Buffers on ``device`` that stand for runs of memory elsewhere; ``runs`` are ``(start, stop, buffer)``."""

    def __init__(self, device: Any) -> None:
        self.runs: list[tuple[int, int, Any]] = []
        self._device = device

    def add(self, start: int, data: Any) -> None:
        """A buffer for what begins at address ``start`` and holds ``data``, a tensor of bytes."""
        import torch

        shift = start % _ALIGNMENT
        buffer = torch.empty(shift + data.numel(), dtype=torch.uint8, device=self._device)
        buffer[shift:].copy_(data)
        self.runs.append((start, start + data.numel(), buffer))

    def takes(self, tensor: Any) -> bool:
        """Whether ``tensor`` is to be replaced."""
        raise NotImplementedError

    def holds(self, address: int) -> bool:
        """Whether there is a buffer for what lies there."""
        return any(start <= address < stop for start, stop, _unused in self.runs)

    def replaced(self, type: Any, argument: Any) -> Any:
        """``argument`` with buffers of ours in the place of the tensors that it takes."""
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
        raise RuntimeError(_("a tensor without a mirror"))


class HostMirrors(DeviceCopies):
    """Mirrors on ``device`` of all storages behind some tensors of the CPU."""

    def __init__(self, tensors: Sequence[Any], device: Any) -> None:
        super().__init__(device)
        runs = joined([extent for tensor in tensors if (extent := extent_of(tensor)) is not None])
        self._own = [own_memory(start, stop, tensors) for start, stop in runs]
        for region in self._own:
            self.add(region.start, _bytes_at(region.start, region.stop))
        self._before = [buffer.clone() for _unused, _unused, buffer in self.runs]

    def takes(self, tensor: Any) -> bool:
        return is_hosts(tensor)

    def restore(self) -> None:
        """Give the mirrors the bytes that they began with."""
        for (_unused, _unused, buffer), before in zip(self.runs, self._before, strict=True):
            buffer.copy_(before)

    def write_back(self) -> None:
        """Put the bytes that have changed into the CPU's memory. Raises ArgumentError where that may only be read."""
        changes = []
        for region, (start, _unused, buffer), before in zip(self._own, self.runs, self._before, strict=True):
            changed = (buffer != before)[start % _ALIGNMENT :]
            if bool(changed.any()):
                if not region.writable:
                    raise ArgumentError(
                        _(
                            "the kernel wrote to memory that may only be read; nothing was written to the "
                            "tensors of the CPU. Pass a copy (.clone()), or map its file for writing."
                        )
                    )
                changes.append((region, changed.cpu(), buffer[start % _ALIGNMENT :].cpu()))
        for region, flags, found in changes:
            _bytes_at(region.start, region.stop)[flags] = found[flags]


def _bytes_at(start: int, stop: int) -> Any:
    """The CPU's own memory as a tensor of bytes."""
    import torch

    from triton_lab.interpreter.memory_regions import MemoryRegion

    return torch.from_numpy(MemoryRegion.over(start, stop - start).data)
