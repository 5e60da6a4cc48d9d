"""The variables of a stopped program as the Debug Adapter Protocol shows them: lists that open block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.command.debugging.value_text import line_text, short_text, type_text
from triton_lab.launch.debugging.debugger_state import LocalVariable
from triton_lab.launch.launch import Launch
from triton_lab.launch.maps.value_histogram import as_float

MOST_CHILDREN = 1000
MOST_REFERENCES = 1 << 16


class VariableReferences:
    """Numbers for what can be opened: they are valid until the program moves."""

    def __init__(self) -> None:
        self._held: list[tuple[list[LocalVariable] | NDArray[Any], Launch]] = []

    def clear(self) -> None:
        """The program has moved."""
        self._held.clear()

    def of(self, what: list[LocalVariable] | NDArray[Any], launch: Launch) -> int:
        """A number for a list of variables or a block; 0 if it cannot be opened."""
        if (isinstance(what, np.ndarray) and not what.shape) or len(self._held) >= MOST_REFERENCES:
            return 0
        self._held.append((what, launch))
        return len(self._held)

    def opened(self, reference: int, start: int, count: int) -> list[dict[str, Any]]:
        """What is behind a number, from ``start`` on; at most ``count`` if that is not 0. Raises LookupError."""
        if not 1 <= reference <= len(self._held):
            raise LookupError
        what, launch = self._held[reference - 1]
        stop = start + min(count or MOST_CHILDREN, MOST_CHILDREN)
        if isinstance(what, list):
            return [self._variable(one, launch) for one in what[start:stop]]
        return [self.block(f"[{number}]", what[number], launch) for number in range(start, min(stop, what.shape[0]))]

    def block(self, name: str, value: NDArray[Any], launch: Launch) -> dict[str, Any]:
        """A variable with a block or a number as its value."""
        value = np.asarray(value)
        if value.dtype.kind not in "biuf":
            shown = str(as_float(value)) if not value.shape else short_text(value, launch)
        else:
            shown = short_text(value, launch)
        return {
            "name": name,
            "value": shown,
            "type": type_text(value),
            "variablesReference": self.of(value, launch),
            **({"indexedVariables": value.shape[0]} if value.shape else {}),
        }

    def _variable(self, one: LocalVariable, launch: Launch) -> dict[str, Any]:
        if one.value is None:
            return {"name": one.name, "value": line_text(one, launch), "variablesReference": 0}
        return {**self.block(one.name, one.value, launch), "evaluateName": one.name}
