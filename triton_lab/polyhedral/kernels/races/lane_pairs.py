"""Whether lanes of one program store to one element with one operation.

If no pair of lanes does, whatever the data, that is a proof. If some do, the launch's record shows whether they store
the same value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import islpy as isl

from triton_lab.polyhedral.core.affine_conditions import Constraint, Formula, conjunction
from triton_lab.polyhedral.core.affine_expr import AffineExpr, isl_name
from triton_lab.polyhedral.core.isl_effort import TooHard, effort
from triton_lab.polyhedral.core.iteration_domain import formula_text, space_text
from triton_lab.polyhedral.kernels.access_statement import KernelStatement
from triton_lab.polyhedral.kernels.argument_memory import MemoryReach, reaches
from triton_lab.polyhedral.kernels.races.conflict_pairs import names_of
from triton_lab.polyhedral.kernels.races.race_verdict import Collisions
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import lane, program
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import substitute_formula

if TYPE_CHECKING:
    from triton_lab.polyhedral.kernels.launch_scop import KernelScop


def collisions(scop: KernelScop) -> Collisions:
    """The verdict for the launch's sizes; for the general scop, for all sizes that its context allows."""
    assert scop.launch is not None and scop.model is not None
    found: dict[str, KernelStatement] = {}
    undecided = [str(gap) for gap in scop.gaps if gap.what == "address" and gap.kind == "store"]
    for reach in reaches(scop.launch, scop.kernel_statements, scop.model.grid_formula()):
        if reach.statement.kind != "store":
            continue
        try:
            with effort(f"lanes of line {reach.statement.line}"):
                if any(not pairs.is_empty() for pairs in _pairs(scop, reach)):
                    found[reach.statement.name] = reach.statement
        except TooHard as unanswered:
            undecided.append(str(unanswered))
    stores = tuple(found.values())
    return Collisions(not stores and not undecided, stores, all(s.exact for s in stores), tuple(undecided))


def _pairs(scop: KernelScop, reach: MemoryReach) -> Iterator[isl.Set]:
    """The pairs of lanes at one element, by the first axis in which they differ.

    The second lane's symbols end in an underscore.
    """
    axes = range(len(reach.statement.block))
    assert reach.touch.path is not None
    # Both lanes are in one program and in the same iteration of its loops; all that is computed from lanes differs.
    shared = {program(axis) for axis in range(3)} | {each.symbol for each in reach.touch.path.rounds}
    own = {lane(axis) for axis in axes} | {n for n in names_of(reach) if n.startswith("_")} - shared
    other = {name: AffineExpr.of(f"{name}_") for name in own}
    gap = reach.place - reach.place.substitute(other)
    meet = conjunction(
        reach.domain, substitute_formula(reach.domain, other), ((Constraint(gap, equality=True),),), (scop.context,)
    )
    for axis in axes:
        equal = [Constraint(AffineExpr.of(lane(k)) - AffineExpr.of(f"{lane(k)}_"), equality=True) for k in range(axis)]
        apart: Formula = ((*equal, Constraint(AffineExpr.of(f"{lane(axis)}_") - AffineExpr.of(lane(axis)) - 1)),)
        formula = conjunction(meet, apart)
        names = sorted({n for case in formula for c in case for n in c.expression.names} - set(scop.parameters))
        space = ", ".join(isl_name(name) for name in names)
        yield isl.Set(f"{space_text(scop.parameters)}{{ [{space}] : {formula_text(formula)} }}")
