"""The positions of an access's lanes: over its argument's shape, or along its storage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from triton_lab.launch.element_index import Digits, ElementPlaces, Ints, contiguous_strides, places
from triton_lab.launch.maps.index_margins import Continued, continued, covers
from triton_lab.launch.maps.overhang import by_walk, space, walk

LINE_BYTES, SECTOR_BYTES = 128, 32  # of a GPU's cache: a line, and a sector, the unit of a memory request

Flags = npt.NDArray[np.bool_]
_SEEN = 1 << 22  # lanes


class ArgumentLike(Protocol):
    """The part of an argument that maps need; strides are in elements, the address is element 0's."""

    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def address(self) -> int: ...
    @property
    def itemsize(self) -> int: ...


class AccessLike(Protocol):
    """The part of an access that maps need; arrays are (programs, *block)."""

    @property
    def kind(self) -> str: ...
    @property
    def line(self) -> int | None: ...
    @property
    def argument(self) -> str | None: ...
    @property
    def iterations(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    def address(self, iteration: int) -> npt.NDArray[np.int64]: ...
    def mask(self, iteration: int) -> npt.NDArray[np.bool_]: ...
    def executed(self, iteration: int) -> npt.NDArray[np.bool_]: ...


class TimedAccess(AccessLike, Protocol):
    """An access that knows when each of its iterations began, and whether it stopped the launch."""

    def order(self, iteration: int) -> int: ...
    @property
    def stopped(self) -> object | None: ...
    def strayed(self, iteration: int) -> npt.NDArray[np.bool_]: ...


class StoredArgument(ArgumentLike, Protocol):
    """An argument with the place of its storage."""

    @property
    def storage_address(self) -> int: ...
    @property
    def storage_bytes(self) -> int: ...


class OverShape:
    """Positions over the argument's shape, with margins for lanes that overhang it."""

    over = "shape"
    unit, first = 0, 0

    def __init__(self, argument: StoredArgument, accesses: Sequence[TimedAccess]) -> None:
        self.argument = argument
        self.shape = tuple(argument.shape)
        contiguous = tuple(argument.strides) == contiguous_strides(self.shape)
        self.known = Identity(math.prod(self.shape)) if contiguous else places(self.shape, tuple(argument.strides))
        far = [(size - 1) * stride for size, stride in zip(self.shape, argument.strides, strict=True)]
        self.span = sum(min(0, reach) for reach in far), sum(max(0, reach) for reach in far)
        self._seen: dict[tuple[int, int], tuple[Ints, Ints, Flags]] = {}  # small results, until `lanes` takes them
        walks, room = [], _SEEN
        for access in accesses:
            for iteration in range(access.iterations):
                found = offsets_of(argument, access, iteration)
                _, offset, mask = found
                room -= offset.size
                if room >= 0:
                    self._seen[id(access), iteration] = found
                if self._may_overhang(offset, mask):
                    steps = walk(offset, argument.shape, argument.strides)
                    if steps is not None:
                        walks.append((steps, offset.shape[1:]))
                    break
        self.where = space(self.shape, walks)
        # Where elements are looked up, and its space: the argument, or its continuation if lanes stopped the launch.
        self._known: Digits | ElementPlaces | Continued = self.known
        self._space = self.where
        onward = continued(self.shape, tuple(argument.strides), _astray(argument, accesses))
        if onward is not None:
            self.where = onward.widened(self.where)
            self._known, self._space = onward, onward.within(self.where)
        self.padded = self.where.padded
        self.plain = self.padded == self.shape
        self.positions = math.prod(self.padded)
        # Whether positions are one line, and no two elements share a place.
        self.is_line = self.plain and len(self.shape) == 1 and self.known.first_of is None

    def lanes(self, access: TimedAccess, iteration: int) -> tuple[Ints, Ints, Flags]:
        """The programs, the position of each of their lanes (-1 for none), and the mask."""
        seen = self._seen.pop((id(access), iteration), None)
        program, offset, mask = seen or offsets_of(self.argument, access, iteration)
        position: Ints | None = None
        if self._may_overhang(offset, mask):
            steps = walk(offset, self.shape, self.argument.strides)
            if steps is not None and self._fits(steps, offset.shape[1:]):
                # For a tile that stopped the launch, its overhang matters more than the owner of that memory.
                stops = access.stopped is not None and bool(access.strayed(iteration).any())
                tile = stops and covers(steps, self.shape)
                told = self._by_address(offset)
                position = by_walk(offset, mask, steps, self.known, self.where, told, tile)
        if position is None:
            position = self._by_address(offset)
        if len(self.shape) == 1 and self.where.before[0]:
            # A line begins with its first element. With positions before it for masked-off lanes, rows would begin at
            # any number, and the line would seem to begin there.
            position = np.where(mask | (position >= self.where.before[0]), position, -1)
        return program, position, mask

    def _by_address(self, offset: Ints) -> Ints:
        """The position of each lane, found from its address; -1 for none."""
        element = self._known.element(offset)
        return element if self.plain else np.where(element >= 0, self._space.position(np.maximum(element, 0)), -1)

    def strays(self, accesses: Sequence[TimedAccess]) -> Flags:
        """(positions,) whether a lane there stopped the launch."""
        found = np.zeros(self.positions, dtype=np.bool_)
        for access, iteration in _stops(accesses):
            program, position, _ = self.lanes(access, iteration)
            stray = access.strayed(iteration)[program]
            stray = stray.reshape(stray.shape + (1,) * (position.ndim - stray.ndim))
            found[position[stray & (position >= 0)]] = True
        return found

    def _may_overhang(self, offset: Ints, mask: Flags) -> bool:
        """Whether a lane is masked off, or lies outside the span of the elements."""
        if not offset.size:
            return False
        return not mask.all() or int(offset.min()) < self.span[0] or int(offset.max()) > self.span[1]

    def _fits(self, steps: Sequence[tuple[int, int]], block: Sequence[int]) -> bool:
        """Whether the margins are wide enough for this walk."""
        return self.where.holds(space(self.shape, [(steps, block)]))

    def alias(self, signature: npt.NDArray[np.uint64], counts: Ints) -> None:
        """Give elements that share a place the same signature and counts, as they are touched together."""
        if self.known.first_of is not None:
            inner = self.where.position(np.arange(self.known.elements))
            signature[inner] = signature[inner[self.known.first_of]]
            counts[inner] = counts[inner[self.known.first_of]]

    def crop(self, classes: Ints) -> tuple[tuple[int, ...], tuple[int, ...], tuple[slice, ...]]:
        """Leave out empty margins: returns the shape drawn, its origin, and the window."""
        grid = classes.reshape(self.padded)
        window, origin = [], []
        for axis, (size, before) in enumerate(zip(self.shape, self.where.before, strict=True)):
            low, high = before, before + size
            if not self.plain:
                used = np.flatnonzero(grid.any(axis=tuple(other for other in range(grid.ndim) if other != axis)))
                low = min(low, int(used[0])) if len(used) else low
                high = max(high, int(used[-1]) + 1) if len(used) else high
            window.append(slice(low, high))
            origin.append(before - low)
        return tuple(w.stop - w.start for w in window), tuple(origin), tuple(window)


class OverStorage:
    """Positions along the storage, from the cache line of the first relevant byte to that of the last."""

    over = "storage"

    def __init__(self, argument: StoredArgument, accesses: Sequence[TimedAccess]) -> None:
        self.start = argument.storage_address
        own = argument.address - self.start
        self.unit = argument.itemsize if own % argument.itemsize == 0 else math.gcd(own, argument.itemsize)
        reach = [(size - 1) * stride for size, stride in zip(argument.shape, argument.strides, strict=True)]
        spans = []
        if 0 not in argument.shape:
            low = own + sum(min(0, far) for far in reach) * argument.itemsize
            spans.append((low, own + (sum(max(0, far) for far in reach) + 1) * argument.itemsize))
        for access in accesses:
            for iteration in range(access.iterations):
                touched = access.address(iteration)[access.mask(iteration)]
                if touched.size:
                    spans.append((int(touched.min()) - self.start, int(touched.max()) - self.start + access.itemsize))
        low = min((span[0] for span in spans), default=0) // LINE_BYTES * LINE_BYTES
        high = max((span[1] for span in spans), default=0)
        high = min(-(-high // LINE_BYTES) * LINE_BYTES, max(high, argument.storage_bytes))
        self.first = low // self.unit
        self.positions = max(0, -(-(high - low) // self.unit))
        self.shape = self.padded = (self.positions,)
        self.is_line = True

    def lanes(self, access: TimedAccess, iteration: int) -> tuple[Ints, Ints, Flags]:
        program = np.flatnonzero(access.executed(iteration))
        position = (access.address(iteration)[program] - self.start) // self.unit - self.first
        mask = access.mask(iteration)[program]
        width = max(1, access.itemsize // self.unit)
        if width > 1:
            position = position[..., None] + np.arange(width)
            mask = np.repeat(mask[..., None], width, axis=-1)
        return program, np.where((position >= 0) & (position < self.positions), position, -1), mask

    def strays(self, accesses: Sequence[TimedAccess]) -> Flags:
        """All False: over storage, lanes that stopped the launch are not marked."""
        return np.zeros(self.positions, dtype=np.bool_)

    def alias(self, signature: npt.NDArray[np.uint64], counts: Ints) -> None:
        """Do nothing: over storage, a position is a place in memory and has no alias."""

    def crop(self, classes: Ints) -> tuple[tuple[int, ...], tuple[int, ...], tuple[slice, ...]]:
        return self.shape, (0,), (slice(0, self.positions),)


Place = OverShape | OverStorage


def _stops(accesses: Sequence[TimedAccess]) -> list[tuple[TimedAccess, int]]:
    """The access that stopped the launch, with the iterations in which its lanes did."""
    stopped = [access for access in accesses if access.stopped is not None]
    return [(one, turn) for one in stopped for turn in range(one.iterations) if one.strayed(turn).any()]


def _astray(argument: ArgumentLike, accesses: Sequence[TimedAccess]) -> Ints:
    """The offsets, in elements, of the lanes that stopped the launch."""
    found = [np.zeros(0, dtype=np.int64)]
    for access, iteration in _stops(accesses):
        offsets = (access.address(iteration) - argument.address) // argument.itemsize
        found.append(offsets[access.strayed(iteration)])
    return np.concatenate(found)


class Identity(ElementPlaces):
    """The places of a tensor that is contiguous in row-major order: an offset is its element."""

    def __init__(self, elements: int) -> None:
        nothing = np.zeros(0, dtype=np.int64)
        super().__init__(elements, nothing, nothing, None, 0, None)

    def element(self, offset: Ints) -> Ints:
        if offset.size and int(offset.min()) >= 0 and int(offset.max()) < self.elements:
            return offset
        return np.where((offset >= 0) & (offset < self.elements), offset, -1)


def offsets_of(argument: ArgumentLike, access: AccessLike, iteration: int) -> tuple[Ints, Ints, Flags]:
    """The programs that ran an iteration, their lanes' offsets from element 0, and the mask.

    An access wider than an element (through a cast pointer) gets a last axis for the elements of each lane.
    """
    executed = access.executed(iteration)
    address, mask = access.address(iteration), access.mask(iteration)
    program = np.flatnonzero(executed)
    if len(program) < len(address):
        address, mask = address[program], mask[program]
    offset = address - argument.address
    offset >>= argument.itemsize.bit_length() - 1  # a size is a power of two, and a shift rounds down
    width = max(1, access.itemsize // argument.itemsize)
    if width > 1:
        offset = offset[..., None] + np.arange(width)
        mask = np.repeat(mask[..., None], width, axis=-1)
    return program, offset, mask
