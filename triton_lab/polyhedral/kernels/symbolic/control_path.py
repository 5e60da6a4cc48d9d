"""The path to an operation of a kernel: through which loops, under which conditions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from triton_lab.polyhedral.core.affine_conditions import TRUE, Formula, conjunction
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Facts
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicNumber, Truth, Unknown


@dataclass(frozen=True)
class Round:
    """A loop with known bounds.

    ``symbol`` counts its iterations from 0; its variable is ``lower`` + ``symbol`` ``step``. It iterates while
    ``going`` holds, at most ``most`` times in this launch.
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
    """The path to an operation: it runs at most where ``formula`` holds, once in each iteration of ``rounds``.

    ``unknown`` says why it may not run although ``formula`` holds, ``repeats`` why it may run more than once. A
    ``rehearsal`` only computes values: its accesses do not count.
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
