"""Reading and writing memory for a batch of programs.

Affine addresses are slices: one NumPy view whose first axis is the base of a block serves all
programs at once. Everything else is gathered lane by lane. Either way all addresses are checked
before any memory is touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine import Affine
from triton_lab.interpreter.box import Box
from triton_lab.interpreter.errors import Fault, KernelError
from triton_lab.interpreter.memory import Memory, Region

Array = NDArray[Any]
Pointer = Affine | Array
Mask = Box | Array | None

# Addresses below this are taken for null pointers with an offset.
_NULL_PAGE = 4096
# How many addresses where nothing is found are looked up one by one to tell good from bad.
_MOST_LOOKUPS = 10_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an access that lies in one region, as positions in a view of it.

    ``view[index]`` are the elements in memory; ``lanes`` picks the same from an array of the
    shape of the access.
    """

    region: Region
    view: Array
    index: Any
    lanes: Any
    mark: tuple[int, tuple[int, ...], tuple[int, ...]] | None

    def at(self, index: Any) -> Piece:
        """The same view at another index."""
        return replace(self, index=index)


class Bad(Exception):
    """Some addresses may not be touched; the slow path finds out which."""


def load(
    memory: Memory, pointer: Pointer, mask: Mask, other: Array | None, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> Array:
    """The elements at ``pointer`` where ``mask`` holds, ``other`` (or zero) elsewhere.

    The result broadcasts to ``(programs, *shape)``. Raises KernelError with a `Fault`.
    """
    pieces = list(_pieces(memory, pointer, mask, dtype, shape, "load"))
    if len(pieces) == 1 and pieces[0].lanes is Ellipsis:
        piece = pieces[0]
        found: Array = piece.view[piece.index]
        return found.copy() if found.base is not None else found
    programs = _programs(pointer, mask)
    if other is None:
        result = np.zeros((programs, *shape), dtype)
    else:
        result = np.empty((max(programs, other.shape[0]), *shape), dtype)
        result[...] = other
    for piece in pieces:
        result[piece.lanes] = piece.view[piece.index]
    return result


def store(
    memory: Memory, pointer: Pointer, mask: Mask, value: Array, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    """Write ``value`` at ``pointer`` where ``mask`` holds.

    Of several lanes of one program at one place the last stays; of several programs, which race
    there, any may. Raises KernelError with a `Fault`, and then nothing is written.
    """
    if isinstance(pointer, Affine) and _repeats(pointer):
        pointer = pointer.elements(np.dtype(np.int64))
    if value.shape[0] > _programs(pointer, None):
        # Every program writes its own value to the same place.
        pointer = _for_each(pointer, value.shape[0])
    pieces = list(_pieces(memory, pointer, mask, dtype, shape, "store"))
    if not pieces:
        return
    programs = max(_programs(pointer, mask), value.shape[0])
    whole = np.broadcast_to(value, (programs, *shape))
    for piece in pieces:
        write(memory, piece, whole if piece.lanes is Ellipsis else whole[piece.lanes], dtype)


def write(memory: Memory, piece: Piece, value: Array, dtype: np.dtype[Any]) -> None:
    """Put ``value`` where ``piece`` says, and tell who watches."""
    region = piece.region
    if memory.before_write is not None:
        memory.before_write(region)
    before = piece.view[piece.index].copy() if memory.watching else None
    piece.view[piece.index] = value
    if before is None or before.tobytes() != piece.view[piece.index].tobytes():
        memory.version += 1
    if region.flags is not None:
        bits = np.dtype(f"u{dtype.itemsize}")
        phase = -region.start % dtype.itemsize
        if piece.mark is None:
            flags = region.flags.typed(bits, phase)
        else:
            phase, extents, strides = piece.mark
            flags = region.flags.blocks(bits, phase, extents, strides)
        flags[piece.index] = np.iinfo(bits).max


def scattered(
    memory: Memory, addresses: Array, mask: Mask, dtype: np.dtype[Any], shape: tuple[int, ...], kind: str
) -> list[Piece]:
    """Where each lane of ``addresses`` is, lane by lane. Raises KernelError with a `Fault`."""
    return list(_pieces(memory, addresses, mask, dtype, shape, kind))


def _pieces(
    memory: Memory, pointer: Pointer, mask: Mask, dtype: np.dtype[Any], shape: tuple[int, ...], kind: str
) -> Iterator[Piece]:
    memory.writing = kind != "load"
    if isinstance(mask, Box) and mask.is_full():
        mask = None
    try:
        if isinstance(pointer, Affine) and not isinstance(mask, np.ndarray):
            try:
                yield from [*_affine_pieces(memory, pointer, mask, dtype)]
                return
            except Bad:
                # The programs' blocks may lie in several regions, each of them well within its own.
                pass
        addresses = pointer.elements(np.dtype(np.int64)) if isinstance(pointer, Affine) else pointer
        elements = mask.elements() if isinstance(mask, Box) else mask
        yield from [*_scattered_pieces(memory, addresses, elements, dtype, shape)]
    except Bad:
        raise KernelError("", fault=_fault(memory, pointer, mask, dtype, shape, kind)) from None


def _affine_pieces(memory: Memory, pointer: Affine, mask: Box | None, dtype: np.dtype[Any]) -> Iterator[Piece]:
    base, strides, shape = pointer.base, pointer.strides, pointer.shape
    if 0 in shape:
        return
    if mask is None:
        yield _affine_piece(memory, base, strides, shape, dtype, Ellipsis)
        return
    programs = _programs(pointer, mask)
    for chosen, slices in mask.groups(programs):
        part = base if chosen is None or base.size == 1 else base[chosen]
        part = part + sum(s.start * stride for s, stride in zip(slices, strides, strict=True))
        extents = tuple(s.stop - s.start for s in slices)
        whole = chosen is None and extents == shape
        lanes = Ellipsis if whole else (slice(None) if chosen is None else chosen, *slices)
        if chosen is not None and base.size == 1:
            part = np.broadcast_to(part, (len(chosen),))
        yield _affine_piece(memory, part, strides, extents, dtype, lanes)


def _affine_piece(
    memory: Memory, base: Array, strides: tuple[int, ...], extents: tuple[int, ...], dtype: np.dtype[Any], lanes: Any
) -> Piece:
    itemsize = dtype.itemsize
    below = sum(min(0, s * (n - 1)) for s, n in zip(strides, extents, strict=True))
    above = sum(max(0, s * (n - 1)) for s, n in zip(strides, extents, strict=True))
    first = int(base[0])
    if base.size == 1:
        low = high = first
    else:
        low, high = int(base.min()), int(base.max())
    region = memory.find(low + below, high + above + itemsize)
    if region is None:
        raise Bad
    if itemsize > 1:
        if low % itemsize or any(s % itemsize for s in strides):
            raise Bad
        if base.size > 1 and (base % itemsize).any():
            raise Bad
    phase = -region.start % itemsize
    view = region.blocks(dtype, phase, extents, strides)
    origin = region.start + phase - below
    if base.size == 1:
        start = (first - origin) // itemsize
        return Piece(region, view, slice(start, start + 1), lanes, (phase, extents, strides))
    step = int(base[1]) - first
    if (
        step > 0
        and step * (base.size - 1) == high - low == int(base[-1]) - first
        and bool((base[1:] - base[:-1] == step).all())
    ):
        start = (first - origin) // itemsize
        jump = step // itemsize
        index: Any = slice(start, start + jump * (base.size - 1) + 1, jump)
    else:
        index = (base - origin) // itemsize
    return Piece(region, view, index, lanes, (phase, extents, strides))


def _scattered_pieces(
    memory: Memory, addresses: Array, mask: Array | None, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> Iterator[Piece]:
    """Lane by lane; as many pieces as there are regions."""
    programs = max(addresses.shape[0], 1 if mask is None else mask.shape[0])
    whole = np.broadcast_to(addresses, (programs, *shape))
    if mask is None:
        lanes: Any = Ellipsis
        chosen = whole
        if chosen.size == 0:
            return
    else:
        lanes = np.nonzero(np.broadcast_to(mask, whole.shape))
        chosen = whole[lanes]
        if chosen.size == 0:
            return
    itemsize = dtype.itemsize
    if itemsize > 1 and (chosen % itemsize).any():
        raise Bad
    low, high = int(chosen.min()), int(chosen.max())
    region = memory.find(low, high + itemsize)
    if region is not None:
        yield _scattered_piece(region, chosen, lanes, dtype)
        return
    if lanes is Ellipsis:
        lanes = tuple(axis.reshape(-1) for axis in np.indices(whole.shape))
        chosen = chosen.reshape(-1)
    verified = np.ones(chosen.size, np.bool_)
    pieces = []
    # In the order of addresses, so that each region is met once.
    order = np.argsort(chosen, kind="stable")
    ascending = chosen[order]
    first = 0
    while first < len(order):
        address = int(ascending[first])
        region = memory.find(address, address + itemsize)
        if region is None:
            raise Bad
        last = int(np.searchsorted(ascending, region.stop - itemsize, side="right"))
        inside = np.sort(order[first:last])
        verified[inside] = region.verified
        pieces.append(_scattered_piece(region, chosen[inside], tuple(axis[inside] for axis in lanes), dtype))
        first = last
    if _strays(lanes[0], verified, programs).any():
        raise Bad
    yield from pieces


def _strays(rows: Array, verified: Array, programs: int) -> Array:
    """Which lanes, given by their program, leave the tensor that others of their program are in.

    Memory that belongs to no tensor may be read by itself, but not by running over a tensor's end.
    """
    anchored = np.zeros(programs, np.bool_)
    anchored[rows[verified]] = True
    return ~verified & anchored[rows]


def _scattered_piece(region: Region, addresses: Array, lanes: Any, dtype: np.dtype[Any]) -> Piece:
    phase = -region.start % dtype.itemsize
    index = (addresses - (region.start + phase)) // dtype.itemsize
    return Piece(region, region.typed(dtype, phase), index, lanes, None)


def _programs(pointer: Pointer, mask: Mask) -> int:
    count = pointer.base.size if isinstance(pointer, Affine) else pointer.shape[0]
    if isinstance(mask, Box):
        return max(count, *(a.size for a in (*mask.lower, *mask.upper)))
    return count if mask is None else max(count, mask.shape[0])


def _for_each(pointer: Pointer, programs: int) -> Pointer:
    if isinstance(pointer, Affine):
        return Affine(np.broadcast_to(pointer.base, (programs,)), pointer.strides, pointer.shape)
    return np.broadcast_to(pointer, (programs, *pointer.shape[1:]))


def _repeats(pointer: Affine) -> bool:
    """Whether lanes of one program may share an address: NumPy would write them in an order of its own."""
    reach = 0
    for stride, extent in sorted((abs(s), n) for s, n in zip(pointer.strides, pointer.shape, strict=True) if n > 1):
        if stride <= reach:
            return True
        reach += stride * (extent - 1)
    return False


def _fault(
    memory: Memory, pointer: Pointer, mask: Mask, dtype: np.dtype[Any], shape: tuple[int, ...], kind: str
) -> Fault:
    """Which lanes may not be touched, one at a time."""
    addresses = pointer.elements(np.dtype(np.int64)) if isinstance(pointer, Affine) else pointer
    active = mask.elements() if isinstance(mask, Box) else mask
    programs = _programs(pointer, mask)
    whole = np.broadcast_to(addresses, (programs, *shape))
    on = np.ones(whole.shape, np.bool_) if active is None else np.broadcast_to(active, whole.shape)
    itemsize = dtype.itemsize
    good, verified = np.zeros(whole.shape, np.bool_), np.zeros(whole.shape, np.bool_)

    if memory.allowed is None:
        _look_up(memory, np.unique(whole[on]), itemsize)
    regions = sorted(memory.regions if memory.allowed is None else memory.allowed, key=lambda region: region.start)
    if regions:
        starts, stops = (np.array([getattr(region, end) for region in regions]) for end in ("start", "stop"))
        holding = np.maximum(np.searchsorted(starts, whole, side="right") - 1, 0)
        inside = (whole >= starts[holding]) & (whole + itemsize <= stops[holding])
        good = inside & np.array([region.writable or kind == "load" for region in regions])[holding]
        verified = inside & np.array([region.verified for region in regions])[holding]
    rows = np.nonzero(on & good)[0]
    strays = np.zeros(whole.shape, np.bool_)
    strays[on & good] = _strays(rows, verified[on & good], programs)
    good &= ~strays
    crooked = on & (whole % itemsize != 0)
    bad = on & ~good
    problem = "out-of-bounds"
    if not bad.any():
        bad, problem = crooked, "misaligned"
    elif (whole[bad] < _NULL_PAGE).all():
        problem = "null-pointer"
    rows, *_ = np.nonzero(bad)
    lanes = np.flatnonzero(bad) % max(1, int(np.prod(shape)))
    return Fault(problem, kind, itemsize, rows, lanes, whole[bad], shape)


def _look_up(memory: Memory, addresses: Array, itemsize: int) -> None:
    """Find out what lies at ``addresses`` (ascending), those beyond the first that nobody has looked at too."""
    first = missed = 0
    while first < len(addresses) and missed < _MOST_LOOKUPS:
        address = int(addresses[first])
        region = memory.find(address, address + itemsize)
        missed += region is None
        first = first + 1 if region is None else int(np.searchsorted(addresses, region.stop - itemsize, side="right"))
        first = max(first, int(np.searchsorted(addresses, address, side="right")))
