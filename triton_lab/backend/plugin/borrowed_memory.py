"""The Python object whose memory a tensor borrows, and whether that memory may be changed.

``torch.frombuffer``, ``from_numpy``, ``asarray`` and ``from_dlpack`` keep a reference to their argument, but do not
record whether it may be written. The reference lies in the closure with which torch releases the memory. Its place is
found once, by borrowing known memory. A closure counts as the same if its code is the same; only then is the word at
that place read as an object. If another torch stores the reference elsewhere, nothing is found.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import struct
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from triton_lab.backend.plugin.page_permissions import words_at

# How many words are searched, in torch's storage and in what it points to; and how many pointers lead to the object.
_WORDS = 8
_MOST_STEPS = 3
# How many objects are borrowed to compare. Words that differ between them are not code.
_PROBES = 3

# For each structure on the way: the places and values of its words that are code addresses, and the place of the word
# that points to the next structure.
Step = tuple[tuple[tuple[int, int], ...], int]
Way = tuple[Step, ...]


def may_change(storage: Any) -> bool:
    """Whether Python allows changing the memory of a torch storage. True if nothing forbids it."""
    owner = owner_of(storage)
    if owner is None:
        return True
    if isinstance(owner, np.ndarray):
        return bool(owner.flags.writeable)
    try:
        with memoryview(owner) as view:
            return not view.readonly
    except (TypeError, ValueError, BufferError):  # it has no buffer any more
        return True


def owner_of(storage: Any) -> Any:
    """The object whose memory a storage borrows; None if there is none, or none is found."""
    address = int(storage._cdata)
    for way in _ways():
        found = _followed(way, address)
        if found is not None:
            # The storage is alive and has its own reference to the object.
            return ctypes.cast(found, ctypes.py_object).value
    return None


def _followed(way: Way, address: int) -> int | None:
    for code, place in way:
        # The storage is alive. For each later structure, the code addresses before it prove that it exists.
        count = max(place, code[-1][0]) + 1
        words = struct.unpack(f"={count}Q", ctypes.string_at(address, 8 * count))
        for at, known in code:
            if words[at] != known:
                return None
        address = words[place]
    return address


@functools.cache
def _ways() -> tuple[Way, ...]:
    """How torch stores the owner, for each function that borrows."""
    torch: Any = importlib.import_module("torch")

    def of_buffer(size: int) -> tuple[Any, Any]:
        owner = bytearray(size)
        return owner, torch.frombuffer(owner, dtype=torch.uint8)

    def of_array(size: int) -> tuple[Any, Any]:
        owner = np.zeros(size, np.uint8)
        return owner, torch.from_numpy(owner)

    def of_dlpack(size: int) -> tuple[Any, Any]:
        owner = np.zeros(size, np.uint8)
        return owner, torch.from_dlpack(owner)

    makers: tuple[Callable[[int], tuple[Any, Any]], ...] = (of_buffer, of_array, of_dlpack)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [_way([make(64 << number) for number in range(_PROBES)]) for make in makers]
    return tuple(dict.fromkeys(way for way in found if way is not None))


def _way(probes: list[tuple[Any, Any]]) -> Way | None:
    """The shortest way from a storage to its owner that is the same in all ``probes``; it must include code
    addresses.
    """
    owners = [id(owner) for owner, _ in probes]
    level: list[tuple[Way, list[int]]] = [((), [int(tensor.untyped_storage()._cdata) for _, tensor in probes])]
    for _ in range(_MOST_STEPS):
        further: list[tuple[Way, list[int]]] = []
        for way, places in level:
            read = [words_at(place, _WORDS) for place in places]
            words = [one for one in read if one is not None]
            if len(words) < len(places):
                continue
            code = tuple((at, words[0][at]) for at in range(_WORDS) if _is_code([one[at] for one in words]))
            for at in range(_WORDS):
                step: Way = (*way, (code, at))
                next_ones = [one[at] for one in words]
                if next_ones == owners and len(step) > 1 and code:
                    return step
                if code:
                    further.append((step, next_ones))
        level = further
    return None


def _is_code(words: list[int]) -> bool:
    return len(set(words)) == 1 and any(low <= words[0] < high for low, high in _code())


@functools.cache
def _code() -> tuple[tuple[int, int], ...]:
    """The address ranges of code in this process, as they were when torch was first used here."""
    return tuple(_executable())


def _executable() -> Iterator[tuple[int, int]]:
    try:
        with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
            for line in maps:
                span, rights = line.split(" ", 2)[:2]
                if "x" in rights:
                    low, _, high = span.partition("-")
                    yield int(low, 16), int(high, 16)
    except OSError:
        return
