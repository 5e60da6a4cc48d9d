"""What this process may do with its memory, by the system's rules and by Python's."""

from __future__ import annotations

import os

# What stands before the bytes of Python's `bytes`: the count of references, the type, the size, the hash.
_HEADER = 32
_WORD = 8


def may_write(start: int, stop: int) -> bool:
    """Whether all bytes ``start .. stop - 1`` may be written; a store to others would end the process."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        for line in maps:
            span, rights, _ = line.split(None, 2)
            low, _, high = span.partition("-")
            if int(low, 16) <= start < int(high, 16):
                if rights[1] != "w":
                    return False
                start = int(high, 16)
                if stop <= start:
                    return True
    return False


def peek(low: int, high: int) -> bytes | None:
    """The bytes ``low .. high - 1`` of this process, or None where they cannot be read.

    The system copies them: unlike a pointer, it does not crash on an address that is not mapped.
    """
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            found = os.pread(memory.fileno(), high - low, low)
    except (OSError, OverflowError):
        return None
    return found if len(found) == high - low else None


def is_of_bytes(start: int, stop: int) -> bool:
    """Whether these addresses are the content of a `bytes` object, which Python promises never to change.

    ``torch.from_numpy(numpy.frombuffer(b"..."))`` lies there, and torch forgets that it may not be written.
    """
    header = peek(start - _HEADER, start) if start > _HEADER else None
    if header is None:
        return False
    words = [int.from_bytes(header[at : at + _WORD], "little") for at in range(0, _HEADER, _WORD)]
    return words[1] == id(bytes) and words[2] >= stop - start
