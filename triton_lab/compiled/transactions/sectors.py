"""Counts the requests and sectors of an access to global memory, from the addresses of its lanes.

A warp instruction is one request, unless all its lanes are inactive. It loads or stores each 32-byte sector that
contains its lanes' bytes once. (Nsight Compute counts them as ``l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`` and
``l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum``.) Programs whose addresses differ by whole sectors are counted
once.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triton_lab.compiled.layouts import Linear
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.localization import _
from triton_lab.messages import count

Array: TypeAlias = NDArray[Any]
Ints: TypeAlias = NDArray[np.int64]

SECTOR = 32  # bytes
_LANES_AT_ONCE = 1 << 20  # that are counted together
_DIGEST = 16  # bytes of a hash of a row of addresses


@dataclass(frozen=True, eq=False)
class Dealt:
    """How a block is assigned to a program's threads, in vectors of ``width`` bytes.

    ``positions`` has the row-major position in the block of the first element of each lane's vector,
    ``(warps, instructions, lanes)``, with equally many instructions for each warp; -1 is a lane without a vector.
    """

    positions: Ints
    width: int

    def lanes(self, event: AccessEvent) -> tuple[Ints, NDArray[np.bool_]]:
        """The address at which each lane's vector begins, and whether the lane is active.

        Both are ``(programs, warps, instructions, lanes)``.
        """
        rows = len(event.programs)
        taking = self.positions >= 0
        at = np.where(taking, self.positions, 0).reshape(-1)
        addresses = event.addresses().reshape(rows, -1)[:, at].reshape(rows, *self.positions.shape)
        active = event.active().reshape(rows, -1)[:, at].reshape(rows, *self.positions.shape)
        return addresses, active & taking


def dealt(linear: Linear | None, itemsize: int, width: int, lanes: int, warps: int, once: bool) -> Dealt:
    """The assignment by a layout in registers; a single element (None) belongs to every thread.

    With ``once``, for operations that change memory, only the first of the threads that hold copies takes part. A
    thread with copies in its registers uses one of them. Raises ValueError where a thread holds no such vector.
    """
    if linear is None:
        positions = np.zeros((warps, 1, lanes), np.int64)
        if once:
            positions[:] = -1
            positions[0, 0, 0] = 0
        return Dealt(positions, width)
    vector = max(1, width // itemsize)
    registers = _sums([linear.pack(basis) for basis in linear.bases("register") if any(basis)])
    if vector > len(registers):
        raise ValueError(
            _("a thread holds {elements}, and no vector of {vector}").format(
                elements=count(len(registers), "element"), vector=vector
            )
        )
    by_lane, by_warp = (_sums([linear.pack(basis) for basis in linear.bases(name)]) for name in ("lane", "warp"))
    positions = by_warp[:, None, None] ^ registers[::vector][None, :, None] ^ by_lane[None, None, :]
    if once:
        copies = [_copies(linear, name) for name in ("warp", "lane")]
        positions = np.where(copies[0][:, None, None] | copies[1][None, None, :], -1, positions)
    return Dealt(positions, width)


def _sums(columns: Sequence[int]) -> Ints:
    found = np.zeros(1, np.int64)
    for column in columns:
        found = np.concatenate([found, found ^ column])
    return found


def _copies(linear: Linear, name: str) -> NDArray[np.bool_]:
    """Which numbers of an input hold the same elements as a lower one: Triton masks off their stores."""
    free = sum(1 << bit for bit, basis in enumerate(linear.bases(name)) if not any(basis))
    return np.asarray(np.arange(linear.size(name)) & free != 0)


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts for each program, ``(programs,)``.

    ``requests``; ``sectors``; ``wanted``: the bytes that requests cover, where bytes that several lanes of a request
    share count once; ``lanes``: the bytes of all lanes.
    """

    requests: Ints
    sectors: Ints
    wanted: Ints
    lanes: Ints

    @classmethod
    def none(cls, programs: int) -> Counts:
        return cls(*(np.zeros(programs, np.int64) for _ in range(4)))

    def add(self, programs: Array, other: Array) -> None:
        """Add rows of `of_lanes` to the counts of ``programs``, which must be distinct."""
        for mine, more in zip((self.requests, self.sectors, self.wanted, self.lanes), other, strict=True):
            mine[programs] += more

    @property
    def moved(self) -> Ints:
        """The bytes of all sectors."""
        return self.sectors * SECTOR


