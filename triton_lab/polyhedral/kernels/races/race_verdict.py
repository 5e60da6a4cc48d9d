"""Results about races between programs, and about lanes of one program that store to one element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import islpy as isl

from triton_lab.localization import _
from triton_lab.messages import access_noun, element_at, who
from triton_lab.polyhedral.kernels.access_statement import KernelStatement

Proof = Literal["all sizes", "some sizes", "this launch", "this record", "none"]


@dataclass(frozen=True)
class Encounter:
    """One side of a race: a lane of a program in an iteration of its loops.

    ``point`` is an instance of the statement's domain, ``program`` the program's linear number.
    """

    statement: KernelStatement
    program: int
    point: tuple[int, ...]
    grid: tuple[int, int, int]

    @property
    def who(self) -> str:
        """The program, as part of a sentence."""
        return who(self.program, self.grid)

    def __str__(self) -> str:
        names = ", ".join(f"{n} = {v}" for n, v in zip(self.statement.iterators, self.point, strict=True))
        return _("{kind} in line {line} ({names})").format(
            kind=access_noun(self.statement.kind), line=self.statement.line, names=names
        )


@dataclass(frozen=True)
class Race:
    """Two programs that access one element.

    ``element`` holds its coordinates in ``argument``; ``other`` is the argument of the second access (often the
    same).
    """

    first: Encounter
    second: Encounter
    argument: str
    element: tuple[int, ...]
    other: str

    def __str__(self) -> str:
        place = element_at(self.argument, self.element)
        if self.other != self.argument:
            place = _("{place}, which {other} shares").format(place=place, other=self.other)
        return _("{who} and {who2} access {place}: {first}, {second}").format(
            who=self.first.who, who2=self.second.who, place=place, first=self.first, second=self.second
        )


@dataclass(frozen=True)
class RaceVerdict:
    """The verdict: whether the launch is ``free`` of races, and how far that is proved:

    - "all sizes": for any values of the ``parameters`` and any extents of the grid
    - "some sizes": where ``condition`` holds (an isl set over the parameters), and if ``exact`` only there
    - "this launch": for the launch's sizes and any data
    - "this record": only for the record of this launch, since something is not affine (``open``)

    Sizes are general, but tensors have the launch's places in memory, scalars in ``fixed`` and constexprs have their
    values, and no offset overflows.

    Otherwise ``witnesses`` has a pair for each two accesses that conflict. ``ordered``: there are conflicts, but
    atomics order them in the record of this launch.
    """

    free: bool
    proof: Proof
    witnesses: tuple[Race, ...] = ()
    parameters: tuple[str, ...] = ()
    fixed: Mapping[str, int] | None = None
    condition: isl.Set | None = None
    exact: bool = True
    ordered: bool = False
    open: tuple[str, ...] = ()


@dataclass(frozen=True)
class Collisions:
    """The verdict on lanes of one program.

    ``free``: no two of them, in one iteration of its loops, store to one element. ``stores`` are the stores that may;
    ``sure``: they certainly do, as far as the model is exact. ``open`` says what could not be decided.
    """

    free: bool
    stores: tuple[KernelStatement, ...] = ()
    sure: bool = True
    open: tuple[str, ...] = ()
