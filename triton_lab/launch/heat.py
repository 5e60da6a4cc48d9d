"""How often each element is touched, by which programs, in which iterations, and what comes first.

Elements that are touched alike share a *class*, as in `tiling`; here a member of a class is a
program at a *moment*: one iteration of one access. Members are numbered so that the smallest one
of a class is its first touch, if programs are taken in the order of their numbers, in which a GPU
starts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from triton_lab.launch.classes import Classes, distinct, grouped
from triton_lab.launch.heat_places import Flags, OverShape, OverStorage, StoredArgument, TimedAccess
from triton_lab.launch.overhang import Space
from triton_lab.launch.places import Ints

OVER = ("shape", "storage")
BY = ("count", "program", "iteration", "reuse", "order")


@dataclass(frozen=True)
class Moment:
    """One iteration of one access; ``access`` counts among those looked at."""

    access: int
    iteration: int
    line: int | None
    kind: str


@dataclass(frozen=True)
class Heat:
    """Who touches each position when, and how often.

    Over the shape, positions are those of ``drawn`` in reading order (the argument and what hangs
    over its edges), index = position - ``origin``. Over storage there is one position for each
    ``unit`` bytes, the first of them ``first`` units after the storage's start.
    ``classes`` (positions,) index ``table``, class 0 is touched by nobody; member p * moments + m is
    an active lane of program p at moment m, and from ``programs * moments`` on a masked one.
    ``counts`` (positions,) are active lanes.
    """

    shape: tuple[int, ...]
    drawn: tuple[int, ...]
    origin: tuple[int, ...]
    over: str
    unit: int
    first: int
    programs: int
    moments: tuple[Moment, ...]
    classes: Ints
    table: Classes
    counts: Ints
    active_elsewhere: int = 0
    masked_elsewhere: int = 0

    @cached_property
    def inside(self) -> Flags:
        """(positions,) whether a position is an element of the argument (over storage: always)."""
        return Space(self.shape, self.origin, self.drawn).inside()

    def _image(self, masked: bool, of: Callable[[Ints], Ints]) -> Ints:
        """member -> number, -1 for members of the other kind."""
        size = self.programs * len(self.moments)
        member = np.arange(2 * size)
        return np.where((member >= size) == masked, of(member % max(1, size)), -1)

    @cached_property
    def active(self) -> Classes:
        """For each class, the programs with an active lane."""
        return self.table.mapped(self._image(False, lambda member: member // max(1, len(self.moments))))

    @cached_property
    def masked(self) -> Classes:
        """For each class, the programs with a masked lane."""
        return self.table.mapped(self._image(True, lambda member: member // max(1, len(self.moments))))

    @cached_property
    def iterations(self) -> Classes:
        """For each class, the iterations in which an active lane was there."""
        number = np.array([moment.iteration for moment in self.moments], dtype=np.int64)
        return self.table.mapped(self._image(False, lambda member: number[member % max(1, len(self.moments))]))

    def first_touch(self) -> Ints:
        """(classes,) the smallest member that is active, -1 for none."""
        size = self.programs * len(self.moments)
        first = np.append(self.table.items, 2 * size)[self.table.starts[:-1]]
        return np.where((self.table.counts > 0) & (first < size), first, -1)

    def by(self, what: str) -> Ints:
        """(classes,) the number that ``what`` asks for, -1 where no lane is active.

        ``program``: the first. ``iteration``: the first. ``reuse``: how many programs. ``order``: the
        rank of its first touch among all first touches.
        """
        if what == "reuse":
            return np.where(self.active.counts > 0, self.active.counts, -1)
        if what == "iteration":
            items = np.append(self.iterations.items, -1)[self.iterations.starts[:-1]]
            return np.where(self.iterations.counts > 0, items, -1)
        touch = self.first_touch()
        if what == "program":
            return np.where(touch >= 0, touch // max(1, len(self.moments)), -1)
        return np.where(touch >= 0, np.searchsorted(distinct(touch[touch >= 0]), touch), -1)


def heat(
    argument: StoredArgument,
    accesses: Sequence[TimedAccess],
    programs: int,
    over: str = "shape",
    timed: bool = True,
) -> Heat:
    """What these accesses do to ``argument``, over its ``shape`` or over its ``storage``.

    Unless ``timed``, all iterations of an access are one moment, which keeps members few.
    """
    ordered = sorted(
        (access.order(iteration), number, iteration)
        for number, access in enumerate(accesses)
        for iteration in range(access.iterations)
    )
    moments = tuple(
        Moment(n, i, accesses[n].line, accesses[n].kind)
        for _, n, i in (ordered if timed else [(0, n, 0) for n in range(len(accesses))])
    )
    place = OverStorage(argument, accesses) if over == "storage" else OverShape(argument, accesses)
    size = programs * len(moments)
    signature = np.zeros(place.positions, dtype=np.uint64)
    counts = np.zeros(place.positions, dtype=np.int64)
    elsewhere = [0, 0]
    salt = np.random.default_rng(0).integers(1, 1 << 64, size=max(1, 2 * size), dtype=np.uint64)

    kept: dict[int, tuple[Ints, Ints, Flags]] = {}
    room = _KEPT

    def lanes(number: int) -> tuple[Ints, Ints, Flags]:
        """Members of the programs, positions and mask of one iteration; kept for the second time if small."""
        if number not in kept:
            _, access, iteration = ordered[number]
            program, position, mask = place.lanes(accesses[access], iteration)
            moment = number if timed else access
            member = (program * len(moments) + moment).reshape((-1,) + (1,) * (position.ndim - 1))
            nonlocal room
            room -= position.size
            if room < 0:
                return member, position, mask
            kept[number] = member, position, mask
        return kept[number]

    def members(number: int) -> Iterator[tuple[Ints, Ints]]:
        """Positions and members of the lanes of one iteration, active and then masked."""
        member, position, mask = lanes(number)
        if mask.all() and (not position.size or int(position.min()) >= 0):
            yield position, member
            return
        for kind, wanted in enumerate((mask, ~mask)):
            there = wanted & (position >= 0)
            elsewhere[kind] += int(wanted.sum()) - int(there.sum())
            yield position[there], np.broadcast_to(member, position.shape)[there] + kind * size

    for number in range(len(ordered)):
        for position, member in members(number):
            run = _run(position)
            if run is not None:  # a whole stretch, in order: slices in place of gathers
                signature[run].reshape(position.shape)[...] += salt[member]
                if int(member.flat[0]) < size:
                    counts[run] += 1
            elif position.size:
                here = np.bincount(position.reshape(-1), minlength=place.positions)
                _sign(signature, position, member, salt, once=int(here.max()) == 1)
                if int(member.flat[0]) < size:
                    counts += here
    lost_active, lost_masked = elsewhere
    place.alias(signature, counts)
    classes, heads = grouped(signature)
    number_of = np.full(place.positions, -1)
    number_of[heads] = np.arange(1, len(heads) + 1)
    pairs = [np.zeros(0, dtype=np.int64)]
    for number in range(len(ordered)):
        for position, member in members(number):
            run = _run(position)
            if run is not None:
                first = heads[(heads >= run.start) & (heads < run.stop)]
                owner = member.reshape(-1)[(first - run.start) // (position.size // member.size)]
                pairs.append(number_of[first] * (2 * size) + owner)
                continue
            wanted = number_of[position]
            there = wanted > 0
            pairs.append(wanted[there] * (2 * size) + np.broadcast_to(member, position.shape)[there])
    keys = distinct(np.concatenate(pairs))
    table = Classes(np.searchsorted(keys, np.arange(len(heads) + 2) * max(1, 2 * size)), keys % max(1, 2 * size))
    drawn, origin, window = place.crop(classes)
    return Heat(
        place.shape,
        drawn,
        origin,
        over,
        place.unit,
        place.first,
        programs,
        moments,
        classes.reshape(place.padded)[window].reshape(-1),
        table,
        counts.reshape(place.padded)[window].reshape(-1),
        lost_active,
        lost_masked,
    )


_KEPT = 1 << 22  # lanes


def _run(position: Ints) -> slice | None:
    """The stretch that positions (programs, *block) fill one after the other, if they do."""
    line = position.reshape(-1)
    if position.ndim < 2 or not line.size or int(line[-1]) - int(line[0]) != line.size - 1:
        return None
    return slice(int(line[0]), int(line[-1]) + 1) if bool((line[1:] - line[:-1] == 1).all()) else None


def _sign(
    signature: npt.NDArray[np.uint64], position: Ints, member: Ints, salt: npt.NDArray[np.uint64], once: bool
) -> None:
    """Add the salt of each distinct (position, member) to the position's signature.

    ``once``: all positions differ. ``member`` broadcasts to ``position``.
    """
    if once:
        signature[position] += salt[member]
        return
    last = np.full(len(signature), -1, dtype=np.int64)
    last[position] = member
    if (last[position] == member).all():  # one member at each position
        there = last >= 0
        signature[there] += salt[last[there]]
        return
    keys = distinct(position * len(salt) + member)
    np.add.at(signature, keys // len(salt), salt[keys % len(salt)])
