"""The iteration domain of a kernel's accesses: programs by lanes, with the elements beside them and a race in red."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.messages import access_noun
from triton_lab.polyhedral import Schedule
from triton_lab.polyhedral.core.loop_tree import Leaf, Loop, Tree, sequence
from triton_lab.polyhedral.core.statement import Array
from triton_lab.polyhedral.kernels.access_statement import KernelStatement
from triton_lab.polyhedral.kernels.launch_scop import KernelScop
from triton_lab.polyhedral.kernels.races.race_verdict import Race
from triton_lab.views.polyhedral.array_panels import grids, touched
from triton_lab.views.polyhedral.dependence_pairs import Arrows
from triton_lab.views.polyhedral.iteration_picture import Picture, picture
from triton_lab.views.polyhedral.iteration_view import IterationView, Links
from triton_lab.views.polyhedral.plane_plot import Plot
from triton_lab.views.polyhedral.polyhedral_style import Note, Tone
from triton_lab.views.polyhedral.program_tiles import ProgramTiles, coloured, program_tiles

_WIDTH = 96  # characters of a line below the program


class KernelView(IterationView):
    """One access of a launch, or two that race, as points of two (or three) of its dimensions.

    ``line`` chooses the access by its line (by default the race, or the last store). ``dims`` are by default a program
    id and the last axis of lanes; ``at`` fixes others, the rest are projected out. A red arrow joins the pair of
    instances that race, and their element is marked in the array.
    """

    def __init__(
        self,
        scop: KernelScop,
        line: int | None = None,
        dims: Sequence[str] | None = None,
        at: Mapping[str, int] | None = None,
        instance: Sequence[int] | None = None,
    ) -> None:
        if scop.launch is None or not scop.statements:
            raise ValueError(_("no affine access to draw: see .gaps"))
        self.scop, self.line = scop, line
        self.race = _race(scop, line)
        shown = _shown(scop, line, self.race)
        self.shown = shown
        chosen = tuple(dims) if dims is not None else _dims(shown, scop, self.race)
        if instance is None and self.race is not None:
            instance = _seen(self.race.first.statement, self.race.first.point, chosen)
        small = replace(
            scop, statements=shown, tree=_only(scop.tree, {s.name for s in shown}), arrays=_arrays(scop, shown)
        )
        super().__init__(small.schedule, chosen, at, None, False, instance, _title(scop, shown, self.race))

    @cached_property
    def picture(self) -> Picture:
        found = picture(self.schedule, self.dims, self.at, None)
        if self.tiles is not None:
            found = coloured(found, self.tiles)
        return found if self.race is None else replace(found, arrows=(_pair(self.race, found.dims),))

    @cached_property
    def tiles(self) -> ProgramTiles | None:
        """The elements that are accessed, by program."""
        array = self.race.argument if self.race is not None else self.shown[0].argument
        return None if array is None else program_tiles(self.schedule, array, self.scop.programs)

    @cached_property
    def time(self) -> Plot | None:
        """In place of time, which programs do not share: the elements, with the tile of each program."""
        return None if self.tiles is None else Plot(self.tiles.picture)

    def moves(self) -> None:
        """None: a grid has no order that could be changed."""

    @property
    def beside(self) -> str:
        return "" if self.tiles is None else _("{array} by program").format(array=self.tiles.array)

    @property
    def notes(self) -> tuple[Note, ...]:
        from triton_lab.polyhedral.kernels.launch_scop_text import race_lines

        verdict, *rest = race_lines(self.scop.races)
        lines = (verdict, str(self.race)) if self.race is not None else (verdict, *rest[:2])
        tone: Tone = "legal" if self.scop.races.free else "violated"
        return tuple((part, tone) for line in lines for part in textwrap.wrap(line.strip(), _WIDTH))

    def _links(self) -> Links | None:
        found = super()._links()
        if found is None or self.race is None:
            return found
        # Of all elements that the point stands for, mark that of the race.
        grids = found.shelf.grids
        number = next(k for k, grid in enumerate(grids) if grid.name == self.race.argument)
        (cell,) = grids[number].cells([np.array([index]) for index in self.race.element])
        return replace(found, marked=tuple(m for m in found.marked if m[:2] == (number, int(cell))))

    @property
    def chosen(self) -> NDArray[np.int64]:
        found = super().chosen
        if self.race is None or not len(found):
            return found
        every = grids(self.schedule)
        (grid,) = (grid for grid in every if grid.name == self.race.argument)
        (cell,) = grid.cells([np.array([index]) for index in self.race.element])
        times = [a.visits[a.cells == cell] for a in touched(self.schedule, every) if a.array == grid.name]
        contested = found[np.isin(self.picture.times[found], np.concatenate(times))]
        return contested if len(contested) else found

    def again(self, schedule: Schedule, dims: Sequence[str], at: Mapping[str, int]) -> KernelView:
        bound = self.scop.bind(**schedule.scop.values) if self.scop.parameters else self.scop
        return KernelView(bound, self.line, dims, at)

    def text(self) -> str:
        tiles = [] if self.tiles is None else self.tiles.lines()
        return "\n".join([self.title(), *tiles, self.scop.explain()])


def kernel_view(scop: KernelScop, **options: object) -> KernelView:
    """The `KernelView` of a launch's scop."""
    return KernelView(scop, **options)  # type: ignore[arg-type]


