"""Tensors in memory: the bytes that each covers, where several overlap, and the offset of an index.

Works on torch tensors (`stored`) and on tensor arguments of a launch: on anything with the attributes of
`StridedLike`. Offsets and strides count elements; addresses and sizes count bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.launch.element_index import Ints, contiguous_strides, digits, offsets
from triton_lab.launch.maps.storage_spans import stretches
from triton_lab.localization import _

if TYPE_CHECKING:
    import torch

MOST_TENSORS = 63  # a set of tensors is the bits of a signed 64-bit integer


class StridedLike(Protocol):
    """A tensor's place in memory. ``offset`` is that of element 0 from the storage's start."""

    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def offset(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def storage_address(self) -> int: ...
    @property
    def storage_bytes(self) -> int: ...


@dataclass(frozen=True)
class Stored:
    """A torch tensor's place in memory."""

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: str
    itemsize: int
    storage_address: int
    storage_bytes: int


def stored(tensor: torch.Tensor, name: str) -> Stored:
    """The place of a dense tensor in memory. Raises TypeError for anything without strides."""
    import torch

    if not isinstance(tensor, torch.Tensor):
        kind = messages.a(type(tensor).__name__)
        raise TypeError(
            _("{name} is {kind}, not a torch tensor; torch.as_tensor({name}) makes one").format(name=name, kind=kind)
        )
    if tensor.layout is not torch.strided:
        raise TypeError(
            _("{name} is {removeprefix}: only dense tensors have strides").format(
                name=name, removeprefix=str(tensor.layout).removeprefix("torch.")
            )
        )
    storage = tensor.untyped_storage()
    return Stored(
        name,
        tuple(tensor.shape),
        tuple(tensor.stride()),
        int(tensor.storage_offset()),
        str(tensor.dtype).removeprefix("torch."),
        tensor.element_size(),
        storage.data_ptr() or id(storage),  # a meta tensor has no address and shares no memory
        storage.nbytes(),
    )


def elements(tensor: StridedLike) -> int:
    """How many elements the tensor has."""
    return math.prod(tensor.shape)


def is_contiguous(tensor: StridedLike) -> bool:
    """Whether elements lie in storage in row-major order without gaps, as in torch."""
    wanted = contiguous_strides(tuple(tensor.shape))
    return elements(tensor) == 0 or all(
        size == 1 or own == want for size, own, want in zip(tensor.shape, tensor.strides, wanted, strict=True)
    )


def arithmetic(tensor: StridedLike, index: Sequence[int]) -> str:
    """The computation of one element's offset: ``2 + 1·6 + 3·1 = 11``."""
    total = tensor.offset + sum(i * s for i, s in zip(index, tensor.strides, strict=True))
    terms = [str(tensor.offset), *(f"{i}·{s}" for i, s in zip(index, tensor.strides, strict=True))]
    return f"{' + '.join(terms)} = {total}"


def traits(tensor: StridedLike) -> list[str]:
    """Notable properties of a tensor's strides, in a few words each; ``["contiguous"]`` if there are none."""
    count = elements(tensor)
    if not count:
        return [_("no elements")]
    if is_contiguous(tensor):
        return [_("contiguous")]
    moving = [(stride, size) for stride, size in zip(tensor.strides, tensor.shape, strict=True) if size > 1]
    found = []
    repeats = math.prod(size for stride, size in moving if stride == 0)
    if repeats > 1:
        found.append(_("expanded: each element read {times}").format(times=messages.count(repeats, "time")))
    kept = [(stride, size) for stride, size in moving if stride != 0]
    if kept != sorted(kept, key=lambda pair: -pair[0]):
        found.append(_("transposed"))
    kept.sort()
    sizes, strides = tuple(size for _unused, size in kept), tuple(stride for stride, _unused in kept)
    if digits(sizes, strides) is None:
        own = offsets(sizes, strides)
        distinct, span = len(np.unique(own)), int(own.max()) + 1
    else:
        distinct = math.prod(sizes)
        span = sum((size - 1) * max(0, stride) for stride, size in kept) + 1
    if distinct < math.prod(sizes):
        found.append(_("overlaps itself"))
    if distinct < span:
        found.append(
            _("gaps: {distinct} of {places} used").format(
                distinct=messages.number(distinct), places=messages.count(span, "place")
            )
        )
    return found


@dataclass(frozen=True)
class SharedStorage:
    """A stretch of memory that tensors share: a storage, or storages that overlap.

    ``letter`` names it (A, B, ...); ``tensors`` are indices into the sequence it was made from.
    """

    letter: str
    address: int
    nbytes: int
    tensors: tuple[int, ...]


def memories(tensors: Sequence[StridedLike]) -> list[SharedStorage]:
    """The shared storages of these tensors, in the order of their first tensor."""
    spans = sorted((t.storage_address, t.storage_address + t.storage_bytes, number) for number, t in enumerate(tensors))
    groups: list[tuple[int, int, list[int]]] = []
    for start, end, number in spans:
        if groups and (start < groups[-1][1] or (start == groups[-1][0] and start == end)):
            low, high, members = groups[-1]
            groups[-1] = (low, max(high, end), [*members, number])
        else:
            groups.append((start, end, [number]))
    groups.sort(key=lambda group: min(group[2]))
    return [
        SharedStorage(_letter(number), low, high - low, tuple(sorted(members)))
        for number, (low, high, members) in enumerate(groups)
    ]


