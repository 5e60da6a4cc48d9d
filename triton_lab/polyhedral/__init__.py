"""Polyhedral compilation, to look at: scops, their domains, access functions, schedules and dependences."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .access import Access
from .dependence import Dependence
from .domain import Domain
from .effort import NoAnswer, TooHard
from .frontend import schedule, scop
from .legality import Legality, Violation
from .maximal import Maximal, Part
from .schedule import Schedule
from .scop import Scop
from .source import NotAScop
from .statement import Array, Statement

if TYPE_CHECKING:
    from .cost import Cache as Cache
    from .cost import Cost as Cost
    from .kernel_scop import KernelScop as KernelScop
    from .kernel_statement import Gap as Gap
    from .triton_kernel import NotABlockProgram as NotABlockProgram
    from .triton_kernel import TritonKernel as TritonKernel
    from .visits import Visits as Visits

# Found on first use: name -> where it lives.
_LATER = {
    "Cache": "triton_lab.polyhedral.cost",
    "Cost": "triton_lab.polyhedral.cost",
    "Gap": "triton_lab.polyhedral.kernel_statement",
    "KernelScop": "triton_lab.polyhedral.kernel_scop",
    "NotABlockProgram": "triton_lab.polyhedral.triton_kernel",
    "TritonKernel": "triton_lab.polyhedral.triton_kernel",
    "Visits": "triton_lab.polyhedral.visits",
}


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
