"""Every example on both sides."""

from __future__ import annotations

import triton_lab as lab
from tests.gpu.fidelity.measured import CLASSES, DIFFERENT, EQUAL, ONE, TOLERANCE, TWO, Row
from triton_lab.examples import example
from triton_lab.launch.comparison.argument_difference import DIFFERENT as APART
from triton_lab.launch.comparison.comparison_result import Comparison


def measure_example(name: str, against: str) -> Row:
    """Its launches on small inputs; the cause is what experiments name, where it is not bit-equal."""
    each = example(name)
    sides = []
    for side in dict.fromkeys(("cpu", against)):
        device = "cuda" if side == "gpu" else "cpu"
        with lab.target(side), lab.record() as launches:
            each.run(**each.inputs("small", 0, device))
        sides.append(launches)
    if against == "gpu":
        comparisons = [lab.compare(launch) for launch in sides[-1]]
    else:
        comparisons = [lab.compare(launch, launch) for launch in sides[0]]
    worst = max(comparisons, key=lambda one: CLASSES.index(_class(one)))
    found = _class(worst)
    if found == EQUAL:
        return Row(name, "", found, "")
    cause = worst.cause
    unexplained = found == DIFFERENT and cause.startswith("no cause was found")
    return Row(name, "", found, "" if unexplained else cause, worst.text())


def _class(comparison: Comparison) -> str:
    written = [one for one in comparison if one.written]
    if all(one.same.all() for one in written):
        return EQUAL
    if comparison.verdict == APART:
        return DIFFERENT
    most = max(one.largest_ulps.value for one in written)
    return ONE if most <= 1 else TWO if most <= 2 else TOLERANCE
