"""What PTX's registers hold in each thread of a program, as far as the thread's number decides it.

Addresses in shared memory nearly always do: so the bank conflicts of an instruction are those of its real addresses,
whatever way the compiler went. A value is known up to a number that is alike in all threads and a multiple of
`Known.step` - where a program's number, an argument or the turn of a loop went in - or it is not known, which is None.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triton_lab.compiled.transactions.ptx import Instruction

Ints: TypeAlias = NDArray[np.int64]
_PASSES = 12
_LANES = 32
_WORD = (1 << 32) - 1


@dataclass(frozen=True, eq=False)
class Known:
    """``values[t]`` of thread t; with a ``step`` of 0 exactly, else plus a multiple of it that all threads share."""

    values: Ints
    step: int = 0

    @property
    def alike(self) -> bool:
        """Whether all threads hold the same."""
        return bool((self.values == self.values[0]).all())

    def same(self, other: Known) -> bool:
        return self.step == other.step and bool((self.values == other.values).all())


Value: TypeAlias = "Known | None"


def evaluated(instructions: Iterable[Instruction], threads: int, wanted: Iterable[str]) -> dict[str, Value]:
    """The registers ``wanted`` and all that they come from, of one function's ``instructions``.

    A register that is set in several places holds what they have in common.
    """
    setting: dict[str, list[Instruction]] = {}
    for one in instructions:
        for name in _set_by(one):
            setting.setdefault(name, []).append(one)
    needed, waiting = set(), [name for name in wanted if name in setting]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += [each for one in setting[name] for each in _read_by(one) if each in setting]
    order = sorted({one.index: one for name in needed for one in setting[name]}.items())
    found: dict[str, Value] = {}
    special = _special(threads)
    for turn in range(_PASSES):
        changed = False
        for _, one in order:
            value = _result(one, found, special, threads)
            if isinstance(value, str):  # what it reads is not known yet
                continue
            for place, each in enumerate(_set_by(one)):
                if place:
                    value = None
                before = found.get(each, value)
                after = _join(before, value) if each in found else value
                if turn == _PASSES - 1 and not _equal(before, after):
                    after = None
                changed |= each not in found or not _equal(before, after)
                found[each] = after
        if not changed:
            break
    return found


def operand(text: str, found: Mapping[str, Value], threads: int) -> Value:
    """What an operand holds, or the address in brackets: ``%r1``, ``512``, ``[%r24+16]``, ``global_smem``."""
    value = _operand(text, found, _special(threads), threads)
    return None if isinstance(value, str) else value


@functools.lru_cache(maxsize=8)
def _special(threads: int) -> Mapping[str, Known]:
    number = np.arange(threads, dtype=np.int64)
    anything = Known(np.zeros(threads, np.int64), 1)
    return {
        "%tid.x": Known(number),
        "%tid.y": Known(number * 0),
        "%tid.z": Known(number * 0),
        "%ntid.x": Known(number * 0 + threads),
        "%laneid": Known(number % _LANES),
        "%warpid": Known(number // _LANES),
        **{f"%{name}.{axis}": anything for name in ("ctaid", "nctaid", "clusterid") for axis in "xyz"},
        "%cluster_ctarank": anything,
    }


def _set_by(one: Instruction) -> list[str]:
    """The registers; of several (a vector, a shuffle's answer) the first has the result."""
    if not one.operands or one.opcode.startswith(("st.", "bra", "red.", "cp.", "bar", "ret", "stmatrix", "wgmma")):
        return []
    return re.findall(r"%\w+", one.operands[0])


def _read_by(one: Instruction) -> list[str]:
    if one.opcode.startswith(("ld", "atom")):
        return []
    return re.findall(r"%\w+", " ".join([*one.operands[1:], *([one.guard[0]] if one.guard else [])]))


def _operand(text: str, found: Mapping[str, Value], special: Mapping[str, Known], threads: int) -> Value | str:
    """`operand`; the text itself where it has not been worked out yet."""
    text = text.strip().strip("[]").strip()
    total: Known = Known(np.zeros(threads, np.int64))
    for part in re.split(r"\s*\+\s*(?=[-\w%$])", text):
        value: Value | str
        if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?", part):
            value = Known(np.full(threads, int(part.rstrip("U"), 0), np.int64))
        elif part in special:
            value = special[part]
        elif part.startswith("%"):
            value = found.get(part, part)
        elif re.fullmatch(r"[A-Za-z_$]\w*", part) and not re.match(r"0[fFdD]", part):
            value = Known(np.zeros(threads, np.int64))  # where a variable in shared memory begins
        else:
            value = None
        if not isinstance(value, Known):
            return value
        total = Known(total.values + value.values, math.gcd(total.step, value.step))
    return total


def _result(one: Instruction, found: Mapping[str, Value], special: Mapping[str, Known], threads: int) -> Value | str:
    """What an instruction leaves in its register; a name where something that it reads has no value yet."""
    name, *words = one.parts
    anything = Known(np.zeros(threads, np.int64), 1)
    if name == "ld":
        return anything if "param" in words else None
    if name == "elect":
        return Known((np.arange(threads) % _LANES == 0).astype(np.int64))
    rule = _RULES.get(name)
    if rule is None:
        return None
    given: list[Known] = []
    for text in one.operands[1:]:
        value = None if text.startswith("{") else _operand(text, found, special, threads)
        if isinstance(value, str):
            return value
        if value is None:
            return None
        given.append(value)
    return rule(words, given)


# --- Rules ------------------------------------------------------------------------------------------

Rule: TypeAlias = Callable[[list[str], list[Known]], Value]


def _low(step: int) -> int:
    """The largest power of two in a step; of 0 more than any address has."""
    return step & -step if step else 1 << 62


def _copy(words: list[str], given: list[Known]) -> Value:
    return given[0] if given else None


def _add(words: list[str], given: list[Known]) -> Value:
    return Known(given[0].values + given[1].values, math.gcd(given[0].step, given[1].step))


def _subtract(words: list[str], given: list[Known]) -> Value:
    return Known(given[0].values - given[1].values, math.gcd(given[0].step, given[1].step))


def _multiply(words: list[str], given: list[Known]) -> Value:
    a, b = given[:2]
    if "hi" in words:
        return _opaque(given)
    if a.step and b.step:
        return _opaque([a, b])
    if b.step:
        a, b = b, a
    if a.step and not b.alike:
        return None
    return Known(a.values * b.values, a.step * abs(int(b.values[0])) if a.step else 0)


def _multiply_add(words: list[str], given: list[Known]) -> Value:
    product = _multiply(words, given[:2])
    return None if product is None else _add(words, [product, given[2]])


def _left(words: list[str], given: list[Known]) -> Value:
    a, by = given
    if by.step or (a.step and not by.alike):
        return _opaque(given)
    return Known(a.values << by.values, a.step << int(by.values[0]) if a.step else 0)


def _right(words: list[str], given: list[Known]) -> Value:
    a, by = given
    if by.step:
        return _opaque(given)
    values = a.values & _WORD if words[0][0] in "ub" and words[0].endswith("32") and not a.step else a.values
    if not a.step:
        return Known(values >> by.values)
    width = int(by.values[0])
    if by.alike and _low(a.step) >= 1 << width and a.step % (1 << width) == 0:
        return Known(a.values >> width, a.step >> width)
    return _opaque(given)


def _bitwise(combine: Callable[[Ints, Ints], Ints], is_and: bool) -> Rule:
    """``and``, ``or``, ``xor``. Below the steps bits are known; above they stay, go, or are alike in all threads."""

    def rule(words: list[str], given: list[Known]) -> Value:
        a, b = given
        if not a.step and not b.step:
            return Known(combine(a.values, b.values))
        low = min(_low(a.step), _low(b.step))
        known = combine(a.values & (low - 1), b.values & (low - 1))
        if a.step and b.step:
            return Known(known, low) if _alike_above(a, low) and _alike_above(b, low) else None
        loose, exact = (a, b) if a.step else (b, a)
        mask = exact.values & -low
        if not mask.any():
            return Known(known) if is_and else Known(known + (loose.values & -low), loose.step)
        if is_and and (mask == -low).all():
            return Known(known + (loose.values & -low), loose.step)
        if not _alike_above(loose, low) or not _alike_above(exact, low):
            return None
        return Known(known, max(low, _low(int(mask[0]))) if is_and else low)

    return rule


def _alike_above(value: Known, low: int) -> bool:
    above = value.values & -low
    return bool((above == above[0]).all())


def _invert(words: list[str], given: list[Known]) -> Value:
    if given[0].step:
        return _opaque(given)
    return Known(1 - given[0].values if words[0] == "pred" else ~given[0].values)


def _extract(words: list[str], given: list[Known]) -> Value:
    a, start, width = given
    if start.step or width.step:
        return None
    moved = _right(["u32"] if "u32" in words else ["s64"], [a, start])
    if moved is None:
        return None
    return _bitwise(np.bitwise_and, True)(words, [moved, Known((np.int64(1) << width.values) - 1)])


def _insert(words: list[str], given: list[Known]) -> Value:
    if any(one.step for one in given):
        return _opaque(given)
    a, b, start, width = (one.values for one in given)
    mask = ((np.int64(1) << width) - 1) << start
    return Known((b & ~mask) | (a << start & mask))


def _choose(words: list[str], given: list[Known]) -> Value:
    a, b, which = given
    if not which.step:
        if a.step or b.step:
            return a if which.values.all() else b if not which.values.any() else None
        return Known(np.where(which.values != 0, a.values, b.values))
    return _join(a, b)


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


def _compare(words: list[str], given: list[Known]) -> Value:
    if len(given) != 2 or words[0] not in _COMPARE or words[-1][0] == "f":
        return None
    if any(one.step for one in given):
        return _opaque(given)
    a, b = (one.values & _WORD if words[-1] == "u32" else one.values for one in given)
    return Known(_COMPARE[words[0]](a, b).astype(np.int64))


def _shuffle(words: list[str], given: list[Known]) -> Value:
    if words[:2] != ["sync", "idx"] or len(given[0].values) % _LANES or given[1].step:
        return None
    by_warp = given[0].values.reshape(-1, _LANES)
    lanes = given[1].values.reshape(-1, _LANES) % _LANES
    return Known(np.take_along_axis(by_warp, lanes, 1).reshape(-1), given[0].step)


def _exactly(compute: Callable[..., Ints]) -> Rule:
    def rule(words: list[str], given: list[Known]) -> Value:
        if any(one.step for one in given):
            return _opaque(given)
        try:
            with np.errstate(all="ignore"):
                return Known(np.asarray(compute(*(one.values for one in given)), np.int64))
        except (ValueError, TypeError):
            return None

    return rule


def _opaque(given: list[Known]) -> Value:
    """Something that all threads compute from the same; else nothing is known."""
    return Known(np.zeros_like(given[0].values), 1) if all(one.alike for one in given) else None


_RULES: Mapping[str, Rule] = {
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


def _join(a: Value, b: Value) -> Value:
    """What holds of both."""
    if a is None or b is None:
        return None
    apart = b.values - a.values
    if (apart != apart[0]).any():
        return None
    return Known(a.values, math.gcd(math.gcd(a.step, b.step), abs(int(apart[0]))))


def _equal(a: Value, b: Value) -> bool:
    return a is b or (a is not None and b is not None and a.same(b))
