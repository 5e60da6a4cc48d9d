"""A loop that was stopped, by a limit or by hand: how often it ran, and which variables of its condition
never changed.
"""

from __future__ import annotations

import ast
import textwrap
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from triton_lab.backend.source.kernel_source import KernelSource, SourcePlace
from triton_lab.interpreter.ops.control import scf_for, scf_while
from triton_lab.interpreter.program_strands import RunningLoop
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, Plan
from triton_lab.localization import _
from triton_lab.messages import count

_WHILE = "scf.while"
_LOOPS = {scf_for.__code__, scf_while.__code__}


@dataclass(frozen=True)
class Turning:
    """A loop that was running: how often it had run, and its carried values at the start and now."""

    op: Op
    turns: int
    first: Sequence[Value] = ()
    now: Sequence[Value] = ()


def turning(error: BaseException) -> Turning | None:
    """The loop that did not end when ``error`` was raised; None outside any loop.

    Of the loops around the operation, a ``while`` comes first, then the one that ran most often.
    """
    found = []
    for frame, _unused in traceback.walk_tb(error.__traceback__):
        names = frame.f_locals
        if frame.f_code in _LOOPS and "carried" in names:
            turns = names.get("turns", names.get("iteration", 0))
            found.append(Turning(names["op"], turns, names["initial"], names["carried"]))
        elif frame.f_code.co_name == "run" and isinstance(levels := getattr(names.get("self"), "levels", None), list):
            found += [Turning(one.op, one.turns) for one in levels if isinstance(one, RunningLoop)]
    return max(found, key=lambda one: (one.op.name == _WHILE, one.turns), default=None)


def told(loop: Turning, written: KernelSource, plan: Plan) -> str:
    """The loop in words: ``The loop in line 5 ran 200 times; i and n in its condition never changed.``"""
    place = written.place(loop.op.location)
    if place is None:
        return ""
    often = _("The loop in line {line} ran {times}").format(line=place.line, times=count(loop.turns, "time"))
    names = _unchanged(loop, written, place, plan) if loop.turns > 1 else []
    return (
        _("{often}; {listed} in its condition never changed.").format(often=often, listed=_listed(names))
        if names
        else f"{often}."
    )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _unchanged(loop: Turning, written: KernelSource, place: SourcePlace, plan: Plan) -> list[str]:
    """The variables in the condition that the loop never assigns, or whose value is still the first one."""
    node = _while_at(written, loop.op, place.line)
    if node is None:
        return []
    called = {id(one.func) for one in ast.walk(node.test) if isinstance(one, ast.Call)}
    inside = {id(sub) for one in ast.walk(node.test) if isinstance(one, ast.Attribute) for sub in ast.walk(one.value)}
    names = [
        one.id
        for one in ast.walk(node.test)
        if isinstance(one, ast.Name) and id(one) not in called and id(one) not in inside
    ]
    assigned = {
        one.id
        for statement in node.body
        for one in ast.walk(statement)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    same = _carried_unchanged(loop, plan)
    return [name for name in dict.fromkeys(names) if name not in assigned or name in same]


def _carried_unchanged(loop: Turning, plan: Plan) -> set[str]:
    """The variables that the loop carries and whose value is still the first one."""
    makers: dict[int, Op] = {result: op for op in plan.walk() for result in op.results}
    same: set[str] = set()
    other: set[str] = set()
    for number, first, now in zip(loop.op.operands, loop.first, loop.now, strict=False):
        location = makers[number].location if number in makers else None
        if location is not None and location.name:
            (same if _equal(first, now) else other).add(location.name)
    return same - other


def _equal(one: Any, two: Any) -> bool:
    if one is two:
        return True
    return isinstance(one, np.ndarray) and isinstance(two, np.ndarray) and one.size == 1 == two.size and one == two


def _while_at(written: KernelSource, op: Op, line: int) -> ast.While | None:
    """The ``while`` of the source that begins at ``line``."""
    for frame in op.location.frames() if op.location is not None else ():
        function = written.function(frame)
        if function is None:
            continue
        try:
            tree = ast.parse(textwrap.dedent("".join(function.raw_src)))
        except SyntaxError:
            return None
        begin = line - function.starting_line_number + 1
        for node in ast.walk(tree):
            if isinstance(node, ast.While) and node.lineno == begin:
                return node
    return None
