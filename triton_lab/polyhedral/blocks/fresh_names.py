"""Names in generated text that mean one thing each."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Collection

# What generated kernels and drivers say themselves.
HELPERS = frozenset({"floor_divide", "divide", "remainder", "python_floor", "python_modulo", "true_divide", "real"})
_RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "tl", "triton", "run"}) | HELPERS


class FreshNames:
    """Gives each name out once: ``fresh("i")`` is ``i``, and ``i_1`` where ``i`` means something already."""

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
        """Names of a text of its own, beside those that are taken now."""
        return FreshNames(self._taken)
