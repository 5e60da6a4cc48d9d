"""What is said of a kernel's races, by what is known: the tables that the verdicts are read from.

Each row says which facts it needs; of any combination of facts exactly one row holds. Facts are asked for from left to
right and only as far as a row still fits, so that what is dear to find out (the record) is found out only where it
decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

Proof = Literal["all sizes", "some sizes", "this launch", "this record", "none"]
# What the model has of conflicts: none; some that perhaps do not take place; some that do.
Conflicting = Literal["none", "possible", "sure"]
General = Literal["all sizes", "some sizes", "none"]


@dataclass(frozen=True)
class RaceTableVerdict:
    """``free``, how far that is proved, which conflicts are its ``witnesses``, and whether atomics ``ordered`` them."""

    free: bool
    proof: Proof
    witnesses: Literal["none", "sure", "all"] = "none"
    ordered: bool = False


class LaunchFacts(Protocol):
    """What the verdict on a launch depends on.

    ``verified``: the model does not differ from the record; only then the model's conflicts count. ``decided``: nothing
    was left open, by isl or because an address is not affine. ``orderly``: the kernel has atomics that can order what
    programs do. ``general``: for which sizes the kernel is proved free in general, that of this launch among them.
    ``recorded``: programs raced in the record.
    """

    @property
    def verified(self) -> bool: ...
    @property
    def conflicting(self) -> Conflicting: ...
    @property
    def decided(self) -> bool: ...
    @property
    def orderly(self) -> bool: ...
    @property
    def general(self) -> General: ...
    @property
    def recorded(self) -> bool: ...


@dataclass(frozen=True)
class LaunchRow:
    """The verdict where the facts are these; None: whichever way the fact is."""

    verified: bool | None
    conflicting: Conflicting | None
    decided: bool | None
    orderly: bool | None
    general: General | None
    recorded: bool | None
    verdict: RaceTableVerdict


YES, NO, ANY = True, False, None

LAUNCH_ROWS = (
    # A model that differs from the record says nothing: the record decides.
    LaunchRow(NO, ANY, ANY, ANY, ANY, NO, RaceTableVerdict(True, "this record")),
    LaunchRow(NO, ANY, ANY, ANY, ANY, YES, RaceTableVerdict(False, "this record")),
    # No two programs meet where one of them writes, and nothing is left open.
    LaunchRow(YES, "none", YES, ANY, "all sizes", ANY, RaceTableVerdict(True, "all sizes")),
    LaunchRow(YES, "none", YES, ANY, "some sizes", ANY, RaceTableVerdict(True, "some sizes")),
    LaunchRow(YES, "none", YES, ANY, "none", ANY, RaceTableVerdict(True, "this launch")),
    # The same, but something is left open: the record decides.
    LaunchRow(YES, "none", NO, ANY, ANY, NO, RaceTableVerdict(True, "this record")),
    LaunchRow(YES, "none", NO, ANY, ANY, YES, RaceTableVerdict(False, "this record")),
    # Conflicts of accesses that perhaps do not take place: the record decides.
    LaunchRow(YES, "possible", ANY, ANY, ANY, NO, RaceTableVerdict(True, "this record", "all")),
    LaunchRow(YES, "possible", ANY, ANY, ANY, YES, RaceTableVerdict(False, "this record", "all")),
    # Conflicts that take place, and nothing that could order them.
    LaunchRow(YES, "sure", ANY, NO, ANY, ANY, RaceTableVerdict(False, "this launch", "sure")),
    # The same, but atomics may order them: the record decides.
    LaunchRow(YES, "sure", ANY, YES, ANY, NO, RaceTableVerdict(True, "this record", "all", ordered=True)),
    LaunchRow(YES, "sure", ANY, YES, ANY, YES, RaceTableVerdict(False, "this record", "all")),
)


class GeneralFacts(Protocol):
    """What the verdict on a kernel, for sizes that have names, depends on.

    ``affine``: all addresses are. ``decided``: isl left nothing open. ``conflicting``: there is a conflict for some
    sizes. ``solved``: it is known for which there is none. ``free_here``: there is none for the launch's sizes.
    """

    @property
    def affine(self) -> bool: ...
    @property
    def decided(self) -> bool: ...
    @property
    def conflicting(self) -> bool: ...
    @property
    def solved(self) -> bool: ...
    @property
    def free_here(self) -> bool: ...


@dataclass(frozen=True)
class GeneralRow:
    """The verdict where the facts are these; None: whichever way the fact is."""

    affine: bool | None
    decided: bool | None
    conflicting: bool | None
    solved: bool | None
    free_here: bool | None
    verdict: RaceTableVerdict


GENERAL_ROWS = (
    GeneralRow(NO, ANY, ANY, ANY, ANY, RaceTableVerdict(False, "none")),
    GeneralRow(YES, NO, ANY, ANY, ANY, RaceTableVerdict(False, "none")),
    GeneralRow(YES, YES, NO, ANY, ANY, RaceTableVerdict(True, "all sizes")),
    GeneralRow(YES, YES, YES, NO, ANY, RaceTableVerdict(False, "none")),
    GeneralRow(YES, YES, YES, YES, YES, RaceTableVerdict(True, "some sizes")),
    GeneralRow(YES, YES, YES, YES, NO, RaceTableVerdict(False, "some sizes")),
)

Row = TypeVar("Row", LaunchRow, GeneralRow)


def row_for(rows: Iterable[Row], facts: LaunchFacts | GeneralFacts) -> Row:
    """The row that holds for ``facts``."""
    return next(row for row in rows if _holds(row, facts))


def _holds(row: LaunchRow | GeneralRow, facts: LaunchFacts | GeneralFacts) -> bool:
    wanted = {name: value for name, value in vars(row).items() if name != "verdict" and value is not None}
    return all(getattr(facts, name) == value for name, value in wanted.items())
