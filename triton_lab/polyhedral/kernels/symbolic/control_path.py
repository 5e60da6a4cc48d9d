"""How a walk gets to an operation of a kernel: through which loops, under which conditions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from triton_lab.polyhedral.core.affine_conditions import TRUE, Formula, conjunction
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Facts
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicNumber, Truth, Unknown


@dataclass(frozen=True)
class Round:
    """A loop of known bounds: ``symbol`` counts its rounds from 0; its variable is ``lower`` + ``symbol`` ``step``.

    It goes round while ``going`` holds, at most ``most`` times in this launch.
    """

    op: int
    symbol: str
    name: str
    lower: SymbolicNumber
    step: int
    most: float
    going: Formula


@dataclass(frozen=True)
class Path:
    """How an operation is reached: at most where ``formula`` holds, once in each round of ``rounds``.

    ``unknown`` says why it may not be reached although ``formula`` holds, ``repeats`` why it may run more than once.
    A ``rehearsal`` only finds out what values become: its accesses do not count.
    """

    facts: Facts
    formula: Formula = TRUE
    rounds: tuple[Round, ...] = ()
    unknown: Unknown | None = None
    repeats: Unknown | None = None
    rehearsal: bool = False

    def under(self, truth: Truth) -> Path:
        formula = conjunction(self.formula, truth.cases)
        return replace(
            self, facts=self.facts.under(truth.cases), formula=formula, unknown=self.unknown or truth.unknown
        )
