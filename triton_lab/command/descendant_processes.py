"""The processes that a script has started, and theirs: what Linux says of them."""

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
    """Inside, processes that lose their parent become children of this one, where the system can do that."""
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
    """A process by its number, and since when it runs, in ticks: numbers come again. ``spent``: ticks of computing."""

    number: int
    since: int
    parent: int
    spent: int
    ended: bool  # and nobody has asked how


def children(number: int) -> set[int]:
    """The processes whose parent it is."""
    return {one.number for one in _all() if one.parent == number}


def descendants(number: int, without: frozenset[int] = frozenset()) -> list[Process]:
    """All processes below it but for its children ``without``, and what is below these."""
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
    """The process; None where it is gone."""
    try:
        fields = (_PROC / str(number) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        spent = int(fields[11]) + int(fields[12])
        return Process(number, int(fields[19]), int(fields[1]), spent, fields[0] in "ZX")
    except (OSError, ValueError, IndexError):
        return None


def has_triton(number: int) -> bool:
    """Whether Triton's library is in its memory."""
    try:
        with open(_PROC / str(number) / "maps", "rb") as file:
            return _LIBRARY in file.read(_MOST_MAPS)
    except OSError:
        return False


def command_line(number: int) -> str:
    """What it was started with, shortened; "" where nobody knows."""
    try:
        words = (_PROC / str(number) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    text = " ".join(word for word in words if word)
    return "".join(one if one.isprintable() else "?" for one in text[:120])
