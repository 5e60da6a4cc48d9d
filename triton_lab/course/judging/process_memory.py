"""The memory of a process and all its descendants, from /proc."""

from __future__ import annotations

import os

_PAGE = os.sysconf("SC_PAGE_SIZE")


def taken(process: int) -> tuple[int, int]:
    """The bytes that belong to each of its descendants alone, summed up, and the number of descendants."""
    todo, size, count = _children(process), 0, 0
    while todo:
        one = todo.pop()
        try:
            with open(f"/proc/{one}/statm") as file:
                _, resident, shared, *_ = map(int, file.read().split())
        except (OSError, ValueError):
            continue  # the process has ended meanwhile
        size += max(0, resident - shared) * _PAGE
        count += 1
        todo += _children(one)
        if count > 4096:
            break
    return size, count


def _children(process: int) -> list[int]:
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return found
    for thread in threads[:1024]:
        try:
            with open(f"/proc/{process}/task/{thread}/children") as file:
                found += map(int, file.read().split())
        except (OSError, ValueError):
            continue
    return found
