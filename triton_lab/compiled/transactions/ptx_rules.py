"""Rules of PTX's instructions: the value that each leaves in a register, thread by thread, from its operands.

A value is exact, or known up to a multiple of `KnownRegister.step` that all threads share (where a program's number,
an argument or a loop's iteration went in), or unknown: None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
LANES = 32
_WORD = (1 << 32) - 1


@dataclass(frozen=True, eq=False)
class KnownRegister:
    """``values[t]`` of thread t, exact with a ``step`` of 0; else plus a multiple of it that all threads share."""

    values: Ints
    step: int = 0

    @property
    def alike(self) -> bool:
        """Whether all threads hold the same value."""
        return bool((self.values == self.values[0]).all())

    def same(self, other: KnownRegister) -> bool:
        """Whether both hold the same values with the same step."""
        return self.step == other.step and bool((self.values == other.values).all())


Value: TypeAlias = "KnownRegister | None"


Rule: TypeAlias = Callable[[list[str], list[KnownRegister]], Value]


def _low(step: int) -> int:
    """The largest power of two that divides a step; for 0, more than any address has."""
    return step & -step if step else 1 << 62


def _copy(words: list[str], given: list[KnownRegister]) -> Value:
    return given[0] if given else None


def _add(words: list[str], given: list[KnownRegister]) -> Value:
    return KnownRegister(given[0].values + given[1].values, math.gcd(given[0].step, given[1].step))


def _subtract(words: list[str], given: list[KnownRegister]) -> Value:
    return KnownRegister(given[0].values - given[1].values, math.gcd(given[0].step, given[1].step))


def _multiply(words: list[str], given: list[KnownRegister]) -> Value:
    a, b = given[:2]
    if "hi" in words:
        return _opaque(given)
    if a.step and b.step:
        return _opaque([a, b])
    if b.step:
        a, b = b, a
    if a.step and not b.alike:
        return None
    return KnownRegister(a.values * b.values, a.step * abs(int(b.values[0])) if a.step else 0)


def _multiply_add(words: list[str], given: list[KnownRegister]) -> Value:
    product = _multiply(words, given[:2])
    return None if product is None else _add(words, [product, given[2]])


def _left(words: list[str], given: list[KnownRegister]) -> Value:
    a, by = given
    if by.step or (a.step and not by.alike):
        return _opaque(given)
    return KnownRegister(a.values << by.values, a.step << int(by.values[0]) if a.step else 0)


def _right(words: list[str], given: list[KnownRegister]) -> Value:
    a, by = given
    if by.step:
        return _opaque(given)
    values = a.values & _WORD if words[0][0] in "ub" and words[0].endswith("32") and not a.step else a.values
    if not a.step:
        return KnownRegister(values >> by.values)
    width = int(by.values[0])
    if by.alike and _low(a.step) >= 1 << width and a.step % (1 << width) == 0:
        return KnownRegister(a.values >> width, a.step >> width)
    return _opaque(given)


def _bitwise(combine: Callable[[Ints, Ints], Ints], is_and: bool) -> Rule:
    """The rule for ``and``, ``or``, ``xor``. Bits below the step are known.

    The bits above stay, become zero, or are equal in all threads.
    """

    def rule(words: list[str], given: list[KnownRegister]) -> Value:
        a, b = given
        if not a.step and not b.step:
            return KnownRegister(combine(a.values, b.values))
        low = min(_low(a.step), _low(b.step))
        known = combine(a.values & (low - 1), b.values & (low - 1))
        if a.step and b.step:
            return KnownRegister(known, low) if _alike_above(a, low) and _alike_above(b, low) else None
        loose, exact = (a, b) if a.step else (b, a)
        mask = exact.values & -low
        if not mask.any():
            return KnownRegister(known) if is_and else KnownRegister(known + (loose.values & -low), loose.step)
        if is_and and (mask == -low).all():
            return KnownRegister(known + (loose.values & -low), loose.step)
        if not _alike_above(loose, low) or not _alike_above(exact, low):
            return None
        return KnownRegister(known, max(low, _low(int(mask[0]))) if is_and else low)

    return rule


def _alike_above(value: KnownRegister, low: int) -> bool:
    above = value.values & -low
    return bool((above == above[0]).all())


def _invert(words: list[str], given: list[KnownRegister]) -> Value:
    if given[0].step:
        return _opaque(given)
    return KnownRegister(1 - given[0].values if words[0] == "pred" else ~given[0].values)


def _extract(words: list[str], given: list[KnownRegister]) -> Value:
    a, start, width = given
    if start.step or width.step:
        return None
    moved = _right(["u32"] if "u32" in words else ["s64"], [a, start])
    if moved is None:
        return None
    return _bitwise(np.bitwise_and, True)(words, [moved, KnownRegister((np.int64(1) << width.values) - 1)])


def _insert(words: list[str], given: list[KnownRegister]) -> Value:
    if any(one.step for one in given):
        return _opaque(given)
    a, b, start, width = (one.values for one in given)
    mask = ((np.int64(1) << width) - 1) << start
    return KnownRegister((b & ~mask) | (a << start & mask))


def _choose(words: list[str], given: list[KnownRegister]) -> Value:
    a, b, which = given
    if not which.step:
        if a.step or b.step:
            return a if which.values.all() else b if not which.values.any() else None
        return KnownRegister(np.where(which.values != 0, a.values, b.values))
    return join(a, b)


_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "hi": np.greater,
    "ls": np.less_equal,
    "hs": np.greater_equal,
}


def _compare(words: list[str], given: list[KnownRegister]) -> Value:
    if len(given) != 2 or words[0] not in _COMPARE or words[-1][0] == "f":
        return None
    if any(one.step for one in given):
        return _opaque(given)
    a, b = (one.values & _WORD if words[-1] == "u32" else one.values for one in given)
    return KnownRegister(_COMPARE[words[0]](a, b).astype(np.int64))


def _shuffle(words: list[str], given: list[KnownRegister]) -> Value:
    if words[:2] != ["sync", "idx"] or len(given[0].values) % LANES or given[1].step:
        return None
    by_warp = given[0].values.reshape(-1, LANES)
    lanes = given[1].values.reshape(-1, LANES) % LANES
    return KnownRegister(np.take_along_axis(by_warp, lanes, 1).reshape(-1), given[0].step)


def _exactly(compute: Callable[..., Ints]) -> Rule:
    def rule(words: list[str], given: list[KnownRegister]) -> Value:
        if any(one.step for one in given):
            return _opaque(given)
        try:
            with np.errstate(all="ignore"):
                return KnownRegister(np.asarray(compute(*(one.values for one in given)), np.int64))
        except (ValueError, TypeError):
            return None

    return rule


def _opaque(given: list[KnownRegister]) -> Value:
    """The result that all threads compute from equal operands; else nothing is known."""
    return KnownRegister(np.zeros_like(given[0].values), 1) if all(one.alike for one in given) else None


RULES: Mapping[str, Rule] = {
    "mov": _copy,
    "cvt": _copy,
    "cvta": _copy,
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "mul24": _multiply,
    "mad": _multiply_add,
    "shl": _left,
    "shr": _right,
    "and": _bitwise(np.bitwise_and, True),
    "or": _bitwise(np.bitwise_or, False),
    "xor": _bitwise(np.bitwise_xor, False),
    "not": _invert,
    "bfe": _extract,
    "bfi": _insert,
    "selp": _choose,
    "setp": _compare,
    "shfl": _shuffle,
    "min": _exactly(np.minimum),
    "max": _exactly(np.maximum),
    "neg": _exactly(np.negative),
    "abs": _exactly(np.abs),
    "div": _exactly(lambda a, b: np.where(b == 0, 0, a // np.where(b == 0, 1, b))),
    "rem": _exactly(lambda a, b: np.where(b == 0, 0, a % np.where(b == 0, 1, b))),
}


def join(a: Value, b: Value) -> Value:
    """What holds for both values."""
    if a is None or b is None:
        return None
    apart = b.values - a.values
    if (apart != apart[0]).any():
        return None
    return KnownRegister(a.values, math.gcd(math.gcd(a.step, b.step), abs(int(apart[0]))))
