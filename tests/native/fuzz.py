"""Random kernels on both engines, bit by bit: ``python -m tests.native.fuzz --examples 10000 --seed 1``.

What differs is printed as a kernel that anybody can run, without the lines that it differs without too, once for each
kind of difference. ``--seconds`` ends earlier, ``--vector`` generates for processors of narrower vectors, ``--guards``
has every guard fail in turn, ``--recorded`` compares what a record has of their launches.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from itertools import repeat
from typing import Any
from unittest.mock import patch

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from triton.compiler.errors import CompilationError

import triton_lab as lab
from tests.interpreter.support import kernel_from
from tests.native.harness import forcing
from tests.native.kernels import Arguments, Case, cases
from triton_lab.backend.plugin import launcher
from triton_lab.backend.targets.sm90_limits import NotCompilable
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.native import engine
from triton_lab.native.llvm import jit
from triton_lab.native.runtime import native_launch, transaction
from triton_lab.native.threads import work_queue

Result = tuple[str, list[np.ndarray]]
# Features that processors of narrower vectors lack.
LACKING = {64: (), 32: ("avx512", "avx10", "amx"), 16: ("avx", "amx", "fma", "f16c", "vaes", "vpclmul", "gfni", "xop")}


class Refused(Exception):
    """The front end takes no such kernel."""


class Enough(KeyboardInterrupt):
    """The time is over: what hypothesis lets through, as no other exception."""


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


def on_numpy(case: Case) -> tuple[Any, Arguments, Result]:
    """A case's kernel and its arguments, and what NumPy makes of them. Raises Refused."""
    kernel, arguments = kernel_from(case.source), Arguments(case)
    try:
        return kernel, arguments, ran(case, kernel, arguments, "numpy")
    except (CompilationError, NotCompilable) as refusal:
        raise Refused from refusal


def check(case: Case) -> str:
    """Run ``case`` on both engines; how the native one ran it. Raises AssertionError where they differ, or Refused.

    After an error memory may differ: NumPy stores for a batch of programs what native code stores for one.
    """
    kernel, arguments, (error, expected) = on_numpy(case)
    engine.lately.clear()
    with contextlib.ExitStack() as patched:
        patched.enter_context(
            patch.object(engine, "_kernel_of", engine.NativeKernel)
        )  # compiled anew: a fault comes again
        if case.seed % 2:  # on several threads, as soon as the programs may
            for seconds in ("_WORTH_SECONDS", "_TELLING_SECONDS", "_FINDING_SECONDS"):
                patched.enter_context(patch.object(native_launch, seconds, 0.0))
            patched.enter_context(patch.object(work_queue, "_TAKEN_SECONDS", 0.0))
        found, actual = ran(case, kernel, arguments, "native")
    assert found == error, f"error {found}\ninstead of\n{error}\n{shown(case)}"
    if not error:
        for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
            where = np.flatnonzero(one != other)
            assert not len(where), f"tensor {number} differs from byte {where[0]} on\n{shown(case)}"
    last = engine.lately[-1]
    if last.why == transaction.WAITED or last.why == transaction.FAILED:
        return f"NumPy, since {last.why}{', with an error' * bool(error)}"
    return last.why or ("native, an error" if error else "native, handed over" if last.handed else "native")


def check_guards(case: Case) -> str:
    """Run ``case`` as often as it has guards, each of which fails once.

    Nobody may see it: NumPy runs the programs in question from their start.
    """
    kernel, arguments, (error, expected) = on_numpy(case)
    if error:
        return "an error"
    failed = False
    with (
        forcing() as forced,
        patch.object(launcher.limits, "batch", 1),
        patch.object(transaction, "_MOST_FALLS", 1 << 30),
    ):
        ran(case, kernel, arguments, "native")
        for site in forced.sites:
            for times in (0, 1, 5):
                forced.fail(site, times)
                found, actual = ran(case, kernel, arguments, "native")
                failed |= forced.has_failed(site)
                assert not found, f"error {found} where {site.what} fails\n{shown(case)}"
                for one, other in zip(actual, expected, strict=True):
                    assert (one == other).all(), f"tensors differ where {site.what} fails\n{shown(case)}"
    return "its guards failed" if failed else "no guard stands before what it does"


def recorded(case: Case, kernel: Any, arguments: Arguments, on: str) -> tuple[Result, Launch]:
    """What a recorded launch came to, and the launch. Raises Refused for one that the CPU target does not run."""
    with lab.record() as launches:
        result = ran(case, kernel, arguments, on)
    if not launches:
        raise Refused
    return result, launches[0]


