"""The processes that a script has started, and their descendants, as Linux reports them."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_SUBREAPER, _GET_SUBREAPER = 36, 37  # of prctl(2)
_LIBRARY = b"libtriton"
_MOST_MAPS = 8 << 20  # bytes


@contextlib.contextmanager
def kept_as_children() -> Iterator[None]:
    """Processes inside that lose their parent become children of this one, if the system supports that."""
    before = ctypes.c_int(0)
    with contextlib.suppress(AttributeError, OSError):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_GET_SUBREAPER, ctypes.byref(before), 0, 0, 0)
        libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        with contextlib.suppress(AttributeError, OSError):
            libc.prctl(_SUBREAPER, before.value, 0, 0, 0)


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
