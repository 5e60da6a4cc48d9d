"""Finds numbers of 8 and 16 bits that wrap: products, sums that a loop carries, and floats too large to convert.

If the kernel then uses masks, shifts or remainders on the result, it wraps on purpose. `int32_overflow` reports numbers
that go into addresses, masks and loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value, elements
from triton_lab.ir import Op, dataflow, effects, traits
from triton_lab.launch.checks.analysis import int32_overflow
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import LaneTally
from triton_lab.launch.checks.analysis.wrapping_integers import SIGNS, in_64_bits
from triton_lab.launch.propagation.element_functions import inside_of_others
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

Array = NDArray[Any]

# The bits of narrow numbers, and the conversions from floats (True: the result is signed).
BITS = (8, 16)
CASTS = {name: bool(trait.signed) for name, trait in traits.TRAITS.items() if trait.makes == "integer"}
_EXACT = {"*": np.multiply, "+": np.add, "-": np.subtract}
_SIGNS = {name: sign for name, sign in SIGNS.items() if sign in _EXACT}
_ON_BITS = traits.names(lambda trait: trait.numbers == "integer" and (trait.bitwise or trait.symbol == "%"))
_UNSIGNED = traits.names(lambda trait: trait.numbers == "integer" and trait.signed is False) - _ON_BITS


def narrow_watcher(evidence: Evidence) -> Watcher | None:
    """The watcher for the running launch; None if nothing can wrap."""
    suspects = _suspects(evidence)
    return NarrowWatcher(suspects) if suspects else None


def narrow_wraps(evidence: Evidence) -> NarrowWatcher:
    """The watcher after the launch, or after a replay. Raises CannotReplay."""
    launch = evidence.launch
    seen = launch.watched.get("narrow")
    if isinstance(seen, NarrowWatcher):
        return seen
    looked = NarrowWatcher(_suspects(evidence))
    if looked.suspects:
        replay(launch, observer=looked)
    return looked


class NarrowWatcher(Watcher):
    """Finds wrapped results of ``suspects``, the operations that may wrap (True: signed)."""

    def __init__(self, suspects: dict[int, bool]) -> None:
        self.suspects = suspects
        self.found: dict[int, LaneTally] = {}
        # By operation: the text for the first lane, and the shape of its block.
        self.examples: dict[int, tuple[str, tuple[int, ...]]] = {}

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        signed = self.suspects.get(op.index)
        if signed is None:
            return
        type = frame.result_type(op)
        given = [elements(value, frame.type(number)) for number, value in zip(op.operands, operands, strict=True)]
        if op.name in CASTS:
            exact = np.trunc(given[0].astype(np.float64))
            least, most = (-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1) if signed else (0, (1 << type.bits) - 1)
            # NaN and infinity have their own check.
            wrong = np.isfinite(exact) & ((exact < least) | (exact > most))
        else:
            given = [in_64_bits(array, signed) for array in given]
            exact = _EXACT[_SIGNS[op.name]](*given)
            wrong = exact != in_64_bits(elements(result, type), signed)
        if not wrong.any():
            return
        whole = np.broadcast_to(lifted(wrong, len(type.shape)), (frame.count, *type.shape))
        chosen = np.flatnonzero(whole)
        if op.index not in self.examples:
            first = [
                np.broadcast_to(lifted(array, len(type.shape)), whole.shape).reshape(-1)[chosen[0]]
                for array in (*given, exact, in_64_bits(elements(result, type), signed))
            ]
            self.examples[op.index] = _told(op, first, f"{'int' if signed else 'uint'}{type.bits}"), type.shape
        size = max(1, type.size)
        programs, lane = frame.programs[chosen // size], chosen % size
        # The lanes have no addresses: they are numbered over all programs, as `stored_from` needs.
        lanes = EvidenceLanes.timeless(programs, lane, programs * size + lane)
        self.found.setdefault(op.index, LaneTally(1)).add(lanes)


def _told(op: Op, numbers: list[Any], type: str) -> str:
    *given, exact, wrapped = numbers
    if op.name in CASTS:
        return _("{given} does not fit {type} and becomes {wrapped}").format(
            given=f"{float(given[0]):g}", type=type, wrapped=int(wrapped)
        )
    sum_ = f"{int(given[0])} {_SIGNS[op.name]} {int(given[1])} = {int(exact)}"
    return _("{sum} does not fit {type} and becomes {wrapped}").format(sum=sum_, type=type, wrapped=int(wrapped))


def _suspects(evidence: Evidence) -> dict[int, bool]:
    plan = evidence.launch.executable.plan
    narrow = [
        (function, op)
        for function in plan.functions.values()
        for op in function.walk()
        if (op.name in _SIGNS or op.name in CASTS) and function.types[op.results[0]].bits in BITS
    ]
    if not narrow:
        return {}
    flow = dataflow.Flow.of(plan)
    elsewhere = {*inside_of_others(plan), *int32_overflow.suspects(evidence)}
    result = {}
    for function, op in narrow:
        value = dataflow.Value(function.name, op.results[0])
        if op.index in elsewhere or (_SIGNS.get(op.name) in ("+", "-") and not _is_carried(flow, value)):
            continue
        # The operations that it goes into, as long as the results are integers.
        ahead = flow.ahead([value], lambda one: not _is_an_end(one)) - {value}
        after = {flow.maker[each].name for each in ahead if each in flow.maker}
        if after & _ON_BITS:
            continue
        if op.name in CASTS:
            result[op.index] = CASTS[op.name]
            continue
        result[op.index] = not (after & _UNSIGNED or _of_unsigned(evidence, flow, value))
    return result


def _is_an_end(op: Op) -> bool:
    return op.name.endswith("tofp") or effects.is_access(op)


def _is_carried(flow: dataflow.Flow, value: dataflow.Value) -> bool:
    """Whether a value depends on itself: a loop carries it."""
    return value in flow.behind(flow.feeds.get(value, ()))


def _of_unsigned(evidence: Evidence, flow: dataflow.Flow, value: dataflow.Value) -> bool:
    """Whether it is computed from elements of an unsigned tensor."""
    for each in flow.behind([value]):
        maker = flow.maker.get(each)
        if maker is not None and effects.is_access(maker):
            owner = evidence.owner(maker)
            if owner is not None and "uint" in str(owner.dtype):
                return True
    return False
