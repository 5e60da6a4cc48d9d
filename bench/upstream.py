"""How long Triton's own interpreter takes for an example: of a large grid, programs spread over it, scaled to all.

It runs one program after the other, so that what a part of them takes tells what all do. Only launches whose programs
wait for one another must run whole, and in order.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from triton_lab.examples import example

from .cases import every_case

_MOST_RUNS = 3


@dataclass
class Sample:
    """Programs that ran, of those there are; ``missing`` are the seconds that the others would have taken."""

    ran: int = 0
    programs: int = 0
    missing: float = 0.0


class _Enough(BaseException):
    """Ends a launch: no except clause of a kernel's or of the interpreter's takes it for an error of the kernel."""


def time_example(name: str, budget: float, whole: bool) -> dict[str, float]:
    """Median seconds of the processor's for all programs of a case's launches, under TRITON_INTERPRET=1.

    Every launch runs for about ``budget`` seconds, or all of its programs; with ``whole`` always all. Beside the
    seconds, how many programs ran and how many there are.
    """
    torch.set_num_threads(1)
    case = every_case()[name]
    page = example(case.example)
    page.run(**page.inputs("small", 0, "cpu"), **case.options)  # what it imports at its first launch, it has now
    inputs = {**page.inputs("bench", 0, "cpu"), **case.options}
    seconds: list[float] = []
    sample = Sample()
    while not seconds or (len(seconds) < _MOST_RUNS and sum(seconds) - sample.missing < budget):
        sample = Sample()
        with _sampled(math.inf if whole else budget, sample):
            start = time.process_time()
            page.run(**inputs)
            seconds.append(time.process_time() - start + sample.missing)
        if sample.missing:
            break
    return {"seconds": statistics.median(seconds), "ran": sample.ran, "programs": sample.programs}


@contextmanager
def _sampled(budget: float, sample: Sample) -> Iterator[None]:
    """Inside, a launch ends after so many seconds; ``sample`` adds up what it has left out."""
    from triton.runtime import interpreter

    builder, original = interpreter.interpreter_builder, interpreter.GridExecutor.__call__

    def launch(self: Any, *arguments: Any, **options: Any) -> Any:
        given, order, ran, start = self.grid, [], 0, 0.0
        set_extents, set_ids = builder.set_grid_dim, builder.set_grid_idx

        def flat(arguments: Any) -> tuple[int]:
            grid = given(arguments) if callable(given) else given
            order[:] = _spread((*grid, *(1,) * (3 - len(grid))), math.isfinite(budget))
            builder.set_grid_dim = lambda *_: set_extents(*grid, *(1,) * (3 - len(grid)))
            return (len(order),)

        def begin(number: int, *_: int) -> None:
            nonlocal ran, start
            if number == 0:
                start = time.process_time()
            elif time.process_time() - start > budget:
                raise _Enough
            ran = number + 1
            set_ids(*order[number])

        self.grid, builder.set_grid_idx = flat, begin
        result = None
        try:
            result = original(self, *arguments, **options)
        except _Enough:
            sample.missing += (time.process_time() - start) * (len(order) / ran - 1)
        finally:
            self.grid, builder.set_grid_dim, builder.set_grid_idx = given, set_extents, set_ids
        sample.ran, sample.programs = sample.ran + ran, sample.programs + len(order)
        return result

    interpreter.GridExecutor.__call__ = launch
    try:
        yield
    finally:
        interpreter.GridExecutor.__call__ = original


def _spread(grid: tuple[int, ...], apart: bool) -> list[tuple[int, ...]]:
    """The programs' ids: as the interpreter goes through them, or such that the first ones lie all over the grid."""
    ids = [(x, y, z) for x in range(grid[0]) for y in range(grid[1]) for z in range(grid[2])]
    count = len(ids)
    if not apart or count < 3:
        return list(ids)
    step = round(count * (math.sqrt(5) - 1) / 2)
    while math.gcd(step, count) > 1:
        step += 1
    return [ids[number * step % count] for number in range(count)]
