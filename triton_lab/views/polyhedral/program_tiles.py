"""The elements of a kernel's argument by program: each visit at the element that it touches, a tile a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.localization import _
from triton_lab.polyhedral import Schedule
from triton_lab.polyhedral.access_visits import touches
from triton_lab.views.polyhedral.iteration_picture import Picture, StatementLayer
from triton_lab.views.polyhedral.outlines import MOST_TILES, around

Ints = NDArray[np.int64]
MOST_TOLD = 8  # programs whose elements are listed in words


@dataclass(frozen=True)
class ProgramTiles:
    """The elements of ``array`` that programs touch.

    ``picture``: all visits at their elements, in the plane of at most two of the array's axes. ``programs``: (visits,
    axes), the program of each visit of the whole order.
    """

    array: str
    picture: Picture
    programs: Ints

    def lines(self) -> list[str]:
        """The programs and their elements in words: those of the first few programs."""
        found = []
        for name, tile in list(zip(self.picture.tile_names, self.picture.tiles, strict=True))[:MOST_TOLD]:
            low, high = np.ceil(tile.min(axis=0)).astype(int), np.floor(tile.max(axis=0)).astype(int)
            ranges = ", ".join(f"{a}..{b}" for a, b in zip(low, high, strict=True))
            if len(self.picture.dims) == 1:
                ranges = f"{low[-1]}..{high[-1]}"
            found.append(_("program {name}: {array}[{ranges}]").format(name=name, array=self.array, ranges=ranges))
        if len(self.picture.tiles) > MOST_TOLD:
            rest = len(self.picture.tiles) - MOST_TOLD
            found.append(_("and {tiles} more").format(tiles=messages.count(rest, "tile")))
        return found


def program_tiles(schedule: Schedule, array: str, programs: Sequence[str]) -> ProgramTiles | None:
    """The elements of ``array`` that the statements of ``schedule`` touch, by ``programs``, their iterators.

    None where no visit touches an element.
    """
    order, scop = schedule.order(), schedule.scop
    owner = np.zeros((len(order), len(programs)), dtype=np.int64)
    for position, name in enumerate(order.names):
        own = order.statements == position
        axes = [scop[name].iterators.index(program) for program in programs]
        owner[own] = order.points[own][:, axes]
    every = [t for t in touches(schedule) if t.access.array == array and len(t.visits)]
    if not every:
        return None
    visits = np.concatenate([t.visits for t in every])
    layers = np.concatenate([np.full(len(t.visits), order.names.index(t.statement)) for t in every])
    subscripts = np.concatenate([np.stack(t.subscripts, axis=1) for t in every])
    visits, first = np.unique(visits, return_index=True)  # an atomic reads and writes the same element
    layers, subscripts = layers[first], subscripts[first]
    shown = _axes(subscripts)
    points = subscripts[:, shown]
    names = tuple(_("axis {axis}").format(axis=axis) if subscripts.shape[1] > 1 else _("element") for axis in shown)
    group, tiles, labels, every_name = _tiles(points, owner[visits])
    found, places = [], np.zeros((len(visits), 2), dtype=np.int64)
    for number, layer in enumerate(np.unique(layers)):
        own = np.flatnonzero(layers == layer)
        places[own] = np.stack([np.full(len(own), number), np.arange(len(own))], axis=1)
        found.append(StatementLayer(order.names[layer], points[own], (), group[own]))
    picture = Picture(
        names, {}, tuple(found), (), (), places, visits, low=tuple(points.min(axis=0).tolist()),
        high=tuple(points.max(axis=0).tolist()), instants=np.arange(len(visits)), tiles=tiles, tile_names=labels,
        owner_names=every_name,
    )  # fmt: skip
    return ProgramTiles(array, picture, owner)


def coloured(picture: Picture, tiles: ProgramTiles) -> Picture:
    """A domain whose points have the colours of their programs; those of several programs have none."""
    group = np.full(len(tiles.programs), -1, dtype=np.int64)
    for number, layer in enumerate(tiles.picture.layers):
        own = np.flatnonzero(tiles.picture.visits[:, 0] == number)
        assert layer.owners is not None
        group[tiles.picture.times[own]] = layer.owners[tiles.picture.visits[own, 1]]
    layers = []
    for number, layer in enumerate(picture.layers):
        own = np.flatnonzero(picture.visits[:, 0] == number)
        low, high = np.full(len(layer.points), 1 << 62), np.full(len(layer.points), -1)
        np.minimum.at(low, picture.visits[own, 1], group[picture.times[own]])
        np.maximum.at(high, picture.visits[own, 1], group[picture.times[own]])
        layers.append(replace(layer, owners=np.where(low == high, low, -1)))
    return replace(picture, layers=tuple(layers))


def _axes(subscripts: Ints) -> list[int]:
    """The last two axes of the array along which elements differ."""
    varying = [k for k in range(subscripts.shape[1]) if np.ptp(subscripts[:, k])]
    return varying[-2:] or [subscripts.shape[1] - 1]


def _tiles(points: Ints, owner: Ints) -> tuple[Ints, tuple[NDArray[np.float64], ...], tuple[str, ...], tuple[str, ...]]:
    """The group of programs of each point (-1: of several groups), the outline and name of each tile, and all names.

    Programs that touch the same elements are one group. A group whose elements are not a full rectangle has no tile.
    """
    programs, number = np.unique(owner, axis=0, return_inverse=True)
    elements, element = np.unique(points, axis=0, return_inverse=True)
    number, element = number.reshape(-1), element.reshape(-1)
    groups: dict[bytes, list[int]] = {}
    sets: dict[bytes, Ints] = {}
    for one in range(len(programs)):
        mine = np.unique(element[number == one])
        groups.setdefault(mine.tobytes(), []).append(one)
        sets[mine.tobytes()] = mine
    of = np.full(len(elements), -1, dtype=np.int64)
    several = np.zeros(len(elements), dtype=bool)
    every = tuple(_named(programs[members]) for members in groups.values())
    tiles: list[NDArray[np.float64]] = []
    names: list[str] = []
    for k, key in enumerate(groups):
        mine = sets[key]
        several[mine] |= of[mine] >= 0
        of[mine] = k
        places = elements[mine]
        if len(mine) == np.prod(np.ptp(places, axis=0) + 1) and len(tiles) < MOST_TILES:
            tiles.append(around(places))
            names.append(every[k])
    of[several] = -1
    return of[element], tuple(tiles), tuple(names), every


def _named(programs: Ints) -> str:
    """The ids of a group of programs, (count, axes): ``(0, 2)``, or ``(0, 0–3)`` if one of them differs."""
    parts = []
    for column in programs.T:
        low, high = int(column.min()), int(column.max())
        full = len(np.unique(column)) == high - low + 1
        parts.append(f"{low}" if low == high else f"{low}–{high}" if full else f"{low}…{high}")
    return f"({', '.join(parts)})" if len(parts) > 1 else parts[0]
