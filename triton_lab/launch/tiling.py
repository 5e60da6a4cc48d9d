"""Who touches each element of an argument: programs, masked lanes, source lines.

Elements that are touched alike share a *class*: a set of programs with an active lane on the
element, a set of programs with a masked lane on it, and a set of accesses. There are few classes
even where there are millions of elements, so that pictures stay small and a program's elements are
found by looking at classes only.

A block often hangs over the edge of its argument, where masks keep its lanes from memory. Those
lanes have a place too: beside the elements, as the block's own shape says (`overhang`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from triton_lab.launch.classes import Classes, classify, distinct, unions
from triton_lab.launch.overhang import Space, Step, by_address, by_walk, space, walk
from triton_lab.launch.places import Ints, Places, places

ROLES = {"load": 0, "store": 1, "atomic": 1}
LAYERS = {"loads": (0,), "stores": (1,), "both": (0, 1)}  # the roles of each


class ArgumentLike(Protocol):
    """What is needed of an argument; strides are in elements, the address is element 0's."""

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
    """What is needed of an access; arrays are (programs, *block)."""

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
    def taking_part(self, iteration: int) -> npt.NDArray[np.bool_]: ...


@dataclass(frozen=True)
class Touches:
    """Who touches what. Positions are those of ``drawn``, in reading order.

    ``drawn`` is the argument's shape and what hangs over its edges; index = position - ``origin``.
    ``classes`` numbers the class of each position; class 0 is touched by nobody. Members of a class
    are, for program p of n: p for an active lane of a load, n + p for one of a store or atomic,
    2n + p and 3n + p for masked lanes, and then 4n + a for each access. ``active_elsewhere`` and
    ``masked_elsewhere`` count lanes that no position stands for.
    """

    shape: tuple[int, ...]
    drawn: tuple[int, ...]
    origin: tuple[int, ...]
    programs: int
    accesses: tuple[tuple[int | None, str], ...]  # line and kind
    classes: Ints
    table: Classes
    several: npt.NDArray[np.bool_]  # (classes, layers): whether one element has several programs
    active_elsewhere: int = 0
    masked_elsewhere: int = 0

    def active(self, layer: str = "both") -> Classes:
        """For each class, the programs with an active lane there."""
        return self.table.mapped(self._image(LAYERS[layer]))

    def masked(self, layer: str = "both") -> Classes:
        """For each class, the programs with a masked lane there."""
        return self.table.mapped(self._image([role + 2 for role in LAYERS[layer]]))

    def touching(self) -> Classes:
        """For each class, the accesses (indices into ``accesses``) with an active lane there."""
        n = self.programs
        return self.table.mapped(np.arange(4 * n + len(self.accesses)) - 4 * n)

    def _image(self, roles: Collection[int]) -> Ints:
        """member -> program for these roles, -1 for the rest."""
        member = np.arange(4 * self.programs + len(self.accesses))
        wanted = np.isin(member // max(1, self.programs), list(roles)) & (member < 4 * self.programs)
        return np.where(wanted, member % max(1, self.programs), -1)

    def inside(self) -> npt.NDArray[np.bool_]:
        """(positions,) whether a position is an element of the argument."""
        return Space(self.shape, self.origin, self.drawn).inside()

    def binned(self, cell_of_position: Ints, cells: int) -> Touches:
        """The same for cells of several positions: a cell's members are those of all in it."""
        classes, table, several = unions(self.classes, self.table, self.several, cell_of_position, cells)
        return replace(self, classes=classes, table=table, several=several)


def touches(argument: ArgumentLike, accesses: Sequence[AccessLike], programs: int) -> Touches:
    """Who touches each element of ``argument`` through these accesses."""
    ours = [one for one in accesses if one.argument == argument.name]
    known = places(argument.shape, argument.strides)
    walks = [_walk(argument, access) for access in ours]
    where = space(argument.shape, [found for found in walks if found is not None])
    members = 4 * programs + len(ours)
    pairs: list[Ints] = []
    elsewhere = np.zeros(2, dtype=np.int64)
    for number, (access, found) in enumerate(zip(ours, walks, strict=True)):
        steps = None if found is None else found[0]
        gathered = _gather(argument, access, steps, known, where, members, programs)
        if gathered is None:
            gathered = _gather(argument, access, None, known, where, members, programs)
        assert gathered is not None, "only a walk can be refused"
        pairs += gathered[0]
        elsewhere += gathered[1]
        touched = [keys[keys % members < 2 * programs] // members for keys in gathered[0]]
        pairs.append(distinct(np.concatenate([_NONE, *touched])) * members + 4 * programs + number)
    keys = distinct(np.concatenate([_NONE, *pairs]))
    numbers, table = classify(keys // members, keys % members, members)
    classes = np.zeros(math.prod(where.padded), dtype=np.int64)
    classes[distinct(keys // members)] = numbers
    if known.first_of is not None:
        # Elements that share a place are touched together.
        inner = where.position(np.arange(known.elements))
        classes[inner] = classes[inner[known.first_of]]
    drawn, origin, classes = _cropped(classes, where)
    found_touches = Touches(
        shape=tuple(argument.shape),
        drawn=drawn,
        origin=origin,
        programs=programs,
        accesses=tuple((one.line, one.kind) for one in ours),
        classes=classes,
        table=table,
        several=np.zeros((len(table), len(LAYERS)), dtype=bool),
        active_elsewhere=int(elsewhere[0]),
        masked_elsewhere=int(elsewhere[1]),
    )
    several = [found_touches.active(layer).counts > 1 for layer in LAYERS]
    return replace(found_touches, several=np.stack(several, axis=1))


_NONE = np.zeros(0, dtype=np.int64)


def _lanes(argument: ArgumentLike, access: AccessLike) -> Iterator[tuple[Ints, Ints, npt.NDArray[np.bool_]]]:
    """For each iteration: the programs that ran it, their element offsets and masks.

    An access wider than an element (through a cast pointer) gets a last axis for the elements that
    a lane covers.
    """
    width = max(1, access.itemsize // argument.itemsize)
    for iteration in range(access.iterations):
        program = np.flatnonzero(access.taking_part(iteration))
        offset = (access.address(iteration)[program] - argument.address) // argument.itemsize
        mask = access.mask(iteration)[program]
        if width > 1:
            offset = offset[..., None] + np.arange(width)
            mask = np.repeat(mask[..., None], width, axis=-1)
        yield program, offset, mask


def _walk(argument: ArgumentLike, access: AccessLike) -> tuple[list[Step], tuple[int, ...]] | None:
    """How the access's blocks walk the argument's dimensions, and their extents."""
    for _, offset, _ in _lanes(argument, access):
        if offset.size:
            steps = walk(offset, argument.shape, argument.strides)
            return None if steps is None else (steps, offset.shape[1:])
    return None


def _gather(
    argument: ArgumentLike,
    access: AccessLike,
    steps: Sequence[Step] | None,
    known: Places,
    where: Space,
    members: int,
    programs: int,
) -> tuple[list[Ints], Ints] | None:
    """Pairs position * members + member of one access, and its (active, masked) lanes elsewhere.

    None if the steps given do not lead where the addresses say.
    """
    found: list[Ints] = []
    elsewhere = np.zeros(2, dtype=np.int64)
    for program, offset, mask in _lanes(argument, access):
        position: Ints | None
        if steps is None:
            position = by_address(offset, known, where)
        elif walk(offset, argument.shape, argument.strides) != list(steps):
            position = None
        else:
            position = by_walk(offset, mask, steps, known, where)
        if position is None:
            return None
        member = (np.where(mask, 0, 2) + ROLES[access.kind]) * programs + program.reshape(
            (-1,) + (1,) * (mask.ndim - 1)
        )
        placed = position >= 0
        elsewhere += (int((~placed & mask).sum()), int((~placed & ~mask).sum()))
        found.append(distinct(position[placed] * members + member[placed]))
    return found, elsewhere


def _cropped(classes: Ints, where: Space) -> tuple[tuple[int, ...], tuple[int, ...], Ints]:
    """Leave out margins where nothing is: the shape drawn, its origin, and its classes."""
    grid = classes.reshape(where.padded)
    keep, origin = [], []
    for axis, (size, before) in enumerate(zip(where.shape, where.before, strict=True)):
        others = tuple(other for other in range(grid.ndim) if other != axis)
        used = np.flatnonzero(grid.any(axis=others))
        low = min(before, int(used[0])) if len(used) else before
        high = max(before + size, int(used[-1]) + 1) if len(used) else before + size
        keep.append(slice(low, high))
        origin.append(before - low)
    grid = grid[tuple(keep)]
    return grid.shape, tuple(origin), grid.reshape(-1)
