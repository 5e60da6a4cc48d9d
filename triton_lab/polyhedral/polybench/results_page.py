"""Writes the results for PolyBench's problems as a page: `python -m triton_lab.polyhedral.polybench.results_page`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from triton_lab.messages import count as counted
from triton_lab.polyhedral.core.isl_effort import TooHard
from triton_lab.polyhedral.core.loop_tree import every_loop
from triton_lab.polyhedral.core.source_text import NotAScop
from triton_lab.polyhedral.polybench.problems import BY_HAND, POLYBENCH
from triton_lab.polyhedral.scop import Scop
from triton_lab.polyhedral.to_scop import scop

PAGE = Path(__file__).parents[3] / "docs" / "polybench.md"
_HEAD = """\
# PolyBench

The thirty problems of PolyBench, as loop nests in our own words
(`triton_lab/polyhedral/polybench/problems.py`), and what becomes of them:

- **dependences**: pairs of accesses that touch one element, one of them writing; flow, anti and output.
- **automatic**: the schedule that isl finds by itself, and how many of its loops it proves parallel.
- **Triton**: how many kernels `Schedule.to_triton()` writes, in the order of the source or in an order given by hand;
  and with how many loops of the host around them at the most. Every kernel that is written has been run beside the
  executed schedule and gave the same numbers; what cannot be written has its reason.

| problem | statements | dependences | automatic | Triton |
|---|---|---|---|---|
"""
_TAIL = """
Made by `python -m triton_lab.polyhedral.polybench.results_page`.
"""


def row(name: str) -> str:
    """The table's line for the problem ``name``."""
    try:
        found = scop(POLYBENCH[name])
    except NotAScop as refused:
        return f"| {name} | refused: {refused.reason} | | | |"
    cells = [str(len(found.statements)), _dependences(found), _automatic(found), _triton(name, found)]
    return f"| {name} | {' | '.join(cells)} |"


def page() -> str:
    rows = [row(name) for name in POLYBENCH]
    return _HEAD + "\n".join(rows) + "\n" + _TAIL


def _dependences(found: Scop) -> str:
    counts = Counter(d.kind for d in found.dependences)
    return ", ".join(f"{counts[kind]} {kind}" for kind in ("flow", "anti", "output") if counts[kind]) or "none"


def _automatic(found: Scop) -> str:
    try:
        schedule = found.schedule.automatic()
        if not schedule.is_legal:
            return "found, and not legal"
    except TooHard as reason:
        return f"none: {reason}"
    parallel = sum(loop.mark == "parallel" for loop in every_loop(schedule.tree))
    return f"found, {parallel or 'none'} parallel"


def _triton(name: str, found: Scop) -> str:
    order, how = (BY_HAND[name], "by hand: ") if name in BY_HAND else (None, "")
    try:
        kernel = (order(found.schedule) if order else found.schedule).to_triton()
    except ValueError as refused:
        return f"none: {str(refused).splitlines()[0]}"
    count, around = len(kernel.launches), max(len(launch.host) for launch in kernel.launches)
    inside = f", {counted(around, 'loop')} on the host" if around else ""
    return f"{how}{counted(count, 'kernel')}{inside}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
