"""`PendingWork`: asynchronous work that reads and writes parts of buffers until it lands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.buffer_accesses import Access
from triton_lab.interpreter.asynchronous.shared_views import SharedView
from triton_lab.ir import Op

Array = NDArray[Any]
Queue = Literal["copies", "loads", "stores", "products", "tensor core"]
# Those whose work goes through another proxy than a program's own accesses, so that fences order the two.
PROXIES: frozenset[Queue] = frozenset(("loads", "stores", "products", "tensor core"))


@dataclass(slots=True, eq=False)
class PendingWork:
    """Work of ``programs`` that reads and writes parts of buffers until it lands.

    ``effect`` gets the positions of the programs for which it lands. ``bars`` are the barriers that it then reports to,
    with the bytes that have landed, or None, and the arrivals. ``after``: work that lands before it. ``waits`` has a
    number for each program: of the group that it belongs to, 0 before it is committed, -1 once it has landed.
    """

    op: Op
    queue: Queue
    programs: Array
    reads: Sequence[SharedView] = ()
    writes: Sequence[SharedView] = ()
    effect: Callable[[Array], None] | None = None
    bars: Sequence[tuple[SharedView, int | None, int]] = ()
    after: Sequence[PendingWork] = ()
    number: int = 0
    partition: int = 0
    clock: Array | None = None
    noted: list[Access] = field(default_factory=list)
    waits: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def touches(self) -> list[tuple[SharedView, bool]]:
        """The parts of buffers that it reads, and those that it writes, with whether it does."""
        return [*((view, False) for view in self.reads), *((view, True) for view in self.writes)]

    def left(self, programs: Array | None = None) -> Array:
        """The positions of the programs, or of those among ``programs``, for which it has not landed yet."""
        left = self.waits >= 0
        return np.flatnonzero(left if programs is None else left & np.isin(self.programs, programs))
