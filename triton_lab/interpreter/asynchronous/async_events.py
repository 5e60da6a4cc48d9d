"""What happens asynchronously in a launch, one `AsyncEvent` after another: for films, and for checks.

`Machine` takes ``events=``, a function that gets each of them. Without one nothing is made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.shared_views import Buffer
from triton_lab.ir import Op

# "issued": work was started; "landed": it has ended; "committed": what was started is a group now. "arrived": a barrier
# counts an arrival; "phase": a phase of it has ended; "waits": a wait has begun; "waited": it has ended. "read",
# "written": the program itself touched a buffer. "unwritten": bytes are read that were never written. "fenced": a fence
# of proxies. "begin", "end": of a partition.
EventKind = Literal[
    "issued",
    "landed",
    "committed",
    "arrived",
    "phase",
    "waits",
    "waited",
    "read",
    "written",
    "unwritten",
    "fenced",
    "begin",
    "end",
]


@dataclass(frozen=True, slots=True)
class AsyncEvent:
    """One event, of ``programs`` (linear numbers, ascending) in ``partition`` (0: the default one).

    ``time`` counts events. ``op`` is the operation that runs. For work that lands, ``work_op`` is the operation that
    issued it, and ``op`` the one that waited, or None if the schedule chose the moment. ``queue`` is "copies", "loads",
    "stores", "products" or "tensor core". ``touches`` has each buffer or barrier, the first byte there, of shape
    ``(programs,)`` or ``(1,)``, and whether it is written. ``work`` numbers the work, 0 if there is none.
    """

    time: int
    kind: EventKind
    op: Op | None
    programs: NDArray[Any]
    partition: int = 0
    queue: str = ""
    work: int = 0
    work_op: Op | None = None
    touches: tuple[tuple[Buffer, NDArray[Any], bool], ...] = ()


Listener = Callable[[AsyncEvent], None]
