"""The values of PTX's registers in each thread of a program, as far as they depend on the thread's number.

Addresses in shared memory nearly always do: so an instruction's bank conflicts come from its real addresses, however
the compiler computed them.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Mapping

import numpy as np

from triton_lab.compiled.transactions.ptx_parser import Instruction
from triton_lab.compiled.transactions.ptx_rules import LANES, RULES, KnownRegister, Value, join

_PASSES = 12


def evaluated(instructions: Iterable[Instruction], threads: int, wanted: Iterable[str]) -> dict[str, Value]:
    """The values of the registers ``wanted`` and of all they are computed from, in one function's ``instructions``.

    For a register that is set in several places, the result is what all these values share.
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
                after = join(before, value) if each in found else value
                if turn == _PASSES - 1 and not _equal(before, after):
                    after = None
                changed |= each not in found or not _equal(before, after)
                found[each] = after
        if not changed:
            break
    return found


def operand(text: str, found: Mapping[str, Value], threads: int) -> Value:
    """An operand's value, or the address in brackets: ``%r1``, ``512``, ``[%r24+16]``, ``global_smem``."""
    value = _operand(text, found, _special(threads), threads)
    return None if isinstance(value, str) else value


@functools.lru_cache(maxsize=8)  # for each operand of an instruction; 7 microseconds
def _special(threads: int) -> Mapping[str, KnownRegister]:
    number = np.arange(threads, dtype=np.int64)
    anything = KnownRegister(np.zeros(threads, np.int64), 1)
    return {
        "%tid.x": KnownRegister(number),
        "%tid.y": KnownRegister(number * 0),
        "%tid.z": KnownRegister(number * 0),
        "%ntid.x": KnownRegister(number * 0 + threads),
        "%laneid": KnownRegister(number % LANES),
        "%warpid": KnownRegister(number // LANES),
        **{f"%{name}.{axis}": anything for name in ("ctaid", "nctaid", "clusterid") for axis in "xyz"},
        "%cluster_ctarank": anything,
    }


def _set_by(one: Instruction) -> list[str]:
    """The registers that an instruction sets; of several (a vector, a shuffle), the first has the result."""
    if not one.operands or one.opcode.startswith(("st.", "bra", "red.", "cp.", "bar", "ret", "stmatrix", "wgmma")):
        return []
    return re.findall(r"%\w+", one.operands[0])


def _read_by(one: Instruction) -> list[str]:
    if one.opcode.startswith(("ld", "atom")):
        return []
    return re.findall(r"%\w+", " ".join([*one.operands[1:], *([one.guard[0]] if one.guard else [])]))


def _operand(text: str, found: Mapping[str, Value], special: Mapping[str, KnownRegister], threads: int) -> Value | str:
    """Like `operand`, but returns the register's name where its value is not computed yet."""
    text = text.strip().strip("[]").strip()
    total: KnownRegister = KnownRegister(np.zeros(threads, np.int64))
    for part in re.split(r"\s*\+\s*(?=[-\w%$])", text):
        value: Value | str
        if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?", part):
            value = KnownRegister(np.full(threads, int(part.rstrip("U"), 0), np.int64))
        elif part in special:
            value = special[part]
        elif part.startswith("%"):
            value = found.get(part, part)
        elif re.fullmatch(r"[A-Za-z_$]\w*", part) and not re.match(r"0[fFdD]", part):
            value = KnownRegister(np.zeros(threads, np.int64))  # a variable in shared memory begins at 0
        else:
            value = None
        if not isinstance(value, KnownRegister):
            return value
        total = KnownRegister(total.values + value.values, math.gcd(total.step, value.step))
    return total


def _result(
    one: Instruction, found: Mapping[str, Value], special: Mapping[str, KnownRegister], threads: int
) -> Value | str:
    """The value that an instruction leaves in its register; a name if an operand has no value yet."""
    name, *words = one.parts
    anything = KnownRegister(np.zeros(threads, np.int64), 1)
    if name == "ld":
        return anything if "param" in words else None
    if name == "elect":
        return KnownRegister((np.arange(threads) % LANES == 0).astype(np.int64))
    rule = RULES.get(name)
    if rule is None:
        return None
    given: list[KnownRegister] = []
    for text in one.operands[1:]:
        value = None if text.startswith("{") else _operand(text, found, special, threads)
        if isinstance(value, str):
            return value
        if value is None:
            return None
        given.append(value)
    return rule(words, given)


def _equal(a: Value, b: Value) -> bool:
    return a is b or (a is not None and b is not None and a.same(b))