def check_recorded(case: Case) -> str:
    """Record a launch on both engines: they have the same accesses, findings and memory."""
    try:
        kernel, arguments = kernel_from(case.source), Arguments(case)
        (error, expected), right = recorded(case, kernel, arguments, "numpy")
    except (CompilationError, NotCompilable) as refusal:
        raise Refused from refusal
    engine.lately.clear()
    (found, actual), launch = recorded(case, kernel, arguments, "native")
    assert found == error, f"error {found}\ninstead of\n{error}\n{shown(case)}"
    same = all((one == other).all() for one, other in zip(actual, expected, strict=True))
    assert error or same, f"tensors differ on\n{shown(case)}"
    assert same_accesses(launch, right), f"accesses differ on\n{shown(case)}"
    assert told(launch) == told(right), f"{told(launch)}\ninstead of\n{told(right)}\n{shown(case)}"
    return f"{engine.lately[-1].engine}{', with findings' * bool(launch.findings)}"


def same_accesses(one: Launch, other: Launch) -> bool:
    """Whether two launches of one kernel have the same events, each tensor at its own place."""
    assert one.tape is not None and other.tape is not None
    moved = {op: _start(one, op) - _start(other, op) for op in one.events}
    return (
        list(one.events) == list(other.events)
        and one.kinds == other.kinds
        and one.tape.dropped == other.tape.dropped
        and all(
            len(events) == len(other.events[op]) and all(map(_alike, events, other.events[op], repeat(moved[op])))
            for op, events in one.events.items()
        )
    )


def _start(launch: Launch, op: int) -> int:
    owner = launch.owner_of(op)
    return 0 if owner is None else owner.storage_address


def _alike(one: AccessEvent, other: AccessEvent, moved: int) -> bool:
    return (
        one.order == other.order
        and type(one.pointer) is type(other.pointer)
        and type(one.mask) is type(other.mask)
        and np.array_equal(one.programs, other.programs)
        and np.array_equal(one.active(), other.active())
        and np.array_equal(one.addresses() - moved, other.addresses())
    )


def told(launch: Launch) -> list[tuple[Any, ...]]:
    """What the findings of a launch say, and what could not be checked."""
    found = [(one.kind, one.severity, one.line, one.message, one.count, str(one.lanes)) for one in launch.findings]
    return [*found, *launch.verdict.unchecked]


def shown(case: Case) -> str:
    return f"{case.source}\n{dataclasses.replace(case, source='')}"


def kind_of(case: Case, check: Callable[[Case], str] = check) -> str:
    """What goes wrong with a kernel, in a few words; empty where nothing does."""
    try:
        check(case)
    except Refused:
        return ""
    except Exception as error:
        return re.sub(r"\d+", "#", f"{type(error).__name__}: {error}".partition("\n")[0])
    return ""


def smaller(case: Case, fails: Callable[[Case], bool]) -> Case:
    """``case`` without the lines that it fails without too."""
    lines = case.source.splitlines(keepends=True)
    count = len(lines) // 2
    while count:
        at = len(lines) - count
        while at >= 0:
            left = lines[:at] + lines[at + count :]
            if any(line.startswith("def kernel") for line in left):
                trial = dataclasses.replace(case, source="".join(left))
                if fails(trial):
                    lines, case = left, trial
            at -= count
        count //= 2
    return case


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--vector", type=int, choices=sorted(LACKING), default=64)
    parser.add_argument("--guards", action="store_true")
    parser.add_argument("--recorded", action="store_true")
    given_ = parser.parse_args()
    checked = check_guards if given_.guards else check_recorded if given_.recorded else check
    reasons: Counter[str] = Counter()
    wrong: dict[str, Case] = {}
    start = time.monotonic()

    @hypothesis.seed(given_.seed)
    @settings(
        max_examples=given_.examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def all_of_them(case: Case) -> None:
        if time.monotonic() - start > given_.seconds:
            raise Enough
        try:
            reasons[checked(case)] += 1
        except Refused:
            hypothesis.reject()
        except Exception:
            kind = kind_of(case, checked)
            reasons[f"WRONG: {kind}"] += 1
            wrong.setdefault(kind, case)

    target = jit.host().without(LACKING[given_.vector])
    os.environ["TRITON_LAB_RAISE"] = "1"
    with tempfile.TemporaryDirectory() as folder, patch.object(jit, "host", lambda: target):
        os.environ["TRITON_CACHE_DIR"] = folder
        with contextlib.suppress(Enough):
            all_of_them()
        print(f"{reasons.total()} kernels in {time.monotonic() - start:.0f} s")
        for why, count in reasons.most_common():
            print(f"{count:6} {why}")
        for kind, case in wrong.items():
            least = smaller(case, lambda trial, kind=kind: kind_of(trial, checked) == kind)
            print(f"\n{kind}\n{shown(least)}", flush=True)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
