"""NaN and infinity that a program stores, though nothing that it loaded was either.

Infinity that the kernel itself writes down (``float("-inf")`` for what is masked out) is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.box import Box
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.ir import Bits, Dense, Op, Plan
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.provenance import ONLY_WRITE
from triton_lab.launch.access import Event
from triton_lab.launch.checks.evidence import Evidence, Lanes, Sight
from triton_lab.launch.checks.words import Found, element, finding, others, program
from triton_lab.launch.finding import Finding
from triton_lab.launch.finite import finite
from triton_lab.launch.replay import CannotReplay, Watcher, replay
from triton_lab.launch.tape import block_shape, brought

Array = NDArray[Any]

_MEND = (
    "Look at what goes to zero, overflows, or is -inf minus -inf: guard a division, subtract the maximum before exp."
)

# The patterns of plus and minus infinity in float16, bfloat16, float32 and float64.
_INFINITIES = frozenset(
    {0x7C00, 0xFC00, 0x7F80, 0xFF80, 0x7F800000, 0xFF800000, 0x7FF0000000000000, 0xFFF0000000000000}
)


def check(evidence: Evidence) -> Iterator[Finding]:
    """One for each store of that kind."""
    launch = evidence.launch
    strange = evidence.tape.strange
    if not strange or launch.snapshot is None or _given(launch.snapshot.arguments):
        return
    watcher = _Watcher(evidence, strange)
    try:
        replay(launch, access_observer=watcher)
    except CannotReplay:
        return
    for op, lanes, count in watcher.found:
        argument = evidence.owner(op)
        yield finding(
            launch,
            "non-finite",
            f"{program(launch, int(lanes.program[0]))} stores {watcher.examples[op.index]} to "
            f"{element(argument, int(lanes.address[0]))}, and all that it had loaded was finite{others(count)}",
            _MEND,
            op=op,
            argument=argument,
            lanes=lanes,
            count=count,
        )


def _given(arguments: Any) -> bool:
    """Whether NaN or infinity was passed as a scalar."""
    return any(isinstance(value, np.ndarray) and not bool(finite(value).all()) for value in arguments)


class _Watcher(Watcher):
    def __init__(self, evidence: Evidence, strange: set[int]) -> None:
        self.evidence = evidence
        self.strange = strange
        self.found = Found()
        # Events as the tape counts them.
        self.count = 0
        self.examples: dict[int, str] = {}
        # Programs that have loaded something that is not finite.
        self.spoilt = np.zeros(evidence.launch.programs, np.bool_)
        self.means_infinity = _means_infinity(evidence, strange)
        self.in_integers = _floats_in_integers(evidence.launch.executable.plan)

    def barrier(self, frame: Frame, op: Op) -> None:
        self.count += 1

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        time = self.count
        self.count += 1
        if kind == "load" or (kind == "atomic" and op.name not in ONLY_WRITE):
            self._loaded(frame, mask, values)
        if op.index not in self.strange:
            return
        values = brought(frame, op, kind, values)
        if values is None:
            return
        bad = np.isnan(values) if op.index in self.means_infinity else ~finite(values)
        if not bad.any():
            return
        event = Event(time, frame.programs, pointer, mask, block_shape(frame, op, pointer, mask))
        sight = Sight(op, kind, values.dtype.itemsize, event)
        whole = np.broadcast_to(bad, (frame.count, *sight.event.shape)) & sight.event.active()
        whole = whole & ~self.spoilt[frame.programs].reshape(-1, *(1,) * len(sight.event.shape))
        chosen = np.flatnonzero(whole)
        if not len(chosen):
            return
        if op.index not in self.examples:
            shown = np.broadcast_to(values, whole.shape).reshape(-1)[chosen[0]]
            self.examples[op.index] = "NaN" if np.isnan(shown) else str(float(shown))
        size = max(1, whole.size // frame.count)
        address = sight.event.addresses().reshape(-1)[chosen]
        self.found.add(sight, Lanes(frame.programs[chosen // size], chosen % size, address, np.full(len(chosen), time)))

    def _loaded(self, frame: Frame, mask: Any, values: Array | None) -> None:
        if values is None:
            return
        bad: Array
        if values.dtype.kind in "iub":
            bad = np.zeros(values.shape, np.bool_)
            for float_type in self.in_integers:
                if float_type.itemsize == values.dtype.itemsize:
                    bad |= ~finite(np.ascontiguousarray(values).view(float_type).reshape(values.shape))
        else:
            bad = ~finite(values)
        if not bad.any():
            return
        if mask is not None:
            bad = bad & (mask.elements() if isinstance(mask, Box) else mask)
        rows = bad.reshape(bad.shape[0], -1).any(axis=1)
        self.spoilt[frame.programs[np.broadcast_to(rows, frame.programs.shape)]] = True


def _floats_in_integers(plan: Plan) -> set[np.dtype[Any]]:
    """The float types that the kernel makes of the bits of integers: what it loads as integers may be such floats."""
    found = set()
    for function in plan.functions.values():
        for op in function.walk():
            if op.name in ("arith.bitcast", "tt.bitcast"):
                source, target = function.types[op.operands[0]], function.types[op.results[0]]
                if source.is_integer and not target.is_integer and not target.is_pointer:
                    found.add(dtype_of(target))
    return found


def _means_infinity(evidence: Evidence, strange: set[int]) -> set[int]:
    """The stores whose value is computed from an infinity that stands in the kernel."""
    flow = Flow.of(evidence.launch.executable.plan)
    found = set()
    for index in strange:
        op = evidence.ops[index]
        start = [Value(flow.function_of[index], number) for number in op.operands[1:]]
        if any(_is_infinite(maker) for value in flow.behind(start) if (maker := flow.maker.get(value)) is not None):
            found.add(index)
    return found


def _is_infinite(op: Op) -> bool:
    if op.name != "arith.constant":
        return False
    value = op.attributes["value"]
    parts = value.values if isinstance(value, Dense) else (value,)
    return any(isinstance(part, Bits) and part.pattern in _INFINITIES for part in parts)
