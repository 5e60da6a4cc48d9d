"""The memory of a launch: one region for each run of storage that its arguments reach."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from triton_lab.backend.plugin.borrowed_memory import may_change
from triton_lab.backend.plugin.device_mirror import Mirrors, joined
from triton_lab.backend.plugin.kernel_arguments import ArgumentError, ArgumentLeaf, tensor_of
from triton_lab.backend.plugin.page_permissions import Standing, is_of_bytes, standing
from triton_lab.interpreter.memory_regions import MemoryRegion
from triton_lab.localization import _
from triton_lab.messages import count


def extent_of(tensor: Any) -> tuple[int, int] | None:
    """The addresses ``(start, stop)`` of the whole storage behind a tensor; None if there is none."""
    storage = tensor.untyped_storage()
    start = storage.data_ptr()
    return (start, start + storage.nbytes()) if start else None


def regions_of(leaves: Sequence[ArgumentLeaf], mirrors: Mirrors, private: bool = False) -> list[MemoryRegion]:
    """Regions for all pointer arguments: the CPU's own memory, or ``mirrors`` of another device's memory.

    With ``private``, the CPU's memory is copied too. Raises ArgumentError for memory that cannot be read.
    """
    by_device: dict[str, list[Any]] = {}
    for leaf in leaves:
        tensor = tensor_of(leaf.object) if leaf.kind != "scalar" else None
        if tensor is not None and extent_of(tensor) is not None:
            by_device.setdefault(str(tensor.untyped_storage().device), []).append(tensor)
    result: list[MemoryRegion] = []
    for tensors in by_device.values():
        kind = tensors[0].untyped_storage().device.type
        if kind == "cpu":
            runs = joined([extent for tensor in tensors if (extent := extent_of(tensor)) is not None])
            try:
                own = [own_memory(start, stop, tensors) for start, stop in runs]
            except UnreadableMemory as error:
                raise UnreadableMemory(_named(error, leaves), error.tensor) from None
            result.extend(map(_copied, own) if private else own)
        else:
            result.extend(mirrors.of(kind, tensors))
    _check_apart(result, list(by_device))
    return result


def _copied(region: MemoryRegion) -> MemoryRegion:
    """A copy of the region at the same addresses; it is read-only if the original is."""
    data = region.data.copy()
    data.flags.writeable = region.data.flags.writeable
    return MemoryRegion(region.start, data)


class UnreadableMemory(ArgumentError):
    """The memory of ``tensor`` cannot be read: touching it would end the process."""

    def __init__(self, message: str, tensor: Any) -> None:
        super().__init__(message)
        self.tensor = tensor


def own_memory(start: int, stop: int, tensors: Sequence[Any]) -> MemoryRegion:
    """The CPU's own memory under ``tensors``. It may be a mapped file or a read-only `bytes`.

    Raises UnreadableMemory for a tensor whose memory is gone or may not be read.
    """
    fixed: list[tuple[int, int]] = []
    free: list[tuple[int, int]] = []
    for tensor in tensors:
        extent = extent_of(tensor)
        if extent is None or not start <= extent[0] < stop or extent[0] == extent[1]:
            continue
        storage = tensor.untyped_storage()
        # Torch can resize what it has allocated; that may be written to.
        if storage.resizable():
            free.append(extent)
            continue
        found = standing(*extent)
        if found.trouble:
            raise UnreadableMemory(f"a tensor {_why(found, extent[1] - extent[0])}", tensor)
        if not found.writable:
            fixed.append((-1, stop))
        elif is_of_bytes(*extent) or not may_change(storage):
            fixed.append(extent)
        else:
            free.append(extent)
    region = MemoryRegion.over(start, stop - start)
    # Read-only memory may be written if another tensor that may be written covers the same bytes.
    if not all(any(low <= one[0] and one[1] <= high for low, high in free) for one in fixed):
        region.data.flags.writeable = False
    return region


def _why(found: Standing, size: int) -> str:
    """What is wrong with memory of ``size`` bytes, and what to do."""
    lost = _("{size} of its {bytes}").format(size=f"{size - found.readable:,}", bytes=count(size, "byte"))
    if found.trouble == "cut":
        return _(
            "lies in a file that was cut after it was mapped: {lost} are gone. Map the file "
            "again, or pass a copy that was made before (.clone())"
        ).format(lost=lost)
    if found.trouble == "unmapped":
        return _(
            "lies in memory that is no longer mapped ({lost}). The object behind the tensor was closed or freed: "
            "keep it as long as the tensor"
        ).format(lost=lost)
    return _(
        "lies in memory that may not be read ({lost}): the system protects the pages. Allow "
        "reading, or pass a copy that was made before (.clone())"
    ).format(lost=lost)


def _named(error: UnreadableMemory, leaves: Sequence[ArgumentLeaf]) -> str:
    path = next(leaf.path for leaf in leaves if leaf.kind != "scalar" and tensor_of(leaf.object) is error.tensor)
    return f"argument {path!r} {str(error).removeprefix('a tensor ')}"


def _check_apart(regions: Sequence[MemoryRegion], devices: Sequence[str]) -> None:
    """Raise ArgumentError if addresses of different devices overlap: then a pointer does not say which one it means."""
    ordered = sorted(regions, key=lambda region: region.start)
    for one, other in itertools.pairwise(ordered):
        if other.start < one.stop:
            raise ArgumentError(
                _("the arguments are on {names}, whose addresses overlap: put them all on one device").format(
                    names=" and ".join(devices)
                )
            )
