"""The processes that a process has started, and theirs: what Linux says of them, and how to end them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triton_lab.processes import linux

_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_GONE = 10.0  # seconds that processes may take to end once they are killed
_PAUSE = 0.005
_MOST = 4096  # processes, and threads of one, that are counted
_LIBRARY = b"libtriton"
_MOST_MAPS = 8 << 20  # bytes


@contextlib.contextmanager
def kept_as_children() -> Iterator[None]:
    """Inside, processes that lose their parent become children of this one, where the system can do that."""
    before = False
    with contextlib.suppress(AttributeError, OSError):
        before = linux.takes_in_orphans()
        linux.take_in_orphans()
    try:
        yield
    finally:
        with contextlib.suppress(AttributeError, OSError):
            linux.take_in_orphans(before)


@dataclass(frozen=True)
class Process:
    """A process by its number and its start, in ticks, since numbers are reused. ``spent``: ticks of computing."""

    number: int
    since: int
    parent: int
    spent: int
    ended: bool  # ended, with an exit code that is not yet read


def children(number: int) -> set[int]:
    """The children of a process."""
    return {one.number for one in _all() if one.parent == number}


def descendants(number: int, without: frozenset[int] = frozenset()) -> list[Process]:
    """All descendants of a process, except its children ``without`` and their descendants."""
    below: dict[int, list[Process]] = {}
    for one in _all():
        below.setdefault(one.parent, []).append(one)
    todo = [one for one in below.pop(number, []) if one.number not in without]
    found = []
    while todo:
        found.append(todo.pop())
        todo += below.pop(found[-1].number, [])
    return found


def _all() -> Iterator[Process]:
    for name in os.listdir(_PROC) if _PROC.is_dir() else ():
        if name.isdigit() and (known := process(int(name))) is not None:
            yield known


def process(number: int) -> Process | None:
    """The process of that number; None if it is gone."""
    try:
        fields = (_PROC / str(number) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        spent = int(fields[11]) + int(fields[12])
        return Process(number, int(fields[19]), int(fields[1]), spent, fields[0] in "ZX")
    except (OSError, ValueError, IndexError):
        return None


def has_triton(number: int) -> bool:
    """Whether a process has loaded Triton's library."""
    try:
        with open(_PROC / str(number) / "maps", "rb") as file:
            return _LIBRARY in file.read(_MOST_MAPS)
    except OSError:
        return False


def command_line(number: int) -> str:
    """The command line of a process, shortened; "" if it is not known."""
    try:
        words = (_PROC / str(number) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    text = " ".join(word for word in words if word)
    return "".join(one if one.isprintable() else "?" for one in text[:120])


def end_descendants(pid: int | None = None) -> bool:
    """Kill all descendants of a process (of this one, which then has no child left); whether all are gone in time."""
    end = time.monotonic() + _GONE
    while True:
        if pid is None:
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        found = descendants(os.getpid() if pid is None else pid)
        if not found:
            return True
        for one in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one.number, signal.SIGKILL)
        if time.monotonic() > end:
            return False
        time.sleep(_PAUSE)


def memory_of_descendants(pid: int) -> tuple[int, int]:
    """The bytes that belong to each descendant of a process alone, summed up, and how many descendants there are."""
    todo, size, count = _children_now(pid), 0, 0
    while todo and count <= _MOST:
        one = todo.pop()
        with contextlib.suppress(OSError, ValueError):  # it has ended meanwhile
            _, resident, shared, *_ = map(int, (_PROC / str(one) / "statm").read_text().split())
            size += max(0, resident - shared) * _PAGE
            count += 1
            todo += _children_now(one)
    return size, count


def _children_now(pid: int) -> list[int]:
    """The children of a process as its threads list them: without a look at all other processes, for who asks often."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(_PROC / str(pid) / "task")[:_MOST]:
            with contextlib.suppress(OSError, ValueError):
                found += map(int, (_PROC / str(pid) / "task" / thread / "children").read_text().split())
    return found
