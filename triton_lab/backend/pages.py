"""What the system lets this process do with its memory."""

from __future__ import annotations


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