def _letter(number: int) -> str:
    """The letters of a number: A ... Z, then AA, AB ..."""
    return (_letter(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)


@dataclass(frozen=True)
class Cover:
    """Which tensors cover which part of a memory, in units of ``unit`` bytes from ``first`` on.

    A stretch is the units between two ``edges`` (stretches + 1,), which are all covered alike. ``stretch_sets``
    (stretches,) has bit k set if tensor ``tensors[k]`` covers the stretch; ``stretch_counts`` (tensors, stretches) is
    how many of its elements cover each unit.
    """

    unit: int
    first: int
    tensors: tuple[int, ...]
    edges: Ints
    stretch_sets: Ints
    stretch_counts: npt.NDArray[np.int32]

    @property
    def units(self) -> int:
        """The number of units."""
        return int(self.edges[-1])

    @cached_property
    def several(self) -> npt.NDArray[np.bool_]:
        """(stretches,) whether any tensor has several elements there."""
        return np.asarray((self.stretch_counts > 1).any(axis=0))

    @property
    def sets(self) -> Ints:
        """(units,) the set of each unit."""
        return np.repeat(self.stretch_sets, np.diff(self.edges))

    @property
    def counts(self) -> npt.NDArray[np.int32]:
        """(tensors, units) the count of each tensor at each unit."""
        return np.repeat(self.stretch_counts, np.diff(self.edges), axis=1)

    def stretch_at(self, units: Ints) -> Ints:
        """The stretch of each of some units."""
        return np.searchsorted(self.edges, units, side="right") - 1

    def overlap(self, one: int, other: int) -> int:
        """How many bytes two tensors (indices as in ``tensors``) share."""
        a, b = self.stretch_counts[self.tensors.index(one)], self.stretch_counts[self.tensors.index(other)]
        return int(np.diff(self.edges)[(a > 0) & (b > 0)].sum()) * self.unit


def cover(tensors: Sequence[StridedLike], memory: SharedStorage, slack: int = 16) -> Cover:
    """The cover of a memory.

    If far more of it is uncovered than covered, only the covered range and ``slack`` units on each side are included.
    """
    mine = memory.tensors[:MOST_TENSORS]
    starts = [tensors[t].storage_address - memory.address + tensors[t].offset * tensors[t].itemsize for t in mine]
    unit = math.gcd(*(tensors[t].itemsize for t in mine), *starts) or 1
    spans = [(start, start + _reach(tensors[t])) for t, start in zip(mine, starts, strict=True) if elements(tensors[t])]
    first, end = 0, memory.nbytes // unit
    if spans:
        low, high = min(span[0] for span in spans) // unit, max(span[1] for span in spans) // unit
        if end > 4096 and end > 4 * (high - low):
            first, end = max(0, low - slack), min(end, high + slack)
    own = [_covered(tensors[t], start // unit - first, unit) for t, start in zip(mine, starts, strict=True)]
    # Each part is sorted already, which a stable sort exploits.
    borders = np.concatenate([np.array([0, end - first]), *(edges for edges, _unused in own)])
    borders = np.sort(borders, kind="stable")
    edges = borders[np.append(True, borders[1:] != borders[:-1])]
    counts = np.zeros((len(mine), len(edges) - 1), dtype=np.int32)
    sets = np.zeros(len(edges) - 1, dtype=np.int64)
    for row, (mine_edges, times) in enumerate(own):
        counts[row] = times[np.searchsorted(mine_edges, edges[:-1], side="right")]
        sets |= (counts[row] > 0).astype(np.int64) << row
    return Cover(unit, first, mine, edges, sets, counts)


def _covered(tensor: StridedLike, base: int, unit: int) -> tuple[Ints, npt.NDArray[np.int32]]:
    """The units at which a tensor's number of elements per unit changes, and these numbers.

    The first number holds before the first of these units, the second from there on, and so on. Element 0 begins at
    unit ``base``.
    """
    wide = tensor.itemsize // unit
    found = stretches(tuple(tensor.shape), tuple(tensor.strides))
    if found is not None:
        ends = np.stack([found.starts, found.starts + found.lengths], axis=1).reshape(-1) * wide + base
        times = np.zeros(len(ends) + 1, dtype=np.int32)
        times[1::2] = found.times
        return ends, times
    at = offsets(tuple(tensor.shape), tuple(tensor.strides)) * wide
    low = int(at.min())
    each = np.zeros(int(at.max()) - low + wide, dtype=np.int32)
    for part in range(wide):
        each += np.bincount(at - low + part, minlength=len(each)).astype(np.int32)
    each = np.concatenate([np.zeros(1, np.int32), each, np.zeros(1, np.int32)])
    changes = np.flatnonzero(each[1:] != each[:-1])
    return changes + (low + base), np.append(np.int32(0), each[changes + 1])


def _reach(tensor: StridedLike) -> int:
    """The bytes from element 0 to the end of the element with the largest index on each axis."""
    far = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides, strict=True))
    return (far + 1) * tensor.itemsize
