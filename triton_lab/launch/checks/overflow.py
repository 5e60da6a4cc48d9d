"""Address arithmetic that does not fit its 32 bits: the offset wraps, and the pointer goes elsewhere.

Only operations that could leave their type at all, by the bounds of what they are made of, are looked
at; a launch without any is not replayed. Lanes that a mask turns off do not count, unless the mask
was computed from the offset that wrapped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from triton_lab.interpreter.errors import KernelError
from triton_lab.ir import Op
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.provenance import ACCESSES
from triton_lab.launch.checks.evidence import Evidence, Lanes
from triton_lab.launch.checks.fault import ROUNDS
from triton_lab.launch.checks.reach import Reach
from triton_lab.launch.checks.taint import Example, Taint
from triton_lab.launch.checks.words import finding, listed, others, program
from triton_lab.launch.finding import Finding
from triton_lab.launch.replay import CannotReplay, replay

_MEND = "Compute the offset in 64 bits: convert one factor first, as in row.to(tl.int64) * stride."
_SIGNS = {"arith.addi": "+", "arith.subi": "-", "arith.muli": "*", "arith.shli": "<<"}

# What an offset passes through on its way to a pointer. Not among them: bits that are masked out, shifted
# down or taken as unsigned remainders - so hashes are made, which wrap on purpose.
_ON_THE_WAY = frozenset(
    {
        *_SIGNS,
        "arith.extsi",
        "arith.extui",
        "arith.trunci",
        "arith.remsi",
        "arith.divsi",
        "arith.minsi",
        "arith.maxsi",
        "arith.select",
        "arith.index_cast",
        "tt.addptr",
        "tt.splat",
        "tt.broadcast",
        "tt.expand_dims",
        "tt.reshape",
        "tt.trans",
        "tt.join",
        "tt.cat",
        "tt.bitcast",
    }
)


def check(evidence: Evidence) -> Iterator[Finding]:
    """One for each operation that wraps and argument that is missed."""
    launch = evidence.launch
    if launch.snapshot is None:
        return
    suspects = _suspects(evidence)
    if not suspects:
        return
    try:
        taints = list(_replays(evidence, suspects))
    except CannotReplay:
        return
    by_place: dict[tuple[int, str], list[Lanes]] = {}
    examples: dict[tuple[int, int], Example] = {}
    for taint in taints:
        examples.update(taint.examples)
        for (origin, index), lanes in taint.reached.items():
            argument = evidence.owner(evidence.ops[index])
            by_place.setdefault((origin, "" if argument is None else argument.name), []).extend(lanes)
    for (origin, name), parts in sorted(by_place.items()):
        lanes_there, count = listed(parts), sum(len(part) for part in parts)
        number = int(lanes_there.program[0])
        shown = examples.get((origin, number)) or next(each for (op, _), each in examples.items() if op == origin)
        left, right, exact, wrapped, bits = shown
        op = evidence.ops[origin]
        found = finding(
            launch,
            "overflow",
            f"in {program(launch, number)} {left} {_SIGNS[op.name]} {right} = {exact} does not fit int{bits} and "
            f"becomes {wrapped}{others(count)}",
            _MEND,
            op=op,
            argument=launch.argument(name) if name else None,
            lanes=lanes_there,
            count=count,
        )
        wrapped_in = [examples.get((origin, number), shown)[3] for number in found.programs.tolist()]
        yield replace(found, values=np.array(wrapped_in, np.int64))


def _replays(evidence: Evidence, suspects: dict[int, bool]) -> Iterator[Taint]:
    """What the replay of all programs tells; where some fail, first what each of these was stopped for."""
    launch = evidence.launch
    left = np.arange(launch.programs)
    for _ in range(ROUNDS):
        taint = Taint(launch, suspects, _ON_THE_WAY)
        try:
            replay(launch, observer=taint, programs=left, strict=True)
        except KernelError as error:
            taint.failed(error)
            yield taint
            if error.programs is None or launch.executable.waiting_loops:
                return
            left = np.setdiff1d(left, error.programs)
        else:
            yield taint
            return


def _suspects(evidence: Evidence) -> dict[int, bool]:
    """The operations that feed addresses and may leave their type; whether they are taken as signed."""
    launch = evidence.launch
    flow = Flow.of(launch.executable.plan)
    reach = Reach(launch, flow)
    # The access that a launch failed at is not on its tape.
    pointers = [
        Value(flow.function_of[op.index], op.operands[ACCESSES[op.name]])
        for op in evidence.ops.values()
        if op.name in ACCESSES
    ]
    values = flow.behind(pointers, _passes)
    wide = {
        Value(value.function, maker.operands[0])
        for value in values
        if (maker := flow.maker.get(value)) is not None and maker.name == "arith.extui"
    }
    unsigned = flow.behind(wide, _passes) if wide else set()
    result = {}
    for value in values:
        op = flow.maker.get(value)
        if op is None or op.name not in _SIGNS or not 1 < reach.type(value).bits <= 32:
            continue
        exact = reach.unwrapped(op)
        bits = reach.type(value).bits
        signed = value not in unsigned
        least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        if exact is None or exact[0] < least or exact[1] > most:
            result[op.index] = signed
    return result


def _passes(op: Op) -> bool:
    return op.name in _ON_THE_WAY
