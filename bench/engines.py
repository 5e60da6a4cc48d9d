"""What is timed in processes of their own: a case by who runs it, a small launch, and making a kernel ready."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch

import triton_lab as lab
from triton_lab.examples import example
from triton_lab.native import engine

from .cases import every_case

Pair = tuple[float, float]
_MOST_ROUNDS = 100


def time_engines(name: str, budget: float, threads: int, numpy: bool) -> dict[str, Any]:
    """Medians of a case's launches, ``[processor's, wall]`` seconds, by who ran it; and what ran under "native".

    ``whole``: its programs wait for one another, so that none can be left out. Raises AssertionError on a wrong result.
    """
    torch.set_num_threads(threads)
    case = every_case()[name]
    page = example(case.example)
    plain = page.inputs("bench", 0, "cpu")
    inputs = {**plain, **case.options}
    wide = {key: each.float() if _is_half(each) else each for key, each in plain.items()}

    def on(chosen: str) -> Callable[[], object]:
        def run() -> object:
            with lab.limits(engine=chosen):
                return page.run(**inputs)

        return run

    runs: dict[str, Callable[[], object]] = {"native": on("native")}
    if numpy:
        runs["numpy"] = on("numpy")
    runs["torch"] = lambda: case.eager(**plain)
    if any(_is_half(each) for each in plain.values()):
        runs["torch float32"] = lambda: case.eager(**wide)
    for run in runs.values():
        run()
    engine.lately.clear()
    with lab.limits(engine="native"):
        page.check_on(**inputs)  # a wrong result would be no result
    told = sorted({_told(ran) for ran in engine.lately})
    with lab.record() as launches:
        page.run(**{**page.inputs("small", 0, "cpu"), **case.options})
    whole = any(launch.executable.waiting_loops for launch in launches)
    return {"seconds": _in_turns(runs, budget), "ran": "; ".join(told), "whole": whole}


def _told(ran: engine.EngineRun) -> str:
    if ran.handed:
        return f"{ran.kernel}: native, but {ran.handed} of {ran.programs} programs failed a check"
    return "native" if ran.engine == "native" else f"{ran.kernel}: NumPy, since {ran.why}"


def _is_half(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16)


def _in_turns(runs: Mapping[str, Callable[[], object]], budget: float) -> dict[str, Pair]:
    """Medians of the processor's and the wall's seconds of each; at least three of each."""
    taken: dict[str, list[Pair]] = {name: [] for name in runs}
    end = time.perf_counter() + budget
    rounds = 0
    while rounds < 3 or (rounds < _MOST_ROUNDS and time.perf_counter() < end):
        rounds += 1
        for name, run in runs.items():
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            taken[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {name: (_median(each, 0), _median(each, 1)) for name, each in taken.items()}


def _median(pairs: list[Pair], which: int) -> float:
    return statistics.median(pair[which] for pair in pairs)


def time_small(budget: float) -> dict[str, float]:
    """Seconds of a repeated launch of one block of 1024, with its output: the processor's, and on the wall."""
    from triton_lab.examples.vector_add import add

    torch.set_num_threads(1)
    x, y = torch.rand(1024), torch.rand(1024)
    with lab.limits(engine="native"):
        add(x, y, block=1024)
        cpu, wall = _in_turns({"": lambda: [add(x, y, block=1024) for _ in range(100)]}, budget)[""]
    return {"cpu": cpu / 100, "wall": wall / 100}


def time_ready(name: str) -> dict[str, float]:
    """Seconds of the processor's that a case's largest kernel takes until it can run: compiled, and from the cache.

    A kernel was compiled before: what a process imports for its first one is in it no more. That is ``imported``.
    """
    from triton_lab.native.runtime import compiled_function

    found: dict[str, float] = {}
    start = time.process_time()
    page = example("add_one")
    with lab.limits(engine="native"):
        page.run(**page.inputs("small", 0, "cpu"))
        found["imported"] = time.process_time() - start
        compile_, kept = compiled_function.compiled, compiled_function.kept
        compiled_function.compiled = _timed(compile_, found, "compiled")  # type: ignore[assignment]
        compiled_function.kept = lambda plan, signature: None
        page = example(every_case()[name].example)
        page.run(**page.inputs("small", 0, "cpu"))
        compiled_function.kept = _timed(kept, found, "kept")  # type: ignore[assignment]
        engine._kernel_of = engine.NativeKernel  # nothing is known of it any more
        page.run(**page.inputs("small", 0, "cpu"))
    return found


def _timed(function: Callable[..., object], found: dict[str, float], name: str) -> Callable[..., object]:
    def timed(*arguments: object) -> object:
        start = time.process_time()
        try:
            return function(*arguments)
        finally:
            found[name] = max(time.process_time() - start, found.get(name, 0.0))

    return timed
