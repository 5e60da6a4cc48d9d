"""The subscripts of every access, for all visits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral.core.affine_conditions import true_at, value_at
from triton_lab.polyhedral.core.schedule_visits import Ordered

if TYPE_CHECKING:
    from triton_lab.polyhedral.core.access_function import Access
    from triton_lab.polyhedral.core.statement import Statement

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class AccessVisits:
    """Access ``number`` of ``statement``, at all its ``visits`` (positions in the schedule's order).

    Each subscript is an array with one value per visit. Visits that do not make the access are left out.
    """

    statement: str
    number: int
    access: Access
    visits: Ints
    subscripts: tuple[Ints, ...]


def touches(schedule: Ordered) -> Iterator[AccessVisits]:
    """The visits of each access, statement by statement."""
    scop, order = schedule.scop, schedule.order()
    for position, name in enumerate(order.names):
        statement = scop[name]
        visits = np.flatnonzero(order.statements == position)
        points = order.points[visits]
        environment = {**scop.values, **{i: points[:, k] for k, i in enumerate(statement.iterators)}}
        for number, access in enumerate(statement.accesses):
            inside = _inside(access, statement, environment, len(visits))
            subscripts = (np.broadcast_to(value_at(s, environment), visits.shape)[inside] for s in access.subscripts)
            yield AccessVisits(name, number, access, visits[inside], tuple(subscripts))


def _inside(access: Access, statement: Statement, environment: Mapping[str, Any], count: int) -> NDArray[np.bool_]:
    """Which of ``count`` instances make the access: a kernel's pointer may have a formula for each of several cases."""
    if access.domain == statement.domain:
        return np.ones(count, dtype=bool)
    return np.broadcast_to(true_at(access.domain.pieces, environment), (count,))
