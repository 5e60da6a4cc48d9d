"""Random kernels on both engines, bit by bit: ``python -m tests.native.fuzz --examples 10000 --seed 1``.

What differs is printed as a kernel that anybody can run, made as small as hypothesis can. ``--seconds`` ends earlier.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from typing import Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, assume, given, settings
from triton.compiler.errors import CompilationError

import triton_lab as lab
from tests.interpreter.support import kernel_from
from tests.native.kernels import Arguments, Case, cases
from triton_lab.backend.sm90 import NotCompilable
from triton_lab.native import engine

Result = tuple[str, list[np.ndarray]]


def ran(case: Case, kernel: Any, arguments: Arguments, on: str) -> Result:
    """What a launch came to: its error's text or nothing, and what memory held then."""
    told = ""
    with lab.limits(engine=on):
        try:
            tensors = arguments.anew()
            kernel[case.grid](*tensors, *case.scalars, case.real, case.cut, R=case.rows, C=case.cols)
        except lab.KernelError as error:
            told = f"{type(error).__name__}: {error}"
    return told, list(arguments.held())


def check(case: Case, reasons: Counter[str] | None = None) -> None:
    """Run ``case`` on both engines. Raises AssertionError where they differ.

    After an error memory may differ: NumPy stores for a batch of programs what native code stores for one.
    """
    kernel = kernel_from(case.source)
    arguments = Arguments(case)
    try:
        error, expected = ran(case, kernel, arguments, "numpy")
    except (CompilationError, NotCompilable):  # what the front end refuses is no kernel
        assume(False)
    engine.lately.clear()
    found, actual = ran(case, kernel, arguments, "native")
    if reasons is not None:
        last = engine.lately[-1]
        reasons[last.why or ("native, handed over" if last.handed else "native")] += 1
    assert found == error, f"{found}\ninstead of\n{error}\n{shown(case)}"
    if not error:
        for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
            where = np.flatnonzero(one != other)
            assert not len(where), f"tensor {number} differs from byte {where[0]} on\n{shown(case)}"


def shown(case: Case) -> str:
    return f"{case.source}\n{case}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=0)
    given_ = parser.parse_args()
    reasons: Counter[str] = Counter()
    start = time.monotonic()

    @hypothesis.seed(given_.seed)
    @settings(
        max_examples=given_.examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def all_of_them(case: Case) -> None:
        if time.monotonic() - start < given_.seconds:
            check(case, reasons)

    os.environ["TRITON_LAB_RAISE"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        try:
            all_of_them()
        finally:
            print(f"{reasons.total()} kernels in {time.monotonic() - start:.0f} s")
            for why, count in reasons.most_common():
                print(f"{count:6} {why}")


if __name__ == "__main__":
    main()
