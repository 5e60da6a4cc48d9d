"""Type checks for the fields of a saved launch, since a file from outside may contain anything."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.saving.file_format import SavedLaunchError

T = TypeVar("T")


def hold(condition: bool, what: str) -> None:
    """Raise SavedLaunchError about ``what`` unless ``condition`` holds. All functions here raise it."""
    if not condition:
        raise SavedLaunchError(f"{what} cannot be right")


def of(kind: type[T], value: Any) -> T:
    """``value``, which must have exactly this type."""
    hold(type(value) is kind, f"a {type(value).__name__} where {kind.__name__} belongs")
    return value  # type: ignore[no-any-return]


def maybe(kind: type[T], value: Any) -> T | None:
    """``value``, which must be None or have exactly this type."""
    return None if value is None else of(kind, value)


def real(value: Any) -> float:
    """``value`` as a float; it must be an int or a float."""
    hold(type(value) in (int, float), "a number")
    return float(value)


def ints(values: Sequence[Any]) -> tuple[int, ...]:
    """``values`` as a tuple; each must be an int."""
    check: Callable[[Any], int] = lambda value: of(int, value)  # noqa: E731
    return tuple(map(check, values))


def ranges(given: Any) -> Ranges:
    """Sorted address ranges that do not overlap, given as a list of starts and a list of stops."""
    starts, stops = (ints(one) for one in given)
    hold(len(starts) == len(stops), "ranges of addresses")
    ends = [end for pair in zip(starts, stops, strict=True) for end in pair]
    hold(all(0 <= low <= high < 1 << 63 for low, high in itertools.pairwise(ends)), "ranges of addresses")
    return Ranges.of(starts, stops)
