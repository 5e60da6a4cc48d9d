"""Hard cases, made from those that an exercise declares: large odd sizes, and values that random numbers seldom have.

A declared case says how sizes depend on each other: sizes that are equal there stay equal. A size that is a multiple of
a number in all declared cases stays a multiple of it, powers of two and small counts stay as they are. Layouts,
dtypes and declared ranges are those of the declared cases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from triton_lab.course.cases import Case, Made

if TYPE_CHECKING:
    import torch

Place = tuple[str, int]
"""An argument, and an axis of it."""

RANGES: Mapping[str, Mapping[str, Any]] = {
    "negative": {"low": -40, "high": 1},  # whole numbers
    "large": {"low": 9000.0, "high": 11000.0},
    "lowest": {"low": -11000.0, "high": -9000.0},
    "tiny": {"scale": 1e-4},
}
_VECTORS, _MATRIX = (61, 5001, 700), (200, 300, 130)
_LONG = 8201  # wider than the widest block that is written down as a number
_TINY = (3, 2, 4)  # the other sizes of a long case
_PEAKS = 120, -120
_FEW = 5  # heads, pictures, filters: sizes up to this stay as they are


@dataclass(frozen=True)
class _Peaked(Made):
    """A maker of whole numbers that end with the largest and the smallest along each axis.

    Their sums have no rounding, in whatever order; and what leaves out the end of a long row misses its extremes.
    """

    low: float | None = -9
    high: float | None = 10

    def __call__(self, generator: torch.Generator) -> torch.Tensor:
        values = super().__call__(generator)
        for axis in range(values.dim() if self.layout != "spread" else 0):
            for place, peak in zip((-1, -2), _PEAKS, strict=True):
                if values.shape[axis] > 4:
                    values.select(axis, place).fill_(peak)
        return values


def hard_cases(cases: Sequence[Case], ranges: Sequence[str]) -> tuple[Case, ...]:
    """A large case, long ones, and one for each of the ``ranges`` of values; none for arguments that have no sizes."""
    cases = [
        one for one in cases if all(isinstance(maker, Made) for maker in one.arguments.values() if callable(maker))
    ]
    base = _base(cases)
    if base is None:
        return ()
    made = _large(base, cases)
    valued = (_ranged(base, RANGES[name]) for name in ranges)
    return (*made, *_long(base, cases), *(one for one in valued if one is not None))


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


def _declared(cases: Sequence[Case]) -> dict[Place, list[int]]:
    """The declared sizes at each place."""
    declared: dict[Place, list[int]] = {}
    for one in cases:
        for place, size in _places(one):
            declared.setdefault(place, []).append(size)
    return declared


def _free(base: Case, declared: Mapping[Place, list[int]]) -> dict[int, int]:
    """The sizes of ``base`` that may be any multiple of a number, with this number."""
    fixed = {size for place, size in _places(base) if _stays(declared[place])}
    found: dict[int, int] = {}
    for place, size in _places(base):
        if size not in fixed:
            step = math.gcd(*(one for one in declared[place] if one > 1)) or 1
            found[size] = math.lcm(found.get(size, 1), step)
    return found


def _resized(base: Case, sizes: Mapping[int, int]) -> dict[str, Made]:
    """The makers of ``base`` with other sizes."""
    return {
        name: replace(maker, shape=tuple(sizes.get(size, size) for size in maker.shape))
        for name, maker in _tensors(base).items()
    }


def _large(base: Case, cases: Sequence[Case]) -> tuple[Case, ...]:
    free = _free(base, _declared(cases))
    vectors = all(len(made.shape) == 1 for made in _tensors(base).values())
    pool = _VECTORS if vectors else _MATRIX
    new = iter(pool[1:] if len(free) == 1 else pool)
    sizes = {size: _multiple(next(new, size), free[size]) for size in _sizes(base) if size in free}
    made = {name: _odd(maker) for name, maker in _resized(base, sizes).items()}
    as_large = next((one for one in cases if _as_large(one, made)), None)
    if as_large is not None:
        return (replace(as_large, hard=True),)
    return (Case({**base.arguments, **made}, hard=True),)


def _long(base: Case, cases: Sequence[Case]) -> Iterator[Case]:
    """A case for each size of a matrix: it is large there, and all others are tiny. One program may do all the work.

    None if a plain argument is a whole number, which may depend on the sizes.
    """
    declared = _declared(cases)
    free = _free(base, declared)
    plain = (value for value in base.arguments.values() if not callable(value))
    if len(free) < 2 or any(type(value) is int for value in plain):
        return
    for long in free:
        if any(size >= _LONG for place, at in _places(base) if at == long for size in declared[place]):
            continue
        tiny = iter(_TINY)
        sizes = {size: _multiple(_LONG if size == long else next(tiny, size), step) for size, step in free.items()}
        made = {
            name: _Peaked(maker.shape, maker.dtype, maker.layout) if maker.low is None else maker
            for name, maker in _resized(base, sizes).items()
        }
        yield Case({**base.arguments, **made}, hard=True, shared=False)


def _multiple(size: int, step: int) -> int:
    """The smallest multiple of ``step`` that is at least ``size``."""
    return -(-size // step) * step


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
