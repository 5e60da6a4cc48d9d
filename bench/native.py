"""The native engine against NumPy's, Triton's own interpreter (TRITON_INTERPRET=1) and torch on one thread.

Seconds are medians, of the processor's and on the wall, taken in turns within one process, so that a busy machine
spoils all alike. Products of fp16 are held to torch's of float32: its fp16 ones may use a unit of the processor for
matrices, or none at all; both are printed. With each case stands which engine ran it, and if it was NumPy's, why.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping

import torch

import triton_lab as lab
from triton_lab.examples import example
from triton_lab.native import engine

from .cases import CASES, every_case
from .figure import AtLeast, AtMost, Figure
from .process import OURS, UPSTREAM, ProcessFailed, fresh

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
Pair = tuple[float, float]


def measure(quick: bool = False) -> list[Figure]:
    """Per case: how much less the native engine takes than the others, and how long a kernel takes to be compiled."""
    figures: list[Figure] = []
    over_upstream: dict[str, float] = {}
    over_torch: dict[str, float] = {}
    budget = 0.3 if quick else 3.0
    for name in every_case():
        try:
            took = fresh("native:time_engines", name, budget, environment=OURS | ONE_THREAD)
        except ProcessFailed as failure:
            figures.append(Figure(name, math.nan, "", note=str(failure)))
            continue
        cpu = {one: pair[0] for one, pair in took["seconds"].items()}
        note = ", ".join(f"{one} {_told(pair)}" for one, pair in took["seconds"].items())
        figures.append(Figure(f"{name}: less than NumPy's", cpu["numpy"] / cpu["native"], "times", None, note))
        seconds = took["seconds"]
        peer = seconds.get("torch float32", seconds["torch"])
        over_torch[name] = seconds["native"][1] / peer[1]
        figures.append(Figure(f"{name}: wall time over torch's", over_torch[name], "times", None, took["ran"]))
        try:
            theirs = fresh("speed:time_kernel", name, budget / 3, False, environment=UPSTREAM | ONE_THREAD)["seconds"]
        except ProcessFailed as failure:
            figures.append(
                Figure(f"{name}: less than the interpreter's", math.nan, "times", AtLeast(100), str(failure))
            )
        else:
            over_upstream[name] = theirs / cpu["native"]
            figure = Figure(f"{name}: less than the interpreter's", over_upstream[name], "times", AtLeast(100))
            figures.append(figure)
    seven = [name for name in CASES if name in over_upstream]
    figures += _means(seven, over_upstream, "less than the interpreter's, geometric mean of the seven", AtLeast(400))
    figures += _means(seven, over_torch, "wall time over torch's, geometric mean of the seven", AtMost(1.5))
    small = fresh("native:time_small", budget, environment=OURS | ONE_THREAD)
    figures.append(Figure("a small launch, repeated, with its output", small["launch"] * 1e3, "ms", AtMost(0.3)))
    figures.append(Figure("compiling attention", small["compiled"], "s", AtMost(0.3)))
    figures.append(Figure("attention from the cache", small["kept"] * 1e3, "ms", AtMost(5)))
    return figures


def _means(names: Iterable[str], ratios: Mapping[str, float], what: str, target: AtLeast | AtMost) -> Iterable[Figure]:
    known = [ratios[name] for name in names if name in ratios]
    return [Figure(what, statistics.geometric_mean(known), "times", target)] if known else []


def _told(pair: Pair) -> str:
    return f"{pair[0] * 1e3:.3g} ms ({pair[1] * 1e3:.3g} on the wall)"


def time_engines(name: str, budget: float) -> dict[str, object]:
    """Seconds of a case's launches, ``[processor's, wall]``, by who ran it; and what ran under "native"."""
    torch.set_num_threads(1)
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

    runs: dict[str, Callable[[], object]] = {"native": on("native"), "numpy": on("numpy")}
    runs["torch"] = lambda: case.eager(**plain)
    if any(_is_half(each) for each in plain.values()):
        runs["torch float32"] = lambda: case.eager(**wide)
    for run in runs.values():
        run()
    engine.lately.clear()
    with lab.limits(engine="native"):
        page.check_on(**inputs)  # a wrong result would be no result
    told = {
        (ran.engine if not ran.handed else f"native, {ran.handed} programs handed over", ran.why)
        for ran in engine.lately
    }
    ran = "; ".join(f"{which}{': ' * bool(why)}{why}" for which, why in sorted(told))
    return {"seconds": _in_turns(runs, budget), "ran": ran}


def _is_half(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16)


def _in_turns(runs: Mapping[str, Callable[[], object]], budget: float) -> dict[str, Pair]:
    """Medians of the processor's and the wall's seconds of each."""
    taken: dict[str, list[Pair]] = {name: [] for name in runs}
    end = time.perf_counter() + budget * len(runs)
    while len(taken["native"]) < 3 or (time.perf_counter() < end and len(taken["native"]) < 100):
        for name, run in runs.items():
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            taken[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {name: (_median(each, 0), _median(each, 1)) for name, each in taken.items()}


def _median(pairs: list[Pair], which: int) -> float:
    return statistics.median(pair[which] for pair in pairs)


def time_small(budget: float) -> dict[str, float]:
    """Seconds of a repeated launch of one block of 1024; and of making a kernel ready, anew and from the cache."""
    from triton_lab.examples.vector_add import add
    from triton_lab.native import built, jit

    x, y = torch.rand(1024), torch.rand(1024)
    found: dict[str, float] = {}
    with lab.limits(engine="native"):
        add(x, y, block=1024)
        launches = _in_turns({"native": lambda: [add(x, y, block=1024) for _ in range(100)]}, budget)
        found["launch"] = launches["native"][0] / 100
        jit.host()
        compile_, kept = built.compiled, built.kept
        built.compiled = _timed(compile_, found, "compiled")  # type: ignore[assignment]
        built.kept = lambda plan, signature: None
        page = example("attention_causal")
        page.run(**page.inputs("small", 0, "cpu"))
        built.kept = _timed(kept, found, "kept")  # type: ignore[assignment]
        engine._kernel_of = engine._Kernel  # nothing is known of it any more
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
