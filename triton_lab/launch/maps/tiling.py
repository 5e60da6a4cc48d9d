"""`TilingAccesses`: which programs and accesses touch each element of an argument, also with masked-off lanes.

Elements that are touched alike share a *class*: a set of programs with an active lane on the element, a set of programs
with a masked-off lane on it, and a set of accesses. Even millions of elements have few classes, so pictures stay small,
and a program's elements are found by searching the classes only.

A block often overhangs the edge of its argument, where lanes are masked off. Those lanes have positions too: outside
the elements, given by the block's shape (`overhang`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.access_heat import heat_of_accesses
from triton_lab.launch.maps.heat import Heat
from triton_lab.launch.maps.lane_positions import Flags, StoredArgument, TimedAccess
from triton_lab.launch.maps.overhang import MarginSpace
from triton_lab.launch.maps.tile_groups import TileFalls, Tiles
from triton_lab.launch.membership_classes import Classes, classify, distinct, unions

ROLES = {"load": 0, "store": 1, "atomic": 1}
LAYERS = {"loads": (0,), "stores": (1,), "both": (0, 1)}  # the roles of each


@dataclass(frozen=True)
class TilingAccesses:
    """The programs and accesses that touch each position. Positions count through ``drawn`` in row-major order.

    ``drawn`` is the argument's shape with margins for lanes that overhang its edges; an element's index is its
    position in ``drawn`` minus ``origin``. ``tile_classes`` is the class of each tile (0: untouched). The members of a
    class are, for program p of n: p for an active lane of a load, n + p for one of a store or atomic, 2n + p and 3n + p
    for masked-off lanes; and 4n + a for each access a. ``active_elsewhere`` and ``masked_elsewhere`` count lanes
    without a position. ``shown`` is the number of programs that were examined, None for all.
    """

    shape: tuple[int, ...]
    drawn: tuple[int, ...]
    origin: tuple[int, ...]
    programs: int
    accesses: tuple[tuple[int | None, str], ...]  # line and kind
    tiles: Tiles
    tile_classes: Ints
    table: Classes
    several: npt.NDArray[np.bool_]  # (classes, layers): whether one element has several programs
    active_elsewhere: int = 0
    masked_elsewhere: int = 0
    shown: int | None = None
    strays: Flags | None = None  # (positions,) as in `Heat`

    @property
    def strays_drawn(self) -> int:
        """The number of positions with lanes that stopped the launch."""
        return 0 if self.strays is None else int(self.strays.sum())

    def active(self, layer: str = "both") -> Classes:
        """For each class, the programs with an active lane there, in a layer of `LAYERS`."""
        return self._having(tuple(LAYERS[layer]))

    def masked(self, layer: str = "both") -> Classes:
        """For each class, the programs with a masked-off lane there, in a layer of `LAYERS`."""
        return self._having(tuple(role + 2 for role in LAYERS[layer]))

    def _having(self, roles: tuple[int, ...]) -> Classes:
        """For each class, the programs in these roles; cached, as it is needed often."""
        if roles not in self._told:
            self._told[roles] = self.table.mapped(self._image(roles))
        return self._told[roles]

    @cached_property
    def _told(self) -> dict[tuple[int, ...], Classes]:
        return {}

    def touching(self) -> Classes:
        """For each class, the accesses (indices into ``accesses``) with an active lane there."""
        n = self.programs
        return self.table.mapped(np.arange(4 * n + len(self.accesses)) - 4 * n)

    def _image(self, roles: Collection[int]) -> Ints:
        """The program of each member in these roles; -1 for other members."""
        image = np.full(4 * self.programs + len(self.accesses), -1, dtype=np.int64)
        for role in roles:
            image[role * self.programs : (role + 1) * self.programs] = np.arange(self.programs)
        return image

    @cached_property
    def classes(self) -> Ints:
        """(positions,) the class of each position."""
        return self.tiles.spread(self.tile_classes)

    def at(self, positions: Ints) -> Ints:
        """The classes of some positions."""
        return self.tile_classes[self.tiles.at(positions, self.drawn)]

    def elements(self, inside: bool = True) -> Ints:
        """(classes,) the number of elements of the argument in each class; or of positions outside (not ``inside``)."""
        if self.tiles.edges is None or len(self.tiles.edges) < len(self.shape):
            return np.bincount(self.classes[self.inside() == inside], minlength=len(self.table))
        wanted = self.tiles.within(self.origin, self.shape) == inside
        sizes = np.where(wanted, self.tiles.sizes(), 0)
        return np.bincount(self.tile_classes, weights=sizes, minlength=len(self.table)).astype(np.int64)

    def inside(self) -> npt.NDArray[np.bool_]:
        """(positions,) whether a position is an element of the argument."""
        return MarginSpace(self.shape, self.origin, self.drawn).inside()

    def binned(self, cell_of_position: Ints, cells: int) -> TilingAccesses:
        """The touches of cells of several positions: a cell has the members of all its positions."""
        return self._with(*unions(self.classes, self.table, self.several, cell_of_position, cells))

    def fallen(self, falls: TileFalls) -> TilingAccesses:
        """`binned` from tiles instead of positions."""
        classes = self.tile_classes[falls.tile]
        classes, table, several = unions(classes, self.table, self.several, falls.group, falls.groups)
        return self._with(falls.spread(classes), table, several)

    def _with(self, classes: Ints, table: Classes, several: npt.NDArray[np.bool_]) -> TilingAccesses:
        return replace(self, tiles=Tiles(), tile_classes=classes, table=table, several=several)


def touches(
    argument: StoredArgument, accesses: Sequence[TimedAccess], programs: int, most: int | None = None
) -> TilingAccesses:
    """The programs that touch each element of ``argument`` by these accesses; ``most`` is that of `heat`."""
    ours = [one for one in accesses if one.argument == argument.name]
    return touches_of(heat_of_accesses(argument, ours, programs, most), tuple((one.line, one.kind) for one in ours))


def touches_of(found: Heat, accesses: tuple[tuple[int | None, str], ...]) -> TilingAccesses:
    """The touches from a `Heat` over the shape, without iterations."""
    programs, moments = found.programs, len(found.moments)
    size, limit = programs * moments, 4 * programs + len(accesses)
    member = found.table.items
    role = np.array([ROLES[moment.kind] for moment in found.moments], dtype=np.int64)
    access = np.array([moment.access for moment in found.moments], dtype=np.int64)
    moment = member % max(1, moments)
    who = (role[moment] + 2 * (member >= size)) * programs + member % max(1, size) // max(1, moments)
    by = np.where(member < size, 4 * programs + access[moment], who)
    owners = found.table.owners * limit
    keys = distinct(np.concatenate([owners + who, owners + by]))
    # Classes that differ only in iterations are merged.
    numbers, table = classify(keys // limit, keys % limit)
    renumber = np.zeros(len(found.table), dtype=np.int64)
    renumber[distinct(keys // limit)] = numbers
    bare = TilingAccesses(
        shape=found.shape,
        drawn=found.drawn,
        origin=found.origin,
        programs=programs,
        accesses=accesses,
        tiles=found.tiles,
        tile_classes=renumber[found.tile_classes],
        table=table,
        several=np.zeros((len(table), len(LAYERS)), dtype=bool),
        active_elsewhere=found.active_elsewhere,
        masked_elsewhere=found.masked_elsewhere,
        shown=found.shown,
        strays=found.strays,
    )
    several = [bare.active(layer).counts > 1 for layer in LAYERS]
    return replace(bare, several=np.stack(several, axis=1))
