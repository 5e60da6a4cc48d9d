"""The native engine against Triton's own interpreter (TRITON_INTERPRET=1), torch on one and two threads, and NumPy's.

Seconds are medians, the processor's against the interpreter and NumPy, on the wall against torch; ours, NumPy's and
torch's are taken in turns within one process, so that a busy machine spoils all alike. The interpreter runs programs
spread over a large grid, and its seconds are scaled to all of them: a note says how many ran. Products of fp16 are held
to torch's of float32: its fp16 ones may use a unit of the processor for matrices, or none at all; both are printed.
With each case stands which engine ran it, and if it was NumPy's, why; at the end kernels of public libraries.

``python -m bench --only native`` takes six to seven minutes on a quiet machine, with ``--quick`` four. The libraries'
wheels are fetched from the package index, of the versions that `bench.libraries` names, into a folder that goes again.
Where they cannot be had, those that are installed count, and it is said.
"""

from __future__ import annotations

import math
import os
import statistics
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .cases import CASES, every_case
from .figure import AtLeast, AtMost, Figure
from .libraries import LIBRARIES, Library, NotHad, unpacked
from .process import OURS, UPSTREAM, ProcessFailed, fresh, threads

# The kernel that LLVM takes longest for.
_LARGEST = "attention 4x1024x64, causal"


def measure(quick: bool = False) -> Iterable[Figure]:
    """Per case what the others take over the native engine; a small launch, making a kernel ready; libraries."""
    budget = 0.5 if quick else 2.0
    over_upstream: dict[str, float] = {}
    over_torch: dict[str, dict[str, float]] = {"one thread": {}, "one thread, fp16 as fp16": {}, "two threads": {}}
    for name in every_case():
        try:
            took = fresh("engines:time_engines", name, budget, 1, name in CASES, environment=OURS | threads(1))
            figure = _over_upstream(name, took["seconds"]["native"][0], budget, took)
            yield figure
            over_upstream[name] = figure.value
            if name in CASES:
                yield from _of_the_seven(name, took["seconds"], budget, over_torch)
        except ProcessFailed as failure:  # the other cases are still worth measuring
            yield Figure(name, math.nan, "", note=str(failure))
    yield from _summary(over_upstream, over_torch)
    yield from _small(budget)
    with tempfile.TemporaryDirectory() as folder:
        for library in LIBRARIES:
            yield from _library(library, Path(folder))


def _of_the_seven(
    name: str, seconds: Mapping[str, Any], budget: float, over_torch: dict[str, dict[str, float]]
) -> Iterable[Figure]:
    ours, numpys = seconds["native"][0], seconds["numpy"][0]
    yield Figure(f"{name}: less than NumPy's", numpys / ours, "times", None, f"NumPy {_ms(numpys)}")
    yield _over_torch(name, seconds, "one thread", over_torch)
    two = fresh("engines:time_engines", name, budget / 2, 2, False, environment=OURS | threads(2))
    yield _over_torch(name, two["seconds"], "two threads", over_torch)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"


def _over_upstream(name: str, ours: float, budget: float, took: Mapping[str, Any]) -> Figure:
    """How much less of the processor a case takes than under TRITON_INTERPRET=1; NaN where that cannot run it."""
    title = f"{name}: less than the interpreter's"
    torchs = f"torch {_ms(took['seconds']['torch'][0])}, {took['ran']}"
    try:
        theirs = fresh("upstream:time_example", name, budget, took["whole"], environment=UPSTREAM | threads(1))
    except ProcessFailed as failure:
        return Figure(title, math.nan, "times", AtLeast(100), f"{_ms(ours)}, {torchs}; the interpreter: {failure}")
    part = "" if theirs["ran"] == theirs["programs"] else f" from {theirs['ran']} of {theirs['programs']} programs"
    note = f"{_ms(ours)} against {_ms(theirs['seconds'])}{part}, {torchs}"
    return Figure(title, theirs["seconds"] / ours, "times", AtLeast(100), note)


