"""Finds the TTGIR operation and the instructions that an access of a recorded launch became.

They match by place in the source, with the places of all calls around it. (The PTX of Triton 3.6 has no calls: there
the innermost place must do.) A pipelined loop has several operations for one access: those before the loop fetch its
first iterations.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from triton_lab.compiled.transactions.ptx_parser import Chain, Instruction
from triton_lab.compiled.transactions.ptxas_code import PtxasCode
from triton_lab.compiled.transactions.ttgir_accesses import GpuAccess, gpu_accesses
from triton_lab.ir import Op, Plan
from triton_lab.launch.access import Access

_MOVES = re.compile(r"(ld|st|atom|red|cp\.async)\.(?:[\w:]+\.)*?(?:shared\.)?global\b")
_FAMILIES = {
    "load": ("ld",),
    "store": ("st",),
    "async copy": ("cp.async",),
    "atomic": ("atom", "red", "ld", "st"),
    "descriptor": (),
}


@dataclass(frozen=True, eq=False)
class Joined:
    """An access and what it became.

    ``operation`` is None where the compiler left it out. ``copies`` is how many more operations a pipelined loop has
    before it; ``once``: the operation was hoisted out of its loop. ``instructions`` are its instructions in PTX,
    empty where no place matches; ``reduces``: in the machine code they return nothing; ``merged``: those that ptxas
    leaves out, because another load reads the same; ``waits``: ptxas delays loads until a branch shows whether they
    are needed.
    """

    access: Access
    operation: GpuAccess | None
    copies: int
    once: bool
    instructions: tuple[Instruction, ...]
    reduces: bool = False
    merged: tuple[bool, ...] = ()
    waits: bool = False

    @property
    def opcode(self) -> str:
        """PTX's opcode for the access: ``ld``, ``st``, ``atom``, ``red``, ``cp.async``; "" where unknown.

        An ``atom`` that returns nothing in the machine code is a ``red``.
        """
        if self.reduces:
            return "red"
        found = family(self.instructions[0]) if self.instructions else ""
        return "atom" if found == "red" else found


def family(one: Instruction) -> str:
    """The first words of an instruction on global memory; "" for others."""
    found = _MOVES.match(one.opcode)
    return found[1] if found else ""


def chain_of(op: Op) -> Chain:
    """The place of an operation of the plan, then the places of its callers."""
    return tuple((one.line, one.column) for one in op.location.frames()) if op.location else ()


def joined(
    plan: Plan, accesses: Sequence[Access], depths: Mapping[int, int], ttgir: str, machine: PtxasCode
) -> list[Joined]:
    """Each access with its operation and instructions, in order; ``depths``: the loops around the plan's operations."""
    places = {op.index: chain_of(op) for op in plan.walk()}
    made: dict[Chain, list[GpuAccess]] = defaultdict(list)
    for one in gpu_accesses(ttgir):
        made[one.chain].append(one)
    code: dict[Chain, list[Instruction]] = defaultdict(list)
    for instruction in machine.ptx.instructions:
        if family(instruction):
            code[instruction.chain].append(instruction)
    alike: dict[Chain, list[Access]] = defaultdict(list)
    for access in accesses:
        alike[places[access.op]].append(access)
    found = {
        one.access.op: one
        for chain, group in alike.items()
        for one in _of_place(group, made.get(chain, []), code.get(chain) or code.get(chain[:1], []), depths, machine)
    }
    return [found[access.op] for access in accesses]


def _of_place(
    accesses: Sequence[Access],
    made: Sequence[GpuAccess],
    code: Sequence[Instruction],
    depths: Mapping[int, int],
    machine: PtxasCode,
) -> Iterator[Joined]:
    """The matches at one place: several where a helper's loop was unrolled, in the order of the text."""
    deepest = max((one.depth for one in made), default=0)
    inner = [one for one in made if one.depth == deepest]
    parts = dict(zip(map(id, made), _dealt_out(made, code), strict=True))
    for number, access in enumerate(accesses):
        if not inner:
            yield Joined(access, None, 0, False, ())
            continue
        operation = inner[min(number, len(inner) - 1)]
        mine = tuple(parts[id(operation)])
        yield Joined(
            access,
            operation,
            (len(made) - len(inner)) // len(accesses),
            operation.depth == 0 < depths.get(access.op, 0),
            mine,
            bool(mine) and all(machine.reduces(one) for one in mine),
            tuple(machine.merged(one) for one in mine),
            any(machine.waits(one) for one in mine),
        )


def _dealt_out(made: Sequence[GpuAccess], code: Sequence[Instruction]) -> Iterator[list[Instruction]]:
    """The instructions of each operation: equal shares in order where possible, else all of them."""
    for one in made:
        families = _FAMILIES[one.way]
        same = [each for each in made if each.way == one.way]
        mine = [each for each in code if family(each) in families]
        share = len(mine) // len(same)
        if share * len(same) == len(mine) and len({each.linear for each in same}) == 1:
            place = [id(each) for each in same].index(id(one))
            yield mine[place * share : (place + 1) * share]
        else:
            yield mine
