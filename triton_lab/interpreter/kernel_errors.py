"""What can go wrong while a kernel runs, as data: the words for it are chosen higher up."""

from __future__ import annotations

import functools
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from numpy.typing import NDArray

from triton_lab.ir import Op, Plan
from triton_lab.messages import Home


@dataclass(frozen=True, slots=True)
class AccessFault:
    """Lanes of one access that may not touch memory.

    ``programs`` (linear numbers), ``lanes`` (row-major in the block) and ``addresses`` (bytes)
    have an entry for each; ``kind`` is ``out-of-bounds``, ``null-pointer`` or ``misaligned``.
    ``pointer`` and ``mask`` are those of all lanes, in the interpreter's compact forms, of so many ``rows``: one
    for each program, or one alone where all do the same. ``home`` tells where the first address lies if a pointer of
    unknown origin led there (`words.Home`).
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
    """A kernel was stopped at ``op``, for ``message``, in the given programs; ``together`` ran it with them."""

    def __init__(
        self, message: str, op: Op | None = None, programs: NDArray[Any] | None = None, fault: AccessFault | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.op = op
        self.programs = programs
        self.fault = fault
        self.together: NDArray[Any] | None = None


class Unsupported(KernelError):
    """The interpreter does not run this operation."""


class Deadlock(KernelError):
    """Every program waits for another."""


class StepLimit(KernelError):
    """The launch ran longer than it was allowed to."""


@dataclass(frozen=True)
class KernelErrorData:
    """A KernelError as data, which travels: its class's name, its fields with the operation by number, its cause."""

    kind: str
    message: str
    op: int | None
    programs: NDArray[Any] | None
    together: NDArray[Any] | None
    fault: AccessFault | None
    cause: tuple[str, str] | None

    @classmethod
    def of(cls, error: KernelError) -> KernelErrorData:
        """``error``, taken apart."""
        cause = None if error.__cause__ is error else error.__cause__
        return cls(
            type(error).__name__,
            error.message,
            None if error.op is None else error.op.index,
            error.programs,
            error.together,
            error.fault,
            None if cause is None else (type(cause).__name__, str(cause)),
        )

    def error(self, plan: Plan) -> KernelError:
        """The error again, at the operation that ``plan`` has under its number."""
        kind = next((one for one in (Unsupported, Deadlock, StepLimit) if one.__name__ == self.kind), KernelError)
        op = next((op for op in plan.walk() if op.index == self.op), None)
        error = kind(self.message, op, self.programs, self.fault)
        error.together = self.together
        if self.cause is not None:
            name, text = self.cause
            # Of these the words are chosen by what an error came from.
            error.__cause__ = (MemoryError if name == "MemoryError" else RuntimeError)(text)
        return error


def from_signal(error: BaseException) -> bool:
    """Whether ``error`` comes out of a signal handler (a timeout, mostly): it is nobody's fault here."""
    handlers = set(_handlers())
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False


def _handlers() -> Iterator[CodeType]:
    """The code of all handlers that are installed and written in Python."""
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
    """Functions of a kernel call each other deeper than Triton's front end can follow: without end, or nearly so.

    ``calls`` says how deep that is.
    """

    def __init__(self, calls: int) -> None:
        super().__init__(
            f"functions of the kernel call each other {calls:,} deep, and no deeper is allowed: "
            "write a loop, or let a constant end it earlier"
        )
        self.calls = calls
