"""All of it, over processes, until a time is up."""

from __future__ import annotations

import concurrent.futures.process
import contextlib
import multiprocessing
import os
import time
from collections.abc import Sequence
from typing import Any

_CHUNK = 12  # operations that a process is given at once


def measured(kind: str, names: Sequence[str], dtype: str, against: str) -> list[Any]:
    """The rows of some operations or examples: this runs in a process of its own."""
    import numpy as np

    with np.errstate(all="ignore"):
        if kind == "example":
            from tests.gpu.fidelity.examples import measure_example

            return [measure_example(name, against) for name in names]
        from tests.gpu.fidelity.measured import measure

        return [measure(name, dtype, against) for name in names]


def hushed() -> None:
    """What compilers print of operations that they refuse is nothing to read; Triton's front end prints to stdout."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


# Each process has one core: threads of libraries would only wait for each other.
_ALONE = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}


def tasks(operations: Sequence[str], dtypes: Sequence[str], examples: Sequence[str]) -> list[tuple[str, Any, str]]:
    """What processes are given, the longest first."""
    found: list[tuple[str, Any, str]] = [("example", [name], "") for name in examples]
    for dtype in dtypes:
        chunks = range((len(operations) + _CHUNK - 1) // _CHUNK)
        # Alike operations stand together, and take alike long: each chunk gets some of all kinds.
        found += [("operation", operations[number :: len(chunks)], dtype) for number in chunks]
    return found


def run(todo: Sequence[tuple[str, Any, str]], against: str, jobs: int, seconds: float) -> tuple[list[Any], int]:
    """The rows of all tasks that ended in time, and how many operations did not."""
    if jobs <= 1:
        return [row for kind, names, dtype in todo for row in measured(kind, names, dtype, against)], 0
    end = time.monotonic() + seconds
    rows: list[Any] = []
    os.environ.update(_ALONE)
    pool = concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), hushed)
    asked = {pool.submit(measured, kind, names, dtype, against): len(names) for kind, names, dtype in todo}
    try:
        for done in concurrent.futures.as_completed(asked, timeout=max(1.0, end - time.monotonic())):
            with contextlib.suppress(concurrent.futures.process.BrokenProcessPool):
                rows += done.result()
                del asked[done]
    except TimeoutError:
        pass
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=not asked, cancel_futures=True)
    for process in processes if asked else ():
        process.kill()
    return rows, sum(asked.values())
