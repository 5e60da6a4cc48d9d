"""Polyhedral compilation, made visible: scops with their domains, access functions, schedules and dependences.

C, Python or a recorded launch enters (`to_scop`); a `Scop` and its `Schedule` leave, to transform, check, run and
draw. Read `core` (the mathematics) and `frontends` (readers of text) first, then the modules here (`scop`,
`dependence`, `scheduling_language`, `schedule`, `legality`). Above them are `kernels` (scops of launches), `blocks`
(Triton kernels from schedules), and the examples in `related_work` and `polybench`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from triton_lab.localization import _
from triton_lab.polyhedral.core.access_function import Access
from triton_lab.polyhedral.core.isl_effort import NoAnswer, TooHard
from triton_lab.polyhedral.core.iteration_domain import Domain
from triton_lab.polyhedral.core.source_text import NotAScop
from triton_lab.polyhedral.core.statement import Array, Statement
from triton_lab.polyhedral.dependence import Dependence
from triton_lab.polyhedral.legality import Legality, Violation
from triton_lab.polyhedral.maximal_parts import Maximal, Part
from triton_lab.polyhedral.schedule import Schedule
from triton_lab.polyhedral.scop import Scop
from triton_lab.polyhedral.to_scop import schedule, scop

if TYPE_CHECKING:
    from triton_lab.polyhedral.blocks.triton_kernel import NotABlockProgram as NotABlockProgram
    from triton_lab.polyhedral.blocks.triton_kernel import TritonKernel as TritonKernel
    from triton_lab.polyhedral.cache_cost import Cache as Cache
    from triton_lab.polyhedral.cache_cost import Cost as Cost
    from triton_lab.polyhedral.core.schedule_visits import Visits as Visits
    from triton_lab.polyhedral.kernels.access_statement import Gap as Gap
    from triton_lab.polyhedral.kernels.launch_scop import KernelScop as KernelScop

# Imported on first use: name -> module.
_LATER = {
    "Cache": "triton_lab.polyhedral.cache_cost",
    "Cost": "triton_lab.polyhedral.cache_cost",
    "Gap": "triton_lab.polyhedral.kernels.access_statement",
    "KernelScop": "triton_lab.polyhedral.kernels.launch_scop",
    "NotABlockProgram": "triton_lab.polyhedral.blocks.triton_kernel",
    "TritonKernel": "triton_lab.polyhedral.blocks.triton_kernel",
    "Visits": "triton_lab.polyhedral.core.schedule_visits",
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
        raise AttributeError(_("module 'triton_lab.polyhedral' has no attribute {name}").format(name=repr(name)))
    value = getattr(importlib.import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