def of_lanes(addresses: Ints, on: NDArray[np.bool_], width: int) -> Ints:
    """Requests, sectors, wanted and lanes' bytes of ``(programs, warps, instructions, lanes)``: ``(4, programs)``."""
    programs = addresses.shape[0]
    ran = on.any(axis=-1).reshape(programs, -1).sum(axis=1)
    distinct = [
        _distinct(np.where(on, addresses // unit, -1)).reshape(programs, -1).sum(axis=1) for unit in (SECTOR, width)
    ]
    sectors = distinct[0] * max(1, width // SECTOR)  # wider vectors are aligned, too
    lanes = on.reshape(programs, -1).sum(axis=1)
    return np.stack([ran, sectors, distinct[1] * width, lanes * width])


def _distinct(numbers: Ints) -> Ints:
    """How many different numbers, from 0 on, there are along the last axis."""
    ordered = np.sort(numbers, axis=-1)
    first = ordered[..., 1:] != ordered[..., :-1]
    return np.asarray((first & (ordered[..., 1:] >= 0)).sum(axis=-1) + (ordered[..., 0] >= 0), np.int64)


@dataclass(eq=False)
class SectorCounter:
    """Counts the events of one access, whose block is assigned as ``dealt`` says; equal requests are counted once."""

    dealt: Dealt
    programs: int
    counts: Counts = field(init=False)
    known: dict[Any, Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.counts = Counts.none(self.programs)

    def add(self, event: AccessEvent) -> None:
        """Count the programs of one event."""
        if math.prod(event.shape) == 0 or not len(event.programs):
            return
        (common, keys), first, which = _kinds(event) or _alike(event)
        known = [self.known.get((common, key)) for key in keys]
        missing = np.flatnonzero([one is None for one in known])
        step = max(1, _LANES_AT_ONCE // self.dealt.positions.size)
        for start in range(0, len(missing), step):
            part = missing[start : start + step]
            found = self.of(event.of(first[part]))
            for at, column in zip(part, found.T, strict=True):
                known[at] = column
                if len(self.known) < 1 << 14:
                    self.known[common, keys[at]] = column
        table = np.stack([one for one in known if one is not None], axis=1)
        self.counts.add(event.programs, table[:, which])

    def of(self, event: AccessEvent) -> Ints:
        """Each program of an event by itself: rows of `of_lanes`."""
        return of_lanes(*self.dealt.lanes(event), self.dealt.width)


_Kinds: TypeAlias = tuple[tuple[Any, list[bytes]], Ints, Ints]


def _kinds(event: AccessEvent) -> _Kinds | None:
    """Groups the programs of an event with affine addresses; None for other events.

    Returns what they have in common; for each group a key and a row; and the group of each program.
    """
    pointer, mask, count = event.pointer, event.mask, len(event.programs)
    if not isinstance(pointer, AffineBlock):
        return None
    columns = [np.broadcast_to(pointer.base % SECTOR, count)]
    if isinstance(mask, MaskBox) and not mask.is_full():
        columns += [np.broadcast_to(one, count) for one in (*mask.lower, *mask.upper)]
    elif isinstance(mask, np.ndarray):
        bits = np.packbits(event.active().reshape(count, -1), axis=1)
        columns += list(np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))).view(np.int64).T)
    rows = np.ascontiguousarray(np.stack(columns, axis=1).astype(np.int64))
    keys, first, which = _unique(rows)
    return (("affine", pointer.strides, pointer.shape, rows.shape[1]), keys), first, which


def _alike(event: AccessEvent) -> _Kinds:
    """Groups programs with the same addresses lane by lane, counted from the first; inactive lanes are ignored."""
    count = len(event.programs)
    addresses, active = event.addresses().reshape(count, -1), event.active().reshape(count, -1)
    rows = np.where(active, addresses - (addresses[:, :1] // SECTOR * SECTOR), np.iinfo(np.int64).min)
    keys, first, which = _unique(np.ascontiguousarray(rows))
    return (("each", rows.shape[1]), keys), first, which


def _unique(rows: Ints) -> tuple[list[bytes], Ints, Ints]:
    """Keys of the distinct rows, where each occurs first, and which of them every row is."""
    if rows.shape[1] * rows.itemsize > 2 * _DIGEST:
        digests = b"".join(hashlib.blake2b(row, digest_size=_DIGEST).digest() for row in rows)
        whole = np.frombuffer(digests, np.dtype((np.void, _DIGEST)))
    else:
        whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).reshape(-1)
    kinds, first, which = np.unique(whole, return_index=True, return_inverse=True)
    return [one.tobytes() for one in kinds], first, which.reshape(-1)
