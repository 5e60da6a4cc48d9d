"""Enumerates the integer points of isl sets: it runs the loops that isl generates for them."""

from __future__ import annotations

from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.polyhedral.core.isl_codegen import loops
from triton_lab.polyhedral.core.isl_effort import TooHard, answered, effort
from triton_lab.polyhedral.core.nest_printer import PythonPrinter, compiled

# Points of a set that are listed: some hundred bytes each.
MOST_POINTS = 1 << 23


def set_points(set_: isl.Set) -> NDArray[np.int64]:
    """The points of a bounded set without parameters, (count, dimensions), in lexicographic order.

    Raises `TooHard` where they are more than `MOST_POINTS`.
    """
    dimension = set_.dim(isl.dim_type.set)
    if answered(_("whether there are points"), set_.is_empty):
        return np.zeros((0, dimension), dtype=np.int64)
    _refuse_endless(set_)
    if dimension == 0:
        return np.zeros((1, 0), dtype=np.int64)
    named = set_.reset_tuple_id().set_tuple_name("visit")
    order = isl.UnionMap.from_map(named.identity().reset_tuple_id(isl.dim_type.out))
    nodes = loops(order, dimension, lambda depth, *_: (f"c{depth}", ""))
    found: list[tuple[int, ...]] = []

    def visit(*point: int) -> None:
        if len(found) == MOST_POINTS:
            raise TooHard(
                _("there are more than {most_points} points, which is too many to list").format(
                    most_points=f"{MOST_POINTS:,}"
                )
            )
        found.append(point)

    namespace: dict[str, Any] = {"visit": visit}
    exec(compiled("\n".join(PythonPrinter().statement_lines(nodes))), namespace)
    return np.array(found, dtype=np.int64).reshape(len(found), dimension)


def relation_points(relation: isl.Map) -> NDArray[np.int64]:
    """The pairs of a bounded map without parameters, (count, inputs + outputs), in lexicographic order."""
    return set_points(relation.wrap().flatten())


def count_points(set_: isl.Set) -> int:
    """How many points a bounded set without parameters has."""
    _refuse_endless(set_)
    return answered(_("how many points there are"), lambda: _counted(set_))


def more_than(set_: isl.Set, most: int) -> bool:
    """Whether a bounded set without parameters has more than ``most`` points (about 100,000).

    It stops counting there.
    """
    _refuse_endless(set_)
    try:
        with effort(_("whether there are more than {most} points").format(most=most)):
            return _counted(set_) > most
    except TooHard:  # one isl operation counts several points
        return True


def _counted(set_: isl.Set) -> int:
    # Without operations left, isl stops counting silently; but then it cannot print the number either.
    told = set_.count_val().to_str()
    if told is None:
        raise isl.Error(_("the count was stopped"))
    return int(told)


def _refuse_endless(set_: isl.Set) -> None:
    if not answered(_("whether the points are finitely many"), set_.is_bounded):
        raise ValueError(_("the points are not finitely many: {set} is unbounded").format(set=set_))
