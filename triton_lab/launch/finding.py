"""What is wrong, or noteworthy, about a launch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

ERROR, WARNING, NOTE = "error", "warning", "note"

SEVERITY = {
    "out-of-bounds": ERROR,
    "null-pointer": ERROR,
    "misaligned": ERROR,
    "race": ERROR,
    "uninitialised": ERROR,
    "deadlock": ERROR,
    "assertion": ERROR,
    "overflow": WARNING,
    "non-finite": WARNING,
    "outside-view": NOTE,
    "alias": NOTE,
    "idle-program": NOTE,
    "always-true-mask": NOTE,
    "unverified": NOTE,
}


def _none() -> NDArray[Any]:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Finding:
    """One kind of thing at one operation and argument.

    ``count`` lanes are concerned. ``programs`` (linear numbers), ``lanes`` (row-major in the
    block) and ``elements`` (of the argument, in the storage's order from its first element) list
    the first 100 of them, and ``values``, where they tell something, what was stored there;
    ``mend`` is one sentence on what to do.
    """

    kind: str
    message: str
    mend: str
    line: int | None = None
    column: int | None = None
    argument: str | None = None
    count: int = 0
    programs: NDArray[Any] = field(default_factory=_none)
    lanes: NDArray[Any] = field(default_factory=_none)
    elements: NDArray[Any] = field(default_factory=_none)
    excerpt: tuple[str, ...] = ()
    kernel: str = ""
    values: NDArray[Any] = field(default_factory=_none)

    @property
    def severity(self) -> str:
        return SEVERITY[self.kind]

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line is not None else ""
        return "\n".join([f"{self.severity}: {where}{self.message}", *self.excerpt, f"  {self.mend}"])
