"""How an answer about a planted slip is judged, by its lines, and the table that counts the answers by class.

``first``: the cause that is named is at the slip's line. ``near``: at a line that uses the value which the slip's line
makes, where another edit may do the same. ``later``: the line is one of many, or that of one of two mistakes.
``wrong``: other lines alone are named. ``no line``: a cause of the launch. ``nothing``: no cause.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import ast
import linecache
import math
import multiprocessing
import re
import signal
import statistics
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar
from unittest.mock import patch

import triton

import triton_lab as lab
from triton_lab.launch.comparison import time_budget
from triton_lab.launch.comparison.argument_difference import DIFFERENT, UNKNOWN
from triton_lab.launch.launch import Launch

Task = TypeVar("Task")
Answer = TypeVar("Answer")
SAID = ("first", "near", "later", "wrong", "no line", "nothing", "out of time")
MOST_LINES = 2
"""A cause may lie between two lines: lanes that one masks off, and the sum that another leaves them in."""


@dataclass(frozen=True)
class Judgement:
    """What was ``said`` of one slip, the sentence, and its ``seconds`` of the processor."""

    said: str
    cause: str
    seconds: float


def compiled(kernel: Any, text: str) -> Any:
    """The kernel that ``text`` defines, with the globals of ``kernel``; its lines are those of ``text``."""
    name = kernel.fn.__name__
    mark = sha256(text.encode()).hexdigest()[:12]
    file = f"<slip of {name} {mark}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = types.ModuleType(f"slip_{mark}")
    vars(module).update(kernel.fn.__globals__)
    module.__file__ = file
    exec(compile(text, file, "exec"), vars(module))
    made = vars(module)[name]
    return made if isinstance(made, triton.runtime.JITFunction) else triton.jit(made)


def judged(
    launch: Launch,
    expected: Mapping[str, Any] | Callable[..., Any],
    lines: set[int],
    text: str,
    *,
    certain: bool = True,
    limit: int = 60,
) -> Judgement | None:
    """What the comparison says of ``launch``, whose slip is on one of ``lines`` of the kernel's ``text``, from 1.

    Without lines the slip is the launch's: too few programs.

    None where the slip does not show: the results are not certainly different, or with ``certain`` false, are equal.
    ``limit`` is in seconds of the processor.
    """
    first = launch.first_line - 1
    start = time.process_time()
    try:
        # What a search may wait for the processor is for users; here another load of the machine changes nothing.
        with _limited(limit), patch.object(time_budget, "_PATIENCE", math.inf):
            comparison = lab.compare(launch, expected)
            shown = (DIFFERENT,) if certain else (DIFFERENT, UNKNOWN)
            if not comparison.arguments or comparison.verdict not in shown:
                return None
            start = time.process_time()
            causes = comparison.causes()
    except TimeoutError:
        return Judgement("out of time", "", time.process_time() - start)
    return Judgement(_said(causes, lines, uses(text, lines), first), causes.cause, time.process_time() - start)


def _said(causes: Any, wrong: set[int], near: set[int], first: int) -> str:
    if not wrong:
        if not causes.known:
            return "nothing"
        return "first" if causes.cause.startswith("the number of programs") else "wrong"
    parts = re.findall(r"lines? ([\d and,]+)", causes.cause)
    named = {int(n) - first for part in parts for n in re.findall(r"\d+", part)}
    if not causes.known:
        return "nothing"
    if not named:
        return "no line"
    alone = causes.pair is None and len(named) <= MOST_LINES
    if wrong & named:
        return "first" if alone else "later"
    return "near" if alone and near & named else "wrong"


def uses(text: str, lines: set[int]) -> set[int]:
    """The lines of the kernel's ``text`` that use a name which one of ``lines`` gives its value."""
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    made = {node.id for node in names if isinstance(node.ctx, ast.Store) and node.lineno in lines}
    return {node.lineno for node in names if isinstance(node.ctx, ast.Load) and node.id in made} - lines


@contextmanager
def _limited(seconds: int):
    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # the processor's time
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def counted(judgements: Iterable[tuple[str, Judgement]]) -> str:
    """The answers by class, as a table, with the shares of all and the time."""
    rows = list(judgements)
    kinds = sorted({kind for kind, _ in rows})
    wide = max((len(kind) for kind in kinds), default=3)
    lines = [f"{'class':{wide}}  " + "  ".join(SAID)]
    for kind in (*kinds, "all"):
        said = [one.said for name, one in rows if kind in (name, "all")]
        lines.append(f"{kind:{wide}}  " + "  ".join(f"{said.count(each):{len(each)}}" for each in SAID))
    if rows:
        taken = sorted(one.seconds for _, one in rows)
        share = sum(one.said == "first" for _, one in rows) / len(rows)
        lines.append(
            f"{share:.0%} at the right line first; median {statistics.median(taken):.2f} s of the processor, "
            f"95 % within {taken[int(0.95 * (len(taken) - 1))]:.2f} s"
        )
    return "\n".join(lines)


def each_of(asked: Callable[[Task], Answer], tasks: Sequence[Task], processes: int) -> Iterator[Answer]:
    """The answers as they come, in this process or in several; ``asked`` is a function of a module."""
    if processes == 1:
        yield from map(asked, tasks)
        return
    # Spawned: the engine's threads do not survive a fork.
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"))
    try:
        for one in as_completed([pool.submit(asked, task) for task in tasks]):
            yield one.result()
    finally:
        pool.shutdown(cancel_futures=True)
