"""What ptxas changes about accesses in PTX.

It turns atomics whose result is unused into reductions, merges equal loads, and delays loads until a branch shows
that they are needed. The cubin says which line of PTX each instruction of the machine code was made from. Without the
machine code's text (its disassembler may be missing), rules decide, which the tests compare with ptxas.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from triton_lab.compiled.lines.cubin_lines import lines_of_ptx
from triton_lab.compiled.lines.sass_lines import functions
from triton_lab.compiled.transactions.ptx_parser import Instruction, Ptx

_OPCODE = re.compile(r"\t(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
_BRANCH = re.compile(r"\t@!?U?P\w+\s+BRA\b")
_GLOBAL = re.compile(r"(?:LDG|STG|LDGSTS|ATOM|ATOMG|RED|REDG|LD|ST)\b")
_GIVES_BACK = {"acquire", "acq_rel", "exch", "cas", "f16", "bf16"}  # atomics with these words are never `red`
_WRITES = ("st", "red", "bra", "bar", "ret", "cp")  # the first operand of all others is the register they set


@dataclass(frozen=True, eq=False)
class PtxasCode:
    """What the machine code has for lines of PTX.

    ``made`` has the machine code's opcodes on global memory, by line of PTX; empty without its text. ``behind`` are
    the lines of PTX whose instructions all stand behind a branch that follows them in PTX, at the end of the same
    block.
    """

    ptx: Ptx
    made: Mapping[int, tuple[str, ...]]
    behind: frozenset[int] = frozenset()

    @classmethod
    def of(cls, ptx: Ptx, stages: Mapping[str, Any]) -> PtxasCode:
        """The code for the ``stages`` of a compilation, whose PTX is ``ptx``."""
        sass, cubin = stages.get("sass"), stages.get("cubin")
        if not isinstance(sass, str) or not isinstance(cubin, bytes):
            return cls(ptx, {})
        made: dict[int, tuple[str, ...]] = {}
        early: set[int] = set()  # at least one instruction stands where PTX has it
        block = {one.line: one.block for one in ptx.instructions}
        told, lines = lines_of_ptx(cubin), sass.split("\n")
        for name, numbers in functions(lines):
            known = told.get(name, [])
            if len(known) != len(numbers):
                return cls(ptx, {})
            branch, before = 0, numbers[0] if numbers else 0  # the PTX line of the last branch passed
            for number, line in zip(numbers, known, strict=True):
                labelled = number > before + 1  # a label: other blocks may enter here
                branch, before = 0 if labelled else branch, number
                if _BRANCH.search(lines[number]):
                    branch = line
                found = _OPCODE.search(lines[number])
                if found and _GLOBAL.match(found[1]):
                    made[line] = (*made.get(line, ()), found[1])
                    if not (line < branch and block.get(line) == block.get(branch)):
                        early.add(line)
        return cls(ptx, made, frozenset(set(made) - early))

    @cached_property
    def _read(self) -> frozenset[str]:
        """The registers that any instruction reads."""
        found: set[str] = set()
        for one in self.ptx.instructions:
            first = 0 if one.opcode.startswith(_WRITES) else 1
            found.update(re.findall(r"%\w+", " ".join(one.operands[first:])))
            found.update([one.guard[0]] if one.guard else [])
        return frozenset(found)

    def reduces(self, one: Instruction) -> bool:
        """Whether an atomic operation returns no value: RED, not ATOM, in the machine code."""
        if one.parts[0] not in ("atom", "red"):
            return False
        if self.made:
            return any(opcode.startswith("RED") for opcode in self.made.get(one.line, ()))
        answer = set(re.findall(r"%\w+", one.operands[0])) if one.parts[0] == "atom" else set()
        return not answer & self._read and not _GIVES_BACK & set(one.parts)

    def merged(self, one: Instruction) -> bool:
        """Whether a load has no instruction of its own, because another in the same straight run loads the same."""
        if one.parts[0] != "ld" or one.line in self.made:
            return False
        return any(other.line in self.made for other in self._alike.get(_asks(one), ()))

    def waits(self, one: Instruction) -> bool:
        """Whether a load runs only if a branch that follows it in PTX is not taken."""
        return one.parts[0] == "ld" and one.line in self.behind

    @cached_property
    def _alike(self) -> Mapping[Any, list[Instruction]]:
        found: dict[Any, list[Instruction]] = {}
        for one in self.ptx.instructions:
            if one.parts[0] == "ld":
                found.setdefault(_asks(one), []).append(one)
        return found


def _asks(one: Instruction) -> tuple[Any, ...]:
    return one.block, one.opcode, one.operands[1:], one.guard
