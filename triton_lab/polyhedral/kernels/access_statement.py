"""The statements of a kernel: its loads, stores and atomics, and which parts of them are not affine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from triton_lab.localization import _
from triton_lab.messages import access_noun
from triton_lab.polyhedral.core.statement import Statement
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess

AccessKind = Literal["load", "store", "atomic"]


@dataclass(frozen=True)
class Gap:
    """A part of an access that is not affine.

    ``what`` names the part: its ``address``, its ``mask``, ``whether`` it runs, or how ``often``. ``cause`` is the
    source line of the cause. Except for an address, the model then holds more than what happens, never less.
    """

    line: int | None
    kind: AccessKind
    argument: str | None
    what: Literal["address", "mask", "whether", "often"]
    reason: str
    cause: int | None

    def __str__(self) -> str:
        subject = {
            "address": _("the address"),
            "mask": _("the mask"),
            "whether": _("whether it runs"),
            "often": _("how often it runs"),
        }[self.what]
        where = _(" (line {line})").format(line=self.cause) if self.cause not in (None, self.line) else ""
        argument = f" {self.argument}" if self.argument else ""
        return _("line {line}, {kind}{argument}: {subject} is not affine, because of {reason}{where}").format(
            line=self.line,
            kind=access_noun(self.kind),
            argument=argument,
            subject=subject,
            reason=self.reason,
            where=where,
        )


@dataclass(frozen=True)
class KernelStatement(Statement):
    """One load, store or atomic. An instance is a lane of a program in an iteration of the loops around it.

    The domain combines grid, loops and mask; the last iterators are the lanes of its ``block``. An atomic reads and
    writes. ``exact``: every instance of the domain takes place. Otherwise ``gaps`` say what is unknown, and the
    domain holds all instances that take place and perhaps more.
    """

    op: int = -1
    line: int | None = None
    kind: AccessKind = "load"
    argument: str | None = None
    block: tuple[int, ...] = ()
    gaps: tuple[Gap, ...] = ()
    touch: SymbolicAccess | None = field(default=None, compare=False, repr=False)

    @property
    def exact(self) -> bool:
        return not self.gaps

    @property
    def lanes(self) -> tuple[str, ...]:
        """The iterators that number lanes."""
        return self.iterators[len(self.iterators) - len(self.block) :]
