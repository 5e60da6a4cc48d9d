"""Conditions to stop at: what holds in any lane, a value that ``becomes NaN``, a value that ``changes``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.debugging.block_expression import (
    MOST_TEXT,
    BlockExpression,
    holds,
    plain_numbers,
    read_expression,
)

Array = NDArray[Any]

_EDGE = re.compile(r"^(?P<value>.+?)\s+(?:becomes\s+(?P<target>\S.*?)|(?P<changes>changes))\s*$", re.DOTALL)
_CLASSES: Mapping[str, Callable[[Array], Any]] = {
    "nan": np.isnan,
    "inf": np.isinf,
    "infinite": np.isinf,
    "negative": lambda value: value < 0,
    "zero": lambda value: value == 0,
}


@dataclass(frozen=True, eq=False)
class StopCondition:
    """A condition that was read: true in a state, or with ``edge`` where it becomes true (``becomes``, ``changes``)."""

    text: str
    expression: BlockExpression
    edge: str = ""
    target: BlockExpression | None = None

    @property
    def names(self) -> frozenset[str]:
        """The variables in it."""
        return self.expression.names | (frozenset() if self.target is None else self.target.names)

    def state(self, variables: Mapping[str, Any]) -> Any:
        """What to compare with the state before: whether it holds, or for ``changes`` the value.

        Raises ConditionError.
        """
        value = self.expression.value(variables)
        if self.edge == "changes":
            return value.tobytes(), value.shape
        if self.target is not None:
            return holds(value == self.target.value(variables))
        return holds(_CLASSES[self.edge](plain_numbers(value)) if self.edge else value)


def read_condition(text: str) -> StopCondition:
    """Read a condition. Raises ConditionError.

    >>> from triton_lab.launch.debugging.stop_condition import read_condition
    >>> read_condition("acc becomes NaN").edge
    'nan'
    """
    found = _EDGE.match(text) if len(text) <= MOST_TEXT else None
    if found is None:
        return StopCondition(text.strip(), read_expression(text))
    value = read_expression(found["value"])
    if found["changes"]:
        return StopCondition(text.strip(), value, "changes")
    target = found["target"].strip()
    if target.lower() in _CLASSES:
        return StopCondition(text.strip(), value, target.lower())
    return StopCondition(text.strip(), value, "equal", read_expression(target))
