"""Runs programs of a launch on several threads: torch's own OpenMP threads.

These exist already, are awake while torch computes, and run no Python, so they start within microseconds. There are
none if torch has no OpenMP, nor in a forked child, which does not inherit them.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from triton_lab.native.function_contract import Generated
from triton_lab.native.llvm import jit
from triton_lab.native.runtime import code_cache
from triton_lab.native.threads import scheduler
from triton_lab.native.threads.scheduler import FaultNumbers, Seat, Table

_ALIGNED = 64
# The names of OpenMP libraries: GNU's, Intel's and LLVM's. All of them have GNU's entry point.
_LIBRARIES = ("libgomp", "libiomp", "libomp")
_begin_as = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)


class Failed(NamedTuple):
    """A thread took programs up to ``until`` and ran those up to ``came``; ``why`` it stopped: see `Built`."""

    came: int
    until: int
    why: tuple[int, int, int]


class _Ways(NamedTuple):
    """Addresses of functions: OpenMP's, and ours that run on its threads."""

    begin: int
    number: int
    take: int
    look: int


def make_ready() -> None:
    """Compile the machine code for threads, if there are any. Call it where kernels are compiled."""
    global _ways
    if _ways is None and (library := _openmp()) is not None:
        with contextlib.suppress(jit.CannotCompile):
            functions = (_address(getattr(library, name)) for name in ("GOMP_parallel", "omp_get_thread_num"))
            own = (_linked(made).address for made in (scheduler.take(jit.host().arm), scheduler.look()))
            _ways = _Ways(*functions, *own)


def size() -> int:
    """How many threads may run a launch: torch's setting if it has threads, else one."""
    return 1 if _ways is None else int(sys.modules["torch"].get_num_threads())


class Team:
    """A fixed number of threads that work on one launch at a time."""

    def __init__(self, ways: _Ways, threads: int) -> None:
        self._begin = _begin_as(ways.begin)
        self._take = ways.take
        self._faults = [FaultNumbers(ask=ways.look) for _ in range(threads)]
        self._seats = (Seat * threads)(*(Seat(fault=ctypes.addressof(fault)) for fault in self._faults))
        self._table = Table(who=ways.number, seats=ctypes.addressof(self._seats))
        for fault in self._faults:
            fault.halt = ctypes.addressof(self._table) + scheduler.offset(Table, "halt")
        self._scratch = ctypes.create_string_buffer(0)
        self._each = 0

    def run(
        self,
        function: int,
        launch: tuple[bytes, bytes, bytes],
        programs: tuple[int, int, int],
        scratch: int,
        own: int,
    ) -> tuple[int, list[Failed]]:
        """Run programs ``(from, to, at a time)``. Returns the first program that no thread has taken, and what failed.

        ``function`` is the kernel's, ``launch`` its arguments, grid and regions, ``scratch`` the bytes that it needs
        (see `function_contract`). ``own`` is the address of this thread's fault, whose questions Python answers.
        """
        table, seats = self._table, self._seats
        table.run = function
        table.arguments, table.grid, table.regions = launch
        table.next[0], table.end, table.step = programs
        table.over = table.halt = 0
        if scratch > self._each:
            self._reserve(scratch)
        seats[0].fault = own
        for seat, fault in zip(seats, self._faults, strict=True):
            seat.until, fault.rounds = -1, scheduler.ROUNDS
        self._begin(self._take, ctypes.addressof(table), len(seats), 0)
        failed = [seat for seat in seats if seat.until >= 0]
        return min(table.next[0], programs[1]), [
            Failed(seat.came, seat.until, (fault.guard, fault.when, fault.where))
            for seat in failed
            for fault in (FaultNumbers.from_address(seat.fault),)
        ]

    def _reserve(self, size: int) -> None:
        """Give each thread its own ``size`` bytes of scratch."""
        self._each = -(-size // _ALIGNED) * _ALIGNED
        self._scratch = ctypes.create_string_buffer(self._each * len(self._seats) + _ALIGNED)
        start = -(-ctypes.addressof(self._scratch) // _ALIGNED) * _ALIGNED
        for number, seat in enumerate(self._seats):
            seat.scratch = start + number * self._each


@contextlib.contextmanager
def borrowed(threads: int) -> Iterator[Team]:
    """A team of ``threads`` that no other launch uses meanwhile."""
    assert _ways is not None
    free = _free.setdefault(threads, [])
    try:
        team = free.pop()
    except IndexError:
        team = Team(_ways, threads)
    yield team
    free.append(team)  # after an interrupt the team is dropped


_ways: _Ways | None = None
_free: dict[int, list[Team]] = {}


@functools.cache
def _linked(made: Generated) -> jit.Linked:
    name = code_cache.key((made.text, jit.host(), jit.version()))
    found = code_cache.find(name)
    if found is not None:
        with contextlib.suppress(jit.CannotCompile):
            return jit.Linked(found[1], made.symbol)
    code = jit.object_code(made.text, jit.host())
    code_cache.keep(name, b"", code)
    return jit.Linked(code, made.symbol)


def _openmp() -> ctypes.CDLL | None:
    """The loaded library whose threads torch uses; None if there is none."""
    torch = sys.modules.get("torch")
    if _is_child or torch is None or not hasattr(os, "RTLD_NOLOAD"):
        return None
    beside = Path(torch.__file__ or "").parent / "lib"
    own = (str(path) for path in sorted(beside.glob("lib*omp*")) if path.name.startswith(_LIBRARIES))
    for name in (*own, "libgomp.so.1", "libiomp5.so", "libomp.so"):
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            if hasattr(library, "GOMP_parallel"):
                return library
    return None


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _after_fork() -> None:
    global _ways, _is_child
    _ways, _is_child = None, True


_is_child = False
os.register_at_fork(after_in_child=_after_fork)