def _race(scop: KernelScop, line: int | None) -> Race | None:
    """The race to show: on ``line``, if that is given."""
    if scop.parameters:
        return None
    for race in scop.races.witnesses:
        if line in (None, race.first.statement.line, race.second.statement.line):
            return race
    return None


def _shown(scop: KernelScop, line: int | None, race: Race | None) -> tuple[KernelStatement, ...]:
    every = scop.kernel_statements
    if race is not None:
        names = {race.first.statement.name, race.second.statement.name}
        return tuple(s for s in every if s.name in names)
    if line is None:
        return tuple([s for s in every if s.kind == "store"] or every)[-1:]
    found = scop.at(line)
    if not found:
        lines = ", ".join(str(n) for n in sorted({s.line for s in every if s.line is not None}))
        raise ValueError(
            _("line {line} has no affine access; there are some on lines {lines}").format(line=line, lines=lines)
        )
    return found[-1:]


def _dims(shown: tuple[KernelStatement, ...], scop: KernelScop, race: Race | None) -> tuple[str, ...]:
    """A program id and a lane: if there is a race, the dimensions in which its programs differ."""
    common = [i for i in shown[0].iterators if all(i in s.iterators for s in shown)]
    programs = [name for name in scop.programs if name in common]
    if race is not None:
        one, other = (dict(zip(e.statement.iterators, e.point, strict=True)) for e in (race.first, race.second))
        programs.sort(key=lambda name: one[name] == other[name])
    else:
        assert scop.launch is not None
        extents = dict(zip(scop.programs, scop.launch.grid, strict=False))
        programs.sort(key=lambda name: extents[name] == 1)
    lanes = [name for name in shown[0].lanes if name in common]
    rest = [name for name in common if name not in programs]
    return (programs[0], *(lanes[-1:] or rest[-1:] or programs[1:2]))


def _seen(statement: KernelStatement, point: Sequence[int], dims: Sequence[str]) -> tuple[int, ...]:
    return tuple(point[statement.iterators.index(name)] for name in dims)


def _pair(race: Race, dims: tuple[str, ...]) -> Arrows:
    ends = [_seen(side.statement, side.point, dims) for side in (race.first, race.second)]
    return Arrows("race", race.first.statement.name, race.second.statement.name, True, np.array([ends]), 1)


def _arrays(scop: KernelScop, shown: Sequence[KernelStatement]) -> tuple[Array, ...]:
    used = {access.array for statement in shown for access in statement.accesses}
    return tuple(array for array in scop.arrays if array.name in used)


def _only(tree: Tree, names: set[str]) -> Tree:
    """The schedule tree restricted to these statements."""
    found = _part(tree, names)
    return found if found is not None else Leaf(())


def _part(tree: Tree, names: set[str]) -> Tree | None:
    match tree:
        case Leaf():
            kept = tuple(name for name in tree.statements if name in names)
            return Leaf(kept) if kept else None
        case Loop():
            body = _part(tree.body, names)
            own = {name: e for name, e in tree.expressions.items() if name in names}
            return None if body is None else replace(tree, expressions=own, body=body)
    parts = [part for part in (_part(child, names) for child in tree.children) if part is not None]
    return sequence(tuple(parts)) if parts else None


def _title(scop: KernelScop, shown: Sequence[KernelStatement], race: Race | None) -> str:
    assert scop.launch is not None
    what = _(" and ").join(
        dict.fromkeys(_("{kind} in line {line}").format(kind=access_noun(s.kind), line=s.line) for s in shown)
    )
    if race is not None:
        return _("{kernel}: {who} and {who2} race ({what})").format(
            kernel=scop.launch.kernel, who=race.first.who, who2=race.second.who, what=what
        )
    return f"{scop.launch.kernel}: {what}"
