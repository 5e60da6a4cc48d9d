"""What can go wrong while a kernel runs, as data. Higher layers choose the words for the user."""

from __future__ import annotations

import functools
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.access_fault_message import Home
from triton_lab.ir import Op, Plan
from triton_lab.localization import _


@dataclass(frozen=True, slots=True)
class AccessFault:
    """Lanes of one access that may not touch memory.

    ``programs`` (linear numbers), ``lanes`` (row-major in the block) and ``addresses`` (bytes) have one entry per bad
    lane. ``kind`` is ``out-of-bounds``, ``null-pointer`` or ``misaligned``. ``pointer`` and ``mask`` are those of all
    lanes, in the interpreter's compact forms. They have ``rows`` rows: one per program, or a single one where all
    programs do the same. ``home`` says where the first address lies if a pointer of unknown origin led there
    (`access_fault_message.Home`).
    """

    kind: str
    access: str
    itemsize: int
    programs: NDArray[Any]
    lanes: NDArray[Any]
    addresses: NDArray[Any]
    block: tuple[int, ...]
    pointer: Any = None
    mask: Any = None
    rows: int = 1
    home: Home = ""


class KernelError(Exception):
    """Raised when a kernel stops at ``op`` because of ``message``, in ``programs``; ``together`` are all that ran with
    them. ``rule`` names what it breaks where a kernel uses shared memory, barriers or partitions wrongly, ``hint`` says
    what to do then, else both are ""; ``other`` is the operation that ``op`` is not in order with, if there is one.
    """

    def __init__(
        self,
        message: str,
        op: Op | None = None,
        programs: NDArray[Any] | None = None,
        fault: AccessFault | None = None,
        rule: str = "",
        hint: str = "",
        other: Op | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.op = op
        self.programs = programs
        self.fault = fault
        self.rule = rule
        self.hint = hint
        self.other = other
        self.together: NDArray[Any] | None = None

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The linear numbers of its programs, ascending; none if they are unknown."""
        return np.empty(0, np.int64) if self.programs is None else np.unique(self.programs)


class Unsupported(KernelError):
    """The interpreter does not run this operation."""


class Deadlock(KernelError):
    """Every program waits for another."""


class StepLimit(KernelError):
    """The launch ran longer than it was allowed to."""


@dataclass(frozen=True)
class KernelErrorData:
    """A KernelError as data that can be sent: its class's name, its fields with the operation by index, its cause."""

    kind: str
    message: str
    op: int | None
    programs: NDArray[Any] | None
    together: NDArray[Any] | None
    fault: AccessFault | None
    cause: tuple[str, str] | None
    rule: str = ""
    hint: str = ""

    @classmethod
    def of(cls, error: KernelError) -> KernelErrorData:
        """Turn ``error`` into data."""
        cause = None if error.__cause__ is error else error.__cause__
        return cls(
            type(error).__name__,
            error.message,
            None if error.op is None else error.op.index,
            error.programs,
            error.together,
            error.fault,
            None if cause is None else (type(cause).__name__, str(cause)),
            error.rule,
            error.hint,
        )

    def error(self, plan: Plan) -> KernelError:
        """Make the error again, at the operation of ``plan`` with its index."""
        kind = next((one for one in (Unsupported, Deadlock, StepLimit) if one.__name__ == self.kind), KernelError)
        op = next((op for op in plan.walk() if op.index == self.op), None)
        error = kind(self.message, op, self.programs, self.fault, self.rule, self.hint)
        error.together = self.together
        if self.cause is not None:
            name, text = self.cause
            # The error report chooses its words by these causes.
            error.__cause__ = (MemoryError if name == "MemoryError" else RuntimeError)(text)
        return error


def from_signal(error: BaseException) -> bool:
    """Whether ``error`` comes from a signal handler, mostly a timeout: then the kernel did not cause it."""
    handlers = set(_handlers())
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False


def _handlers() -> Iterator[CodeType]:
    """The code of all installed signal handlers that are written in Python."""
    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        while isinstance(handler, functools.partial):
            handler = handler.func
        if handler is None or isinstance(handler, int):
            continue
        for function in (handler, type(handler).__call__):
            code = getattr(getattr(function, "__func__", function), "__code__", None)
            if isinstance(code, CodeType):
                yield code


class EndlessRecursion(RecursionError):
    """Functions of a kernel call each other too deep for Triton's front end, probably without end.

    ``calls`` is the depth reached.
    """

    def __init__(self, calls: int) -> None:
        super().__init__(
            _(
                "functions of the kernel call each other {calls} deep, which is the limit: write a loop, or end the "
                "recursion earlier by a constant"
            ).format(calls=f"{calls:,}")
        )
        self.calls = calls
