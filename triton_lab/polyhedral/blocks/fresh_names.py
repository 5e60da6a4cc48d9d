"""Unique names in generated text."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Collection

# The names that generated kernels and drivers use themselves.
HELPERS = frozenset({"floor_divide", "divide", "remainder", "python_floor", "python_modulo", "true_divide", "real"})
_RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "tl", "triton", "run"}) | HELPERS


class FreshNames:
    """Gives each name once: ``fresh("i")`` is ``i``, or ``i_1`` if ``i`` is taken."""

    def __init__(self, taken: Collection[str] = ()) -> None:
        self._taken = set(taken)

    def __call__(self, wanted: str) -> str:
        count, name = 0, wanted
        while name in self._taken or name in _RESERVED:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        return name

    def copy(self) -> FreshNames:
        """A copy for another text, which starts with the names taken now."""
        return FreshNames(self._taken)
