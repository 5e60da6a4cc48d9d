"""Reads and writes memory for a batch of programs.

Affine addresses are slices: one NumPy view, indexed on its first axis by the block's base, serves all programs at once.
Other addresses are gathered lane by lane. In both cases all addresses are checked before any memory is touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock, are_lanes_aligned, are_lanes_apart
from triton_lab.interpreter.faulting_lanes import fault_of, strays
from triton_lab.interpreter.kernel_errors import AccessFault, KernelError
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.memory_regions import Memory, MemoryRegion, Reachable, span

Array = NDArray[Any]
Pointer = AffineBlock | Array
Mask = MaskBox | Array | None


@dataclass(frozen=True, slots=True)
class AccessPiece:
    """The part of an access that lies in one region, as positions in a view of the region.

    ``view[index]`` are the elements in memory. ``lanes`` selects the same elements from an array with the access's
    shape.
    """

    region: MemoryRegion
    view: Array
    index: Any
    lanes: Any
    mark: tuple[int, tuple[int, ...], tuple[int, ...]] | None

    def at(self, index: Any) -> AccessPiece:
        """The same view at another index."""
        return replace(self, index=index)


class Bad(Exception):
    """Raised if some addresses may not be touched; the slow path then finds out which."""


def load(
    reachable: Reachable,
    pointer: Pointer,
    mask: Mask,
    other: Array | None,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
) -> Array:
    """The elements at ``pointer`` where ``mask`` holds, ``other`` (or zero) elsewhere.

    The result broadcasts to ``(programs, *shape)``. Raises KernelError with an `AccessFault`.
    """
    mask = _needed(mask)
    if other is not None and other.shape[0] > _programs(pointer, mask):
        # All programs load the same lanes, but each has its own values for lanes that are masked out.
        pointer = _for_each(pointer, other.shape[0])
    pieces = pieces_of(reachable, pointer, mask, dtype, shape, "load")
    if len(pieces) == 1 and pieces[0].lanes is Ellipsis:
        piece = pieces[0]
        found: Array = piece.view[piece.index]
        return found.copy() if found.base is not None else found
    programs = _programs(pointer, mask)
    result = np.zeros((programs, *shape), dtype)
    if other is not None:
        result[...] = other
    for piece in pieces:
        result[piece.lanes] = piece.view[piece.index]
    return result


def store(
    reachable: Reachable, pointer: Pointer, mask: Mask, value: Array, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    """Write ``value`` at ``pointer`` where ``mask`` holds.

    If several lanes of one program write to one place, the last one wins. If several programs do, they race, and any
    may win. Raises KernelError with an `AccessFault`, and then nothing is written.
    """
    if isinstance(pointer, AffineBlock) and not are_lanes_apart(pointer.strides, pointer.shape, 1):
        # Several lanes have one address: NumPy's order of writing them is not defined.
        pointer = pointer.elements(np.dtype(np.int64))
    mask = _needed(mask)
    programs = max(_programs(pointer, mask), value.shape[0])
    if programs > _programs(pointer, None):
        # All programs write to the same place, but each has its own value or mask.
        pointer = _for_each(pointer, programs)
    pieces = pieces_of(reachable, pointer, mask, dtype, shape, "store")
    if not pieces:
        return
    whole = np.broadcast_to(value, (programs, *shape))
    for piece in pieces:
        write(reachable.memory, piece, whole if piece.lanes is Ellipsis else whole[piece.lanes], dtype)


def write(memory: Memory, piece: AccessPiece, value: Array, dtype: np.dtype[Any]) -> None:
    """Write ``value`` to the place that ``piece`` gives, and report it to the memory."""
    region = piece.region
    if memory.before_write is not None:
        memory.before_write(region)
    counts = memory.awaited is None or region in memory.awaited
    before = piece.view[piece.index].copy() if memory.watching and counts else None
    piece.view[piece.index] = value
    if counts and (before is None or before.tobytes() != piece.view[piece.index].tobytes()):
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
    reachable: Reachable, addresses: Array, mask: Mask, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> list[AccessPiece]:
    """The pieces of an atomic, found lane by lane from ``addresses``. Raises KernelError with an `AccessFault`."""
    return pieces_of(reachable, addresses, _needed(mask), dtype, shape, "atomic")


def _needed(mask: Mask) -> Mask:
    """``mask``, or None if it leaves no lane out."""
    return None if isinstance(mask, MaskBox) and mask.is_full() else mask


def pieces_of(
    reachable: Reachable, pointer: Pointer, mask: Mask, dtype: np.dtype[Any], shape: tuple[int, ...], kind: str
) -> list[AccessPiece]:
    """The pieces of an access; ``kind`` is "load" if it only reads. Raises KernelError."""
    try:
        pieces = _found(reachable, pointer, mask, dtype, shape)
        if kind != "load" and not all(piece.region.writable for piece in pieces):
            raise Bad
    except Bad:
        raise KernelError("", fault=_fault(reachable, pointer, mask, dtype, shape, kind)) from None
    return pieces


def _found(
    reachable: Reachable, pointer: Pointer, mask: Mask, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> list[AccessPiece]:
    """The pieces of an access, without a check whether its regions may be written. Raises Bad."""
    if isinstance(pointer, AffineBlock) and not isinstance(mask, np.ndarray):
        try:
            return list(_affine_pieces(reachable, pointer, mask, dtype))
        except Bad:
            # The programs' blocks may lie in several regions, each within its own.
            pass
    addresses = pointer.elements(np.dtype(np.int64)) if isinstance(pointer, AffineBlock) else pointer
    elements = mask.elements() if isinstance(mask, MaskBox) else mask
    return _scattered_pieces(reachable, addresses, elements, dtype, shape)


def _affine_pieces(
    reachable: Reachable, pointer: AffineBlock, mask: MaskBox | None, dtype: np.dtype[Any]
) -> Iterator[AccessPiece]:
    base, strides, shape = pointer.base, pointer.strides, pointer.shape
    if 0 in shape:
        return
    if mask is None:
        yield _affine_piece(reachable, base, strides, shape, dtype, Ellipsis)
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
        yield _affine_piece(reachable, part, strides, extents, dtype, lanes)


def _affine_piece(
    reachable: Reachable,
    base: Array,
    strides: tuple[int, ...],
    extents: tuple[int, ...],
    dtype: np.dtype[Any],
    lanes: Any,
) -> AccessPiece:
    """The piece for blocks of ``extents`` based at the addresses ``base``, all in one region. Raises Bad."""
    itemsize = dtype.itemsize
    low = high = int(base[0])
    if base.size > 1:
        low, high = int(base.min()), int(base.max())
    below, above = span(extents, strides)
    region = reachable.find(low + below, high + above + itemsize)
    if region is None or not are_lanes_aligned(base, strides, itemsize):
        raise Bad
    phase = -region.start % itemsize
    view = region.blocks(dtype, phase, extents, strides)
    index = _entries(base, low, high, region.start + phase - below, itemsize)
    return AccessPiece(region, view, index, lanes, (phase, extents, strides))


def _entries(base: Array, low: int, high: int, origin: int, itemsize: int) -> Any:
    """The positions of the blocks, counted in elements from ``origin``.

    ``low`` and ``high`` are the least and the greatest of ``base``. A slice if the positions ascend evenly.
    """
    first = int(base[0])
    start = (first - origin) // itemsize
    if base.size == 1:
        return slice(start, start + 1)
    step = int(base[1]) - first
    last = first + step * (base.size - 1)
    ascends = step > 0 and low == first and high == last and bool((base[1:] - base[:-1] == step).all())
    return slice(start, (last - origin) // itemsize + 1, step // itemsize) if ascends else (base - origin) // itemsize


def _scattered_pieces(
    reachable: Reachable, addresses: Array, mask: Array | None, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> list[AccessPiece]:
    """The pieces of an access found lane by lane, one per region. Raises Bad."""
    programs = max(addresses.shape[0], 1 if mask is None else mask.shape[0])
    whole = np.broadcast_to(addresses, (programs, *shape))
    lanes: Any = Ellipsis if mask is None else np.nonzero(np.broadcast_to(mask, whole.shape))
    chosen = whole if mask is None else whole[lanes]
    itemsize = dtype.itemsize
    if chosen.size == 0:
        return []
    if itemsize > 1 and (chosen % itemsize).any():
        raise Bad
    region = reachable.find(int(chosen.min()), int(chosen.max()) + itemsize)
    if region is not None:
        return [_scattered_piece(region, chosen, lanes, dtype)]
    if lanes is Ellipsis:
        lanes = tuple(axis.reshape(-1) for axis in np.indices(whole.shape))
    return _by_region(reachable, chosen.reshape(-1), lanes, dtype, programs)


def _by_region(
    reachable: Reachable, addresses: Array, lanes: tuple[Array, ...], dtype: np.dtype[Any], programs: int
) -> list[AccessPiece]:
    """A piece for each region in which some of ``addresses`` (lanes,) lie. Raises Bad."""
    itemsize = dtype.itemsize
    verified = np.empty(addresses.size, np.bool_)  # every lane is in some region
    pieces = []
    # Sorted by address, so that each region comes up once.
    order = np.argsort(addresses, kind="stable")
    ascending = addresses[order]
    first = 0
    while first < len(order):
        address = int(ascending[first])
        region = reachable.find(address, address + itemsize)
        if region is None:
            raise Bad
        last = int(np.searchsorted(ascending, region.stop - itemsize, side="right"))
        inside = np.sort(order[first:last])
        verified[inside] = region.verified
        pieces.append(_scattered_piece(region, addresses[inside], tuple(axis[inside] for axis in lanes), dtype))
        first = last
    if strays(lanes[0], verified, programs).any():
        raise Bad
    return pieces


def _scattered_piece(region: MemoryRegion, addresses: Array, lanes: Any, dtype: np.dtype[Any]) -> AccessPiece:
    phase = -region.start % dtype.itemsize
    index = (addresses - (region.start + phase)) // dtype.itemsize
    return AccessPiece(region, region.typed(dtype, phase), index, lanes, None)


def _programs(pointer: Pointer, mask: Mask) -> int:
    count = pointer.base.size if isinstance(pointer, AffineBlock) else pointer.shape[0]
    if isinstance(mask, MaskBox):
        return max(count, *(a.size for a in (*mask.lower, *mask.upper)))
    return count if mask is None else max(count, mask.shape[0])


def _for_each(pointer: Pointer, programs: int) -> Pointer:
    if isinstance(pointer, AffineBlock):
        return AffineBlock(np.broadcast_to(pointer.base, (programs,)), pointer.strides, pointer.shape)
    return np.broadcast_to(pointer, (programs, *pointer.shape[1:]))


def _fault(
    reachable: Reachable, pointer: Pointer, mask: Mask, dtype: np.dtype[Any], shape: tuple[int, ...], kind: str
) -> AccessFault:
    """The fault of a bad access, found lane by lane."""
    addresses = pointer.elements(np.dtype(np.int64)) if isinstance(pointer, AffineBlock) else pointer
    active = mask.elements() if isinstance(mask, MaskBox) else mask
    whole = np.broadcast_to(addresses, (_programs(pointer, mask), *shape))
    on = np.ones(whole.shape, np.bool_) if active is None else np.broadcast_to(active, whole.shape)
    return replace(fault_of(reachable, whole, on, dtype.itemsize, kind), pointer=pointer, mask=mask)
