"""Lazy steps: a chain of 20 elementwise operations against torch eager, and the memory of an update in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from .figure import AtMost, Figure
from .process import OURS, fresh
from .timing import medians_in_turns

SMALL, LARGE = 1000, 2**20
MEGABYTES = 64


def measure(quick: bool = False) -> Iterable[Figure]:
    """Steps per second of the chain at two sizes, and the peak of 100 updates of a 64 MB tensor."""
    for elements in (SMALL, LARGE):
        times = fresh("lazy:time_chain", elements, 0.5 if quick else 4.0, environment=OURS)
        where = f"20 operations on {elements} elements"
        for name in ("lazy", "eager"):
            yield Figure(f"{name}: {where}", 1 / times[name], "steps/s")
        yield Figure(f"lazy over eager: {where}", times["eager"] / times["lazy"], "x as fast")
    peak = fresh("lazy:peak_of_updates", 10 if quick else 100, environment=OURS)
    name = f"peak buffers of updates of {MEGABYTES} MB in place"
    yield Figure(name, peak, "x its size", AtMost(1.5), "a step for each")


def chain(x: Any) -> Any:
    """Twenty operations on each element."""
    for count in range(10):
        x = x * 0.9 + count
    return x


def time_chain(elements: int, budget: float) -> dict[str, float]:
    """Median seconds of the chain: noted, hashed, found in the cache and run; and by torch, operation by operation."""
    from triton_lab import lazy

    source = torch.linspace(-1, 1, elements)
    x = lazy.tensor(source)

    def lazily() -> None:
        kept = chain(x)
        step = lazy.mark_step()
        assert step is not None and kept.shape == (elements,)

    runs: dict[str, Callable[[], object]] = {"lazy": lazily, "eager": lambda: chain(source)}
    assert torch.allclose(chain(x).torch(), chain(source))
    return medians_in_turns(runs, at_most=500, budget=budget)


def peak_of_updates(updates: int) -> float:
    """The most bytes in buffers during updates in place, as a share of the tensor's."""
    from triton_lab import lazy

    x = lazy.tensor(torch.zeros(MEGABYTES * 2**18))
    lazy.meter.reset_peak()
    for _ in range(updates):
        x.add_(1)
        lazy.mark_step()
    return lazy.meter.peak_bytes / (MEGABYTES * 2**20)
