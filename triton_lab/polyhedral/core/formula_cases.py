"""The cases of a formula that there are: without those that never hold, and those that another one covers."""

from __future__ import annotations

import islpy as isl

from triton_lab.polyhedral.core.affine_conditions import Constraint, Formula
from triton_lab.polyhedral.core.affine_expr import isl_name
from triton_lab.polyhedral.core.isl_effort import TooHard, check_time, effort
from triton_lab.polyhedral.core.iteration_domain import formula_text, space_text


def without_empty(formula: Formula, iterators: tuple[str, ...], parameters: tuple[str, ...]) -> Formula:
    """The cases that hold somewhere, without those that another one covers.

    One that isl cannot tell of stays. Raises `TooHard` where the time of the `series` around is over.
    """
    head = f"{space_text(parameters)}{{ [{', '.join(isl_name(i) for i in iterators)}] : "
    if len(formula) == 1:
        return formula
    kept: list[tuple[tuple[Constraint, ...], isl.Set]] = []
    for case in dict.fromkeys(formula):
        check_time("which cases hold")
        with effort("where a case holds"):
            piece = isl.Set(f"{head}{formula_text((case,))} }}")
        try:
            with effort("where a case holds"):
                if piece.is_empty() or any(piece.is_subset(other) for _, other in kept):
                    continue
                kept = [(c, other) for c, other in kept if not other.is_subset(piece)]
        except TooHard:  # then it is one case more
            pass
        kept.append((case, piece))
    return tuple(case for case, _ in kept)
