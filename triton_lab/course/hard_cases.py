"""Hard cases, made from those that an exercise declares: large odd sizes, and values that random numbers seldom have.

A declared case says how sizes depend on each other: sizes that are equal there stay equal. A size that is a multiple of
a number in all declared cases stays a multiple of it, powers of two and small counts stay as they are. Layouts,
dtypes and declared ranges are those of the declared cases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from triton_lab.course.cases import Case, Made

Place = tuple[str, int]
"""An argument, and an axis of it."""

RANGES: Mapping[str, Mapping[str, Any]] = {
    "negative": {"low": -40, "high": 1},  # whole numbers
    "large": {"low": 9000.0, "high": 11000.0},
    "lowest": {"low": -11000.0, "high": -9000.0},
    "tiny": {"scale": 1e-4},
}
_VECTORS, _MATRIX = (61, 5001, 700), (200, 300, 130)
_FEW = 5  # heads, pictures, filters: sizes up to this stay as they are


def hard_cases(cases: Sequence[Case], ranges: Sequence[str]) -> tuple[Case, ...]:
    """A large case, and one for each of the ``ranges`` of values; none for arguments that are not declared by sizes."""
    cases = [
        one for one in cases if all(isinstance(maker, Made) for maker in one.arguments.values() if callable(maker))
    ]
    base = _base(cases)
    if base is None:
        return ()
    made = _large(base, cases)
    valued = (_ranged(base, RANGES[name]) for name in ranges)
    return (*made, *(one for one in valued if one is not None))


def _tensors(one: Case) -> dict[str, Made]:
    return {name: maker for name, maker in one.arguments.items() if isinstance(maker, Made)}


def _base(cases: Sequence[Case]) -> Case | None:
    """The declared case with the most different sizes: those that are equal in it are equal in all.

    Of these cases one whose sizes fill no blocks, and whose values and layout are not special.
    """
    there = [one for one in cases if _tensors(one) and all(math.prod(made.shape) for made in _tensors(one).values())]
    return max(there, key=lambda one: (len(_sizes(one)), _odd_sizes(one), _is_plain(one)), default=None)


def _odd_sizes(one: Case) -> int:
    """How many sizes do not fill their blocks."""
    return sum(size & (size - 1) != 0 for size in _sizes(one))


def _is_plain(one: Case) -> bool:
    return all(
        made.layout == "close" and made.low is None and made.scale == 1.0 and made.dtype != "float16"
        for made in _tensors(one).values()
    )


def _places(one: Case) -> Iterator[tuple[Place, int]]:
    for name, made in _tensors(one).items():
        yield from (((name, axis), size) for axis, size in enumerate(made.shape))


def _sizes(one: Case) -> list[int]:
    """The different sizes of a case, in their order."""
    return list(dict.fromkeys(size for _, size in _places(one)))


def _large(base: Case, cases: Sequence[Case]) -> tuple[Case, ...]:
    declared: dict[Place, list[int]] = {}
    for one in cases:
        for place, size in _places(one):
            declared.setdefault(place, []).append(size)
    grown = {size: size for size in _sizes(base)}
    vectors = all(len(made.shape) == 1 for made in _tensors(base).values())
    fixed = {size for place, size in _places(base) if _stays(declared[place])}
    pool = _VECTORS if vectors else _MATRIX
    new = iter(pool[1:] if len(grown) - len(fixed) == 1 else pool)
    for size in grown:
        steps = [math.gcd(*(one for one in declared[place] if one > 1)) for place, at in _places(base) if at == size]
        if size not in fixed:
            step = math.lcm(*(one or 1 for one in steps))
            grown[size] = -(-next(new, size) // step) * step
    made = {
        name: _odd(replace(maker, shape=tuple(grown[size] for size in maker.shape)))
        for name, maker in _tensors(base).items()
    }
    if any(_as_large(one, made) for one in cases):
        return ()
    return (Case({**base.arguments, **made}, hard=True),)


def _as_large(one: Case, made: Mapping[str, Made]) -> bool:
    """Whether every size of a declared case is at least as large as in ``made``."""
    return all(
        have >= want
        for name, maker in _tensors(one).items()
        for have, want in zip(maker.shape, made[name].shape, strict=True)
    )


def _stays(sizes: Sequence[int]) -> bool:
    """Whether a size with these declared values is one that a kernel takes as a count or as a constant."""
    seen = {one for one in sizes if one}
    return max(seen, default=0) <= _FEW or (len(seen) > 1 and all(one >= 16 and one & (one - 1) == 0 for one in seen))


def _odd(made: Made) -> Made:
    """Whole numbers from the top of their declared range: sums of many of them are large, and none cancels."""
    low, high = made.low, made.high
    if isinstance(low, int) and isinstance(high, int) and high - low > 64:
        return replace(made, low=high - (high - low) // 8)
    return made


def _ranged(base: Case, values: Mapping[str, Any]) -> Case | None:
    """``base`` with such values instead of random ones; None if it has ranges of its own."""
    made = {
        name: replace(maker, **values)
        for name, maker in _tensors(base).items()
        if maker.low is None and maker.dtype == "float32"
    }
    return Case({**base.arguments, **made}, hard=True) if made else None