def _over_torch(name: str, seconds: Mapping[str, Any], how: str, found: dict[str, dict[str, float]]) -> Figure:
    """Wall time over torch's, put into ``found``; products of fp16 are compared with those of float32."""
    ours, plain = seconds["native"][1], seconds["torch"][1]
    peer = seconds.get("torch float32", seconds["torch"])[1]
    found[how][name] = ours / peer
    note = f"{_ms(ours)}, torch {_ms(peer)}"
    if "torch float32" in seconds:
        note = f"{_ms(ours)}, torch in float32 {_ms(peer)}, in fp16 {_ms(plain)}: {ours / plain:.3g} times"
    if how == "one thread":
        found[f"{how}, fp16 as fp16"][name] = ours / plain
    return Figure(f"{name}: wall time over torch's, {how}", found[how][name], "times", None, note)


def _summary(over_upstream: Mapping[str, float], over_torch: Mapping[str, Mapping[str, float]]) -> Iterable[Figure]:
    seven = [over_upstream[name] for name in CASES if not math.isnan(over_upstream.get(name, math.nan))]
    if seven:
        mean, least = statistics.geometric_mean(seven), min(seven)
        yield Figure("the seven: less than the interpreter's, geometric mean", mean, "times", AtLeast(400))
        yield Figure("the seven: less than the interpreter's, least", least, "times", AtLeast(100))
    limits = {"one thread": AtMost(1.5), "two threads": AtMost(1.2)}
    for how, ratios in over_torch.items():
        if ratios:
            mean = statistics.geometric_mean(ratios.values())
            title = f"the seven: wall time over torch's, {how}, geometric mean"
            yield Figure(title, mean, "times", limits.get(how))
    others = {name: ratio for name, ratio in over_upstream.items() if not math.isnan(ratio)}
    if others:
        least = min(others, key=lambda name: others[name])
        yield Figure("all examples: less than the interpreter's, least", others[least], "times", AtLeast(100), least)


def _small(budget: float) -> Iterable[Figure]:
    small = fresh("engines:time_small", budget, environment=OURS | threads(1))
    note = f"{_ms(small['wall'])} on the wall"
    yield Figure("a small launch, repeated, with its output", small["cpu"] * 1e3, "ms", AtMost(0.3), note)
    rounds = [fresh("engines:time_ready", _LARGEST, environment=OURS | threads(1)) for _ in range(3)]
    ready = {key: statistics.median(each[key] for each in rounds) for key in rounds[0]}
    yield Figure("compiling attention, on one core", ready["compiled"], "s", AtMost(0.3))
    yield Figure("attention from the cache", ready["kept"] * 1e3, "ms", AtMost(5))
    yield Figure("the first kernel of a process, with what it imports", ready["imported"], "s")


def _library(library: Library, into: Path) -> Iterable[Figure]:
    """How many kernels of a public library ran native, and what the others say."""
    alone = OURS | threads(1) | {"CUDA_VISIBLE_DEVICES": ""}
    named, lacking = f"{library.name} {library.version}", ""
    try:
        paths = [str(unpacked(library, into)), os.environ.get("PYTHONPATH", "")]
        alone |= {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    except NotHad as reason:
        named, lacking = f"{library.name} as installed", f"{reason}; "
    try:
        told = fresh("library_kernels:engines_of", library.name, environment=alone)
    except ProcessFailed as failure:
        told = {"missing": str(failure)}
    title = f"{named}: kernels that ran native"
    if "missing" in told:
        yield Figure(title, math.nan, "", note=f"{lacking}{told['missing']}")
        return
    kernels, failed = told["kernels"], told["failed"]
    native = sum(what == "native" for what in kernels.values())
    yield Figure(title, native, f"of {len(kernels)}", None, f"{lacking}{', '.join(kernels)}")
    for name, what in kernels.items():
        if what != "native":
            yield Figure(f"{library.name}, {name}", math.nan, "", note=what)
    for name, error in failed.items():
        yield Figure(f"{library.name}, {name}", math.nan, "", note=f"raised {error}")
