"""What ptxas made of accesses in PTX: it has an atomic operation give nothing back, and makes one of loads alike.

The cubin says which line of PTX each instruction of the machine code was made from. Where there is no text of the
machine code (the tool that writes it is not there), rules do, which the tests hold against ptxas.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from triton_lab.compiled.lines.cubin import lines_of_ptx
from triton_lab.compiled.lines.machine import functions
from triton_lab.compiled.transactions.ptx import Instruction, Ptx

_OPCODE = re.compile(r"\t(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
_GLOBAL = re.compile(r"(?:LDG|STG|LDGSTS|ATOM|ATOMG|RED|REDG|LD|ST)\b")
_GIVES_BACK = {"acquire", "acq_rel", "exch", "cas", "f16", "bf16"}  # atomics with these words are never `red`
_WRITES = ("st", "red", "bra", "bar", "ret", "cp")  # the first operand of others is the register that they set


@dataclass(frozen=True, eq=False)
class Machine:
    """``made`` has by line of PTX the opcodes of the machine code on global memory; empty where there is no text of
    it."""

    ptx: Ptx
    made: Mapping[int, tuple[str, ...]]

    @classmethod
    def of(cls, ptx: Ptx, stages: Mapping[str, Any]) -> Machine:
        """Of the ``stages`` of a compilation, whose PTX is ``ptx``."""
        sass, cubin = stages.get("sass"), stages.get("cubin")
        if not isinstance(sass, str) or not isinstance(cubin, bytes):
            return cls(ptx, {})
        made: dict[int, tuple[str, ...]] = {}
        told, lines = lines_of_ptx(cubin), sass.split("\n")
        for name, numbers in functions(lines):
            known = told.get(name, [])
            if len(known) != len(numbers):
                return cls(ptx, {})
            for number, line in zip(numbers, known, strict=True):
                found = _OPCODE.search(lines[number])
                if found and _GLOBAL.match(found[1]):
                    made[line] = (*made.get(line, ()), found[1])
        return cls(ptx, made)

    @cached_property
    def _read(self) -> frozenset[str]:
        """The registers that some instruction reads."""
        found: set[str] = set()
        for one in self.ptx.instructions:
            first = 0 if one.opcode.startswith(_WRITES) else 1
            found.update(re.findall(r"%\w+", " ".join(one.operands[first:])))
            found.update([one.guard[0]] if one.guard else [])
        return frozenset(found)

    def reduces(self, one: Instruction) -> bool:
        """Whether an atomic operation asks memory for no answer: RED, and not ATOM, in the machine code."""
        if one.parts[0] == "red":
            return True
        if one.parts[0] != "atom":
            return False
        if self.made:
            return any(opcode.startswith("RED") for opcode in self.made.get(one.line, ()))
        answer = set(re.findall(r"%\w+", one.operands[0]))
        return not answer & self._read and not _GIVES_BACK & set(one.parts)

    def merged(self, one: Instruction) -> bool:
        """Whether a load has no instruction of its own, as another of the same straight run asks for the same."""
        if one.parts[0] != "ld" or one.line in self.made:
            return False
        return any(other.line in self.made for other in self._alike.get(_asks(one), ()))

    @cached_property
    def _alike(self) -> Mapping[Any, list[Instruction]]:
        found: dict[Any, list[Instruction]] = {}
        for one in self.ptx.instructions:
            if one.parts[0] == "ld":
                found.setdefault(_asks(one), []).append(one)
        return found


def _asks(one: Instruction) -> tuple[Any, ...]:
    return one.block, one.opcode, one.operands[1:], one.guard
