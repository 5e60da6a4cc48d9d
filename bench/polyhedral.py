"""How long the polyhedral room takes: dependences, legality and pictures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial

from triton_lab.polyhedral import scop
from triton_lab.polyhedral.related_work import page_nests
from triton_lab.views.drawing.png import png
from triton_lab.views.polyhedral.iteration_view import iteration_view

from .figure import AtMost, Figure


def measure(quick: bool = False) -> Iterable[Figure]:
    """Milliseconds, the best of several runs."""
    times = 3 if quick else 10
    nests = {"the page's nest": page_nests.PAGE, "wavefront": page_nests.WAVEFRONT, "matmul": page_nests.MATMUL}
    for name, text in nests.items():
        yield Figure(f"dependences and legality, {name}", _best(partial(_judge, text), times), "ms", AtMost(100))
    large = scop("for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) A[i][j] = 0;", n=316)
    name = f"domain of {large.count()} points drawn as PNG"
    yield Figure(name, _best(lambda: png(iteration_view(large).figure()), times), "ms", AtMost(500))
    yield Figure("the same as a scene for the browser", _best(lambda: iteration_view(large).scene(), times), "ms")


def _judge(text: str) -> None:
    """From the text of a nest to the verdict on another order of it."""
    schedule = scop(text).schedule
    outermost = schedule.tree.name  # type: ignore[union-attr]  # the examples' trees are loops
    assert schedule.is_legal
    assert schedule.reverse(outermost).legality is not None


def _best(run: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds) * 1e3
