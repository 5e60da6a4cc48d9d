"""The fields of a saved launch's description, each held to its type: a stranger's file may say anything."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.saving.archive import SavedLaunchError

T = TypeVar("T")


def hold(condition: bool, what: str) -> None:
    """``condition`` is so, or ``what`` is wrong. Raises SavedLaunchError, as all of these."""
    if not condition:
        raise SavedLaunchError(f"{what} cannot be right")


def of(kind: type[T], value: Any) -> T:
    """``value``, if it is of that very type."""
    hold(type(value) is kind, f"a {type(value).__name__} where {kind.__name__} belongs")
    return value  # type: ignore[no-any-return]


def maybe(kind: type[T], value: Any) -> T | None:
    """`of`, or None."""
    return None if value is None else of(kind, value)


def real(value: Any) -> float:
    """A number of either kind."""
    hold(type(value) in (int, float), "a number")
    return float(value)


def ints(values: Sequence[Any]) -> tuple[int, ...]:
    """Integers, and no other numbers."""
    check: Callable[[Any], int] = lambda value: of(int, value)  # noqa: E731
    return tuple(map(check, values))


def ranges(given: Any) -> Ranges:
    """Sorted ranges of addresses that keep apart: a list of where they start, and one of where they stop."""
    starts, stops = (ints(one) for one in given)
    hold(len(starts) == len(stops), "ranges of addresses")
    ends = [end for pair in zip(starts, stops, strict=True) for end in pair]
    hold(all(0 <= low <= high < 1 << 63 for low, high in itertools.pairwise(ends)), "ranges of addresses")
    return Ranges.of(starts, stops)
