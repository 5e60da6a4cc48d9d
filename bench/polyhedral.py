"""How long the polyhedral room takes: dependences, legality and pictures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from triton_lab.examples import example
from triton_lab.launch.recording.record import record
from triton_lab.polyhedral import scop
from triton_lab.polyhedral.proofs.prove import prove
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
    limits = {"vector_add": 50, "matmul_float16": 1000, "attention_causal": 3000}
    for name, most in limits.items():
        yield from _proof(name, most, times)


def _proof(name: str, most: float, times: int) -> Iterable[Figure]:
    """The time of a proof for every size, alone and beside that of a recorded launch with its checks.

    It is the time that this thread computes, as are the limits of proofs.
    """
    one = example(name)
    given = one.inputs("small")
    launches: list[Any] = []

    def recorded() -> None:
        with record() as found:
            one.run(**given)
        assert found[0].findings is not None
        launches[:] = found

    launch = _best(recorded, times, time.thread_time)
    proof = _best(lambda: prove(launches, refute=False), times, time.thread_time)
    yield Figure(f"proof of {name}", proof, "ms", AtMost(most))
    yield Figure(f"proof of {name}, as a part of a recorded and checked launch", proof / launch, "times")


def _judge(text: str) -> None:
    """From the text of a nest to the verdict on another order of it."""
    schedule = scop(text).schedule
    outermost = schedule.tree.name  # type: ignore[union-attr]  # the examples' trees are loops
    assert schedule.is_legal
    assert schedule.reverse(outermost).legality is not None


def _best(run: Callable[[], object], times: int, clock: Callable[[], float] = time.perf_counter) -> float:
    seconds = []
    for _ in range(times):
        start = clock()
        run()
        seconds.append(clock() - start)
    return min(seconds) * 1e3
