"""Finds arithmetic of offsets, lengths and coordinates that wraps because it does not fit its 32 bits.

Only values that decide addresses, masks and loop bounds are examined, and only operations that may leave their type, by
the bounds of their operands. A launch without any such operation is not replayed. Masked-off lanes do not count, unless
the mask was computed from a wrapped value.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.ir import Op, Plan, effects, traits
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.value_flow import decisive
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.integer_bounds import IntegerBounds, adds_up
from triton_lab.launch.checks.analysis.other_failures import ROUNDS
from triton_lab.launch.checks.analysis.overflow_taint import Taint
from triton_lab.launch.checks.analysis.stored_overflow import mixes, stored_suspects
from triton_lab.launch.checks.analysis.wrapping_integers import SIGNS, answers, passes
from triton_lab.launch.propagation.element_functions import inside_of_others
from triton_lab.launch.replay.replay_run import replay


def int32_watcher(evidence: Evidence) -> Taint | None:
    """The watcher for the running launch; None if nothing can wrap."""
    which = _all_suspects(evidence)
    return _taint(evidence, which) if which else None


def wraps(evidence: Evidence) -> list[Taint]:
    """The watchers after the launch, or after replays. Raises CannotReplay."""
    launch = evidence.launch
    seen = launch.watched.get("overflow")
    if isinstance(seen, Taint):
        if isinstance(launch.error, KernelError):
            seen.failed(launch.error)
        return [seen]
    which = _all_suspects(evidence)
    return list(_replays(evidence, which)) if which else []


def _all_suspects(evidence: Evidence) -> dict[int, bool]:
    return {**dict.fromkeys(evidence.once(stored_suspects), True), **suspects(evidence)}


def _taint(evidence: Evidence, which: dict[int, bool]) -> Taint:
    mixers = frozenset(index for index in which if mixes(evidence.launch, evidence.ops[index]))
    return Taint(evidence.launch, which, mixers, evidence.once(stored_suspects))


def _replays(evidence: Evidence, which: dict[int, bool]) -> Iterator[Taint]:
    """The watchers of replays: if programs fail, one replay for each failure, then one of the remaining programs."""
    launch = evidence.launch
    left = np.asarray(launch.own)
    for _unused in range(ROUNDS):
        taint = _taint(evidence, which)
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


def suspects(evidence: Evidence) -> dict[int, bool]:
    """The operations that decide addresses, masks and loops and may leave their type (True: signed)."""
    launch = evidence.launch
    flow = Flow.of(launch.executable.plan)
    reach = IntegerBounds(launch, flow)
    values = flow.behind(_sinks(evidence, flow), _passes)
    wide = {
        Value(value.function, maker.operands[0])
        for value in values
        if (maker := flow.maker.get(value)) is not None
        and maker.name == "arith.extui"
        # A truth value becomes 0 or 1 in signed numbers, too.
        and reach.type(Value(value.function, maker.operands[0])).bits > 1
    }
    unsigned = flow.behind(wide, _passes) if wide else set()
    inside = inside_of_others(launch.executable.plan)
    unpacked = _unpacked(launch.executable.plan)
    result = {}
    for value in values:
        op = flow.maker.get(value)
        if op is None or op.index in inside or not reach.type(value).is_integer or not _may_wrap(op):
            continue
        bits = reach.type(value).bits
        if not 1 < bits <= 32 or (op.name == "arith.trunci" and op.operands[0] in unpacked.get(value.function, ())):
            continue
        exact = reach.unwrapped(op)
        signed = value not in unsigned
        least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        if exact is None or exact[0] < least or exact[1] > most:
            result[op.index] = signed
    return result


def _sinks(evidence: Evidence, flow: Flow) -> list[Value]:
    """The values that are addresses, coordinates, masks or loop bounds."""
    found = []
    # All operations of the plan, as the access at which a launch failed is not on its tape.
    for op in evidence.ops.values():
        if effects.is_access(op):
            at = effects.operands_of(op)
            numbers = [op.operands[at.address], *(op.operands[position] for position in at.coordinates)]
            numbers += [] if at.mask is None else [op.operands[at.mask]]
        elif op.name == "scf.for":
            numbers = list(decisive(op))
        else:
            continue
        found += [Value(flow.function_of[op.index], number) for number in numbers]
    return found


def _may_wrap(op: Op) -> bool:
    return op.name in SIGNS or op.name == "arith.trunci" or adds_up(op)


def _unpacked(plan: Plan) -> dict[str, set[int]]:
    """By function, the 64-bit numbers whose upper half the kernel takes too: taking the lower half is intended."""
    return {
        function.name: {op.operands[0] for op in function.walk() if traits.of(op.name).symbol == ">>"}
        for function in plan.functions.values()
    }


def _passes(op: Op) -> bool:
    return passes(op) or answers(op)
