"""The memory of a launch: one region for each run of storage that the arguments reach."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from triton_lab.backend.arguments import ArgumentError, Leaf, tensor_of
from triton_lab.backend.mirror import Mirrors, joined
from triton_lab.backend.pages import is_of_bytes, may_write
from triton_lab.interpreter.memory import Region


def extent_of(tensor: Any) -> tuple[int, int] | None:
    """The addresses ``(start, stop)`` of the storage behind a tensor, whole; None where there is none."""
    storage = tensor.untyped_storage()
    start = storage.data_ptr()
    return (start, start + storage.nbytes()) if start else None


def regions_of(leaves: Sequence[Leaf], mirrors: Mirrors, private: bool = False) -> list[Region]:
    """Regions for all pointer arguments: the CPU's own memory, or ``mirrors`` of another device's.

    With ``private``, copies of the CPU's memory too.
    """
    by_device: dict[str, list[Any]] = {}
    for leaf in leaves:
        tensor = tensor_of(leaf.object) if leaf.kind != "scalar" else None
        if tensor is not None and extent_of(tensor) is not None:
            by_device.setdefault(str(tensor.untyped_storage().device), []).append(tensor)
    result: list[Region] = []
    for tensors in by_device.values():
        kind = tensors[0].untyped_storage().device.type
        if kind == "cpu":
            runs = joined([extent for tensor in tensors if (extent := extent_of(tensor)) is not None])
            own = [own_memory(start, stop, tensors) for start, stop in runs]
            result.extend(map(_copied, own) if private else own)
        else:
            result.extend(mirrors.of(kind, tensors))
    _check_apart(result, list(by_device))
    return result


def _copied(region: Region) -> Region:
    """The same bytes elsewhere; what may only be read stays so."""
    data = region.data.copy()
    data.flags.writeable = region.data.flags.writeable
    return Region(region.start, data)


def own_memory(start: int, stop: int, tensors: Sequence[Any]) -> Region:
    """The CPU's own memory, where ``tensors`` lie; it may be a mapped file or a `bytes` that can only be read."""
    region = Region.over(start, stop - start)
    for tensor in tensors:
        extent = extent_of(tensor)
        # What torch has allocated it can resize, and may be written to.
        if extent is None or tensor.untyped_storage().resizable() or not start <= extent[0] < stop:
            continue
        if not may_write(*extent) or is_of_bytes(*extent):
            region.data.flags.writeable = False
    return region


def _check_apart(regions: Sequence[Region], devices: Sequence[str]) -> None:
    """Addresses of different devices may be the same numbers; then nobody can tell them apart."""
    ordered = sorted(regions, key=lambda region: region.start)
    for one, other in itertools.pairwise(ordered):
        if other.start < one.stop:
            raise ArgumentError(
                f"the arguments lie on {' and '.join(devices)}, whose addresses overlap: put them all on one device"
            )
