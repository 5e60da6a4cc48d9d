"""Decision tables for races: the verdict for each combination of facts.

Each row lists the facts it needs, and exactly one row fits any combination of facts. Facts are computed from left to
right, only while a row still fits, so that an expensive fact (the record) is computed only where it decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

Proof = Literal["all sizes", "some sizes", "this launch", "this record", "none"]
# The model's conflicts: none; some that may not take place; some that do.
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
    """The facts that decide the verdict on a launch.

    ``verified``: the model agrees with the record; only then its conflicts count. ``decided``: nothing was left open,
    by isl or by an address that is not affine. ``orderly``: the kernel has atomics that can order programs.
    ``general``: the sizes for which the kernel is proved free in general, which include this launch's. ``recorded``:
    programs raced in the record.
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
    """The verdict for these facts; None accepts any value."""

    verified: bool | None
    conflicting: Conflicting | None
    decided: bool | None
    orderly: bool | None
    general: General | None
    recorded: bool | None
    verdict: RaceTableVerdict


YES, NO, ANY = True, False, None

LAUNCH_ROWS = (
    # A model that contradicts the record proves nothing: the record decides.
    LaunchRow(NO, ANY, ANY, ANY, ANY, NO, RaceTableVerdict(True, "this record")),
    LaunchRow(NO, ANY, ANY, ANY, ANY, YES, RaceTableVerdict(False, "this record")),
    # No two programs access one element with a write, and nothing is left open.
    LaunchRow(YES, "none", YES, ANY, "all sizes", ANY, RaceTableVerdict(True, "all sizes")),
    LaunchRow(YES, "none", YES, ANY, "some sizes", ANY, RaceTableVerdict(True, "some sizes")),
    LaunchRow(YES, "none", YES, ANY, "none", ANY, RaceTableVerdict(True, "this launch")),
    # The same, but something is left open: the record decides.
    LaunchRow(YES, "none", NO, ANY, ANY, NO, RaceTableVerdict(True, "this record")),
    LaunchRow(YES, "none", NO, ANY, ANY, YES, RaceTableVerdict(False, "this record")),
    # Conflicts of accesses that may not take place: the record decides.
    LaunchRow(YES, "possible", ANY, ANY, ANY, NO, RaceTableVerdict(True, "this record", "all")),
    LaunchRow(YES, "possible", ANY, ANY, ANY, YES, RaceTableVerdict(False, "this record", "all")),
    # Conflicts that take place, and no atomics that could order them.
    LaunchRow(YES, "sure", ANY, NO, ANY, ANY, RaceTableVerdict(False, "this launch", "sure")),
    # The same, but atomics may order them: the record decides.
    LaunchRow(YES, "sure", ANY, YES, ANY, NO, RaceTableVerdict(True, "this record", "all", ordered=True)),
    LaunchRow(YES, "sure", ANY, YES, ANY, YES, RaceTableVerdict(False, "this record", "all")),
)


class GeneralFacts(Protocol):
    """The facts that decide the verdict on a kernel for symbolic sizes.

    ``affine``: all addresses are. ``decided``: isl left nothing open. ``conflicting``: some sizes have a conflict.
    ``solved``: it is known which sizes have none. ``free_here``: the launch's sizes have none.
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
    """The verdict for these facts; None accepts any value."""

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
