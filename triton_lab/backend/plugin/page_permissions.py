"""What this process may do with its memory, by the rules of the system and of Python."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from dataclasses import dataclass
from typing import Any, Literal

# The size of the header of Python's `bytes`: reference count, type, size, hash.
_HEADER = 32
_WORD = 8
_PAGE = os.sysconf("SC_PAGE_SIZE")

# Why bytes cannot be read: nothing is mapped there, the system does not allow it, or their file was cut short.
Trouble = Literal["", "unmapped", "unreadable", "cut"]


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a memory range: how many of its first bytes can be read, why not all, and whether all may be
    written.
    """

    readable: int
    trouble: Trouble
    writable: bool


def standing(start: int, stop: int) -> Standing:
    """The state of the bytes ``start .. stop - 1``. Any access that it does not allow would end the process."""
    at, writable = start, True
    try:
        with open("/proc/self/maps", "rb") as maps:
            for line in maps:
                span, rest = line.split(b" ", 1)
                low, high = span.split(b"-")
                end = int(high, 16)
                if end <= at:
                    continue
                if int(low, 16) > at:
                    break
                last, rights = min(end, stop), rest[:2]
                if rights[:1] != b"r":
                    return Standing(at - start, "unreadable", False)
                # A file is cut at its end, so its last byte goes first.
                if _is_of_file(rest) and peek(last - 1, last) is None:
                    return Standing(_first_unreadable(at, last) - start, "cut", False)
                writable &= rights[1:] == b"w"
                at = last
                if at >= stop:
                    return Standing(stop - start, "", writable)
    except OSError:  # a system without /proc: nothing is known
        return Standing(stop - start, "", True)
    return Standing(at - start, "unmapped", False)


def _is_of_file(rest: bytes) -> bool:
    """Whether a line of the maps, after its range, names a file that can be cut short. Devices cannot."""
    parts = rest.split(None, 4)
    path = parts[4].strip() if len(parts) > 4 else b""
    return parts[3] != b"0" and (not path.startswith(b"/dev/") or path.startswith(b"/dev/shm/"))


def _first_unreadable(low: int, high: int) -> int:
    """The first address from ``low`` on that cannot be read. All addresses before it can be, none after it."""
    first, last = low // _PAGE, -(-high // _PAGE)
    while first < last:
        middle = (first + last) // 2
        address = max(low, middle * _PAGE)
        first, last = (first, middle) if peek(address, address + 1) is None else (middle + 1, last)
    return max(low, first * _PAGE)


class _Span(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("size", ctypes.c_size_t)]


@functools.cache
def _reading() -> Any:
    """The system call that copies memory and respects its permissions; None if there is none."""
    with contextlib.suppress(OSError, AttributeError):
        call = ctypes.CDLL(None).process_vm_readv
        call.argtypes = [ctypes.c_int, *(ctypes.c_void_p, ctypes.c_ulong) * 2, ctypes.c_ulong]
        call.restype = ctypes.c_ssize_t
        held = ctypes.create_string_buffer(b"held", 4)
        if _copied(call, ctypes.addressof(held), 4) == b"held":
            return call
    return None  # a sandbox may forbid it


def _copied(call: Any, start: int, size: int) -> bytes | None:
    into = ctypes.create_string_buffer(size)
    here, there = _Span(ctypes.addressof(into), size), _Span(start, size)
    found = call(os.getpid(), ctypes.addressof(here), 1, ctypes.addressof(there), 1, 0)
    return into.raw if found == size else None


def peek(low: int, high: int) -> bytes | None:
    """The bytes ``low .. high - 1`` of this process, or None if they cannot be read.

    The system copies them; unlike a pointer, that does not crash at an unmapped address.
    """
    if high <= low:
        return b""
    if low < 0 or high > 1 << 64:
        return None
    call = _reading()
    if call is not None:
        return _copied(call, low, high - low)
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            found = os.pread(memory.fileno(), high - low, low)
    except (OSError, OverflowError):
        return None
    return found if len(found) == high - low else None


def words_at(address: int, count: int) -> tuple[int, ...] | None:
    """``count`` words of memory as numbers; None if they cannot be read."""
    found = peek(address, address + count * _WORD)
    if found is None:
        return None
    return tuple(int.from_bytes(found[at : at + _WORD], "little") for at in range(0, len(found), _WORD))


def is_of_bytes(start: int, stop: int) -> bool:
    """Whether these addresses are the start of a `bytes` object, which Python promises never to change.

    For memory that a tensor borrows from Python, `borrowed_memory` knows more.
    """
    header = words_at(start - _HEADER, _HEADER // _WORD) if start > _HEADER else None
    return header is not None and header[1] == id(bytes) and header[2] >= stop - start
