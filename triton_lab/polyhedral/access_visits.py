"""The subscripts of every access, for all visits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral.core.schedule_visits import Ordered
from triton_lab.polyhedral.execute import value_at

if TYPE_CHECKING:
    from triton_lab.polyhedral.core.access_function import Access

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class AccessVisits:
    """Access ``number`` of ``statement``, at all its ``visits`` (positions in the schedule's order).

    Each subscript is an array with one value per visit.
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
            subscripts = (np.broadcast_to(value_at(s, environment), visits.shape) for s in access.subscripts)
            yield AccessVisits(name, number, access, visits, tuple(subscripts))
