"""The domain of an access over the walk's symbols, and the map back to the user's iterators."""

from __future__ import annotations

from collections.abc import Mapping

from triton_lab.polyhedral.core.affine_conditions import TRUE, Constraint, Formula, conjunction
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.access_statement import KernelStatement
from triton_lab.polyhedral.kernels.symbolic.control_path import Path, Round
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import lane
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess


def path_of(touch: SymbolicAccess) -> Path:
    """The path on which the access is reached."""
    assert touch.path is not None
    return touch.path


def start_of(round_: Round) -> AffineExpr | None:
    """The start of the loop's variable, if that is one expression."""
    return round_.lower.single


def symbol_domain(touch: SymbolicAccess, grid: Formula, branches: bool = True, mask: bool = True) -> Formula:
    """The domain of an access over symbols: grid, loops, conditions on its path, lanes and mask.

    Without ``branches`` it is larger, and has fewer cases: it lacks the conditions of branches on the path.
    Without ``mask`` it has the lanes that the mask turns off, too.
    """
    path = path_of(touch)
    loops: Formula = TRUE
    for round_ in path.rounds:
        loops = conjunction(loops, ((Constraint(AffineExpr.of(round_.symbol)),),), round_.going)
    lanes: list[Constraint] = []
    for axis, extent in enumerate(touch.shape):
        place = AffineExpr.of(lane(axis))
        lanes += [Constraint(place), Constraint(-place + (extent - 1))]
    parts = (grid, loops, path.formula if branches else TRUE, (tuple(lanes),), touch.mask.cases if mask else TRUE)
    return tuple(tuple(dict.fromkeys(case)) for case in conjunction(*parts))


def instance(statement: KernelStatement, values: Mapping[str, int]) -> tuple[int, ...]:
    """The instance of ``statement`` for these values of its symbols."""
    touch = statement.touch
    assert touch is not None
    axes = len(statement.iterators) - len(touch.shape) - len(path_of(touch).rounds)
    point = [values[symbol] for symbol in sorted(values) if symbol.startswith("_p")][:axes]
    for round_ in path_of(touch).rounds:
        start = start_of(round_)
        count = values[round_.symbol]
        point.append(count if start is None else int(start.evaluate(values)) + round_.step * count)
    return (*point, *(values[lane(axis)] for axis in range(len(touch.shape))))
