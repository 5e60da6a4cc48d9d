"""One case on both sides, as plain data: this runs in a process of its own."""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tests.gpu.agreement import functions, products, reductions
from tests.gpu.agreement.case import Case

CASES: list[Case] = [*functions.CASES, *reductions.CASES, *products.CASES]


def measured(number: int, against: str, keep: bool = False) -> dict[str, Any]:
    """One case, as plain data; with ``keep``, also what the kernel left."""
    import triton_lab as lab

    case = CASES[number]
    start = time.perf_counter()
    found: dict[str, Any] = {"name": case.name}
    try:
        with np.errstate(all="ignore"):
            with lab.target(against), lab.record() as launches:
                case.run("cuda" if against == "gpu" else "cpu")
            launch = launches[-1]
            comparison = lab.compare(launch) if against == "gpu" else lab.compare(launch, launch)
            written = [one for one in comparison if one.written]
            if keep:
                found["arrays"] = {one.name: one.a for one in written}
            found["elements"] = sum(one.a.size for one in written)
            found["differ"] = sum(one.count for one in written)
            found["verdict"] = comparison.verdict
            causes = comparison.causes()
            found["cause"], found["known"] = causes.cause, causes.known
            found["tried"] = [list(row) for row in causes.table()]
            found["findings"] = [str(one)[:200] for one in launch.findings]
    except Exception as error:
        found["error"] = f"{type(error).__name__}: {str(error).strip()[:300]}"
    found["seconds"] = round(time.perf_counter() - start, 1)
    return found
