"""Polyhedral compilation, to look at: scops, their domains, access functions, schedules and dependences."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .access import Access
from .dependence import Dependence
from .domain import Domain
from .effort import NoAnswer, TooHard
from .frontend import scop
from .legality import Legality, Violation
from .maximal import Maximal, Part
from .schedule import Schedule
from .scop import Array, Scop, Statement
from .source import NotAScop

if TYPE_CHECKING:
    from .block_shape import NotABlockProgram as NotABlockProgram
    from .cost import Cache as Cache
    from .cost import Cost as Cost
    from .execute import Visits as Visits
    from .kernel_scop import Gap as Gap
    from .kernel_scop import KernelScop as KernelScop
    from .triton_kernel import TritonKernel as TritonKernel

# Found on first use: name -> where it lives.
_LATER = {
    "Cache": "triton_lab.polyhedral.cost",
    "Cost": "triton_lab.polyhedral.cost",
    "Gap": "triton_lab.polyhedral.kernel_scop",
    "KernelScop": "triton_lab.polyhedral.kernel_scop",
    "NotABlockProgram": "triton_lab.polyhedral.block_shape",
    "TritonKernel": "triton_lab.polyhedral.triton_kernel",
    "Visits": "triton_lab.polyhedral.execute",
}


def schedule(source: Any, **values: int) -> Schedule:
    """The schedule that a scop (or whatever `scop` takes) comes with: the order of its source.

    >>> order = lab.schedule("for (int i = 0; i < n; i++) A[i] = 0;")
    >>> order.split("i", 4)
    // split(i, 4, io, ii)
    for (int io = 0; io <= floord(n - 1, 4); io++)
      for (int ii = 0; ii <= min(3, n - 4 * io - 1); ii++)
        A[4 * io + ii] = 0;
    legal: every dependence is kept
    """
    return (source.bind(**values) if isinstance(source, Scop) else scop(source, maximal=False, **values)).schedule


__all__ = [
    "Access",
    "Array",
    "Cache",
    "Cost",
    "Dependence",
    "Domain",
    "Gap",
    "KernelScop",
    "Legality",
    "Maximal",
    "NoAnswer",
    "NotABlockProgram",
    "NotAScop",
    "Part",
    "Schedule",
    "Scop",
    "Statement",
    "TooHard",
    "TritonKernel",
    "Violation",
    "Visits",
    "schedule",
    "scop",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'triton_lab.polyhedral' has no attribute {name!r}")
    value = getattr(importlib.import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
