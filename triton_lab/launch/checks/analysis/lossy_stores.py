"""Stores that convert their number to the type of the tensor, and the numbers that change by it."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.backend.source.access_source import access_at
from triton_lab.interpreter.dtypes import unsigned, user_name
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Function, Op, Type, dataflow, effects, traits
from triton_lab.launch.checks.analysis import narrow_overflow, stored_overflow
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.checks.analysis.finding_text import FoundLanes
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.tape import block_shape, brought
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay

Array = NDArray[Any]

# After bitwise operations, losing the high bits is intended.
_ON_BITS = traits.names(lambda trait: trait.bitwise and trait.numbers == "integer")
_CASTS = frozenset({*narrow_overflow.CASTS, "arith.trunci"})


@dataclass(frozen=True)
class ConvertingStore:
    """A store that converts: by the operation ``cast``, or at compile time for a literal ``number``.

    ``unsigned`` says whether it stores unsigned numbers; ``source`` and ``target`` are torch's names of the types.
    """

    source: str
    target: str
    bits: int
    cast: Op | None
    number: float = 0.0
    unsigned: bool = False


def losses(evidence: Evidence) -> LossWatcher:
    """The watcher after the launch, or after a replay. Raises CannotReplay."""
    seen = evidence.launch.watched.get("lossy")
    if isinstance(seen, LossWatcher):
        return seen
    looked = LossWatcher(evidence, converting_stores(evidence))
    if looked.stores:
        replay(evidence.launch, observer=looked, access_observer=looked)
    return looked


class LossWatcher(Watcher):
    """Compares numbers before and after stores.

    By operation: ``stores``, and ``examples`` with the number given and the number stored.
    """

    def __init__(self, evidence: Evidence, stores: dict[int, ConvertingStore]) -> None:
        self.stores = stores
        self.found = FoundLanes(whole=True)
        self.examples: dict[int, tuple[str, str]] = {}
        self.beyond: dict[int, bool] = {}
        # The number of events, counted as the tape does.
        self.count = 0
        self._casts = {store.cast.index for store in stores.values() if store.cast is not None}
        # The operand of the last conversion, whose store comes next.
        self._given: Array | None = None

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if op.index in self._casts:
            self._given = frame.elements(op, 0, operands[0])

    def barrier(self, frame: Frame, op: Op) -> None:
        self.count += 1

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        time = self.count
        self.count += 1
        store = self.stores.get(op.index)
        if store is None:
            return
        kept = brought(frame, op, values)
        given = np.full(1, store.number) if store.cast is None else self._given
        if kept is None or given is None:
            return
        shape = block_shape(frame, op, pointer)
        kept, given = lifted(kept, len(shape)), lifted(given, len(shape))
        kept = np.ascontiguousarray(kept).view(unsigned(kept.dtype)) if store.unsigned else kept
        beyond = _beyond(given, store)
        wrong = beyond if given.dtype.kind == "i" else np.isfinite(given) & (given != kept)
        if store.cast is not None and store.cast.name in narrow_overflow.CASTS and store.bits in narrow_overflow.BITS:
            wrong = wrong & ~beyond
        if store.target == "bool":
            wrong = wrong & (given != 0) & (kept == 0)
        if not wrong.any():
            return
        event = AccessEvent(time, frame.programs, pointer, mask, shape)
        chosen = np.flatnonzero(wrong & event.active())
        if not len(chosen):
            return
        whole = (frame.count, *shape)
        if op.index not in self.examples:
            first = [np.broadcast_to(one, whole).reshape(-1)[chosen[0]] for one in (given, kept, beyond)]
            self.examples[op.index] = _shown(first[0]), _shown(first[1])
            self.beyond[op.index] = bool(first[2])
        size = max(1, int(np.prod(shape)))
        address, times = event.addresses().reshape(-1)[chosen], np.full(len(chosen), time)
        lanes = EvidenceLanes(frame.programs[chosen // size], chosen % size, address, times)
        self.found.add(SeenAccess(op, kind, kept.dtype.itemsize, event), lanes)


def _beyond(given: Array, store: ConvertingStore) -> Array:
    """Which numbers are outside the type's range, apart from their fractions."""
    least, most = (0, 1 << store.bits) if store.unsigned else (-(1 << (store.bits - 1)), 1 << (store.bits - 1))
    whole = given if given.dtype.kind == "i" else np.trunc(given.astype(np.float64))
    outside: Array = (whole < least) | (whole >= most)
    return outside


def _shown(number: Any) -> str:
    return str(int(number)) if float(number).is_integer() else f"{float(number):g}"


# --- Which stores convert --------------------------------------------------------------------------


def converting_stores(evidence: Evidence) -> dict[int, ConvertingStore]:
    plan = evidence.launch.executable.plan
    flow = dataflow.Flow.of(plan)
    found = {}
    for function in plan.functions.values():
        for op in function.walk():
            position = effects.operands_of(op).value if effects.writes(op) else None
            if position is None:
                continue
            value = dataflow.Value(function.name, op.operands[position])
            maker = flow.maker.get(value)
            if maker is None or maker.location != op.location:
                continue
            owner = evidence.owner(op)
            unsigned = owner is not None and "uint" in owner.dtype
            type = function.types[value.number]
            target = _named(type, unsigned) if owner is None or owner.dtype != "bool" else "bool"
            if maker.name in _CASTS and not _on_purpose(
                evidence, flow, dataflow.Value(function.name, maker.operands[0])
            ):
                source = _source(flow, function, maker)
                found[op.index] = ConvertingStore(source, target, type.bits, maker, unsigned=unsigned)
            elif maker.name == "arith.constant" and type.is_integer:
                number = _written(evidence.launch, op)
                if number is not None:
                    found[op.index] = ConvertingStore("float32", target, type.bits, None, number, unsigned)
    return found


def _on_purpose(evidence: Evidence, flow: dataflow.Flow, value: dataflow.Value) -> bool:
    """Whether a number comes from bitwise operations or from a hash: then losing the high bits is intended."""
    functions = evidence.launch.executable.plan.functions
    makers = [
        flow.maker[one] for one in flow.behind([value], lambda op: not effects.is_access(op)) if one in flow.maker
    ]
    bits = (op for op in makers if op.name in _ON_BITS)
    if any(functions[flow.function_of[op.index]].types[op.results[0]].bits > 1 for op in bits):
        return True
    return any(stored_overflow.mixes(evidence.launch, op) for op in makers if op.name == "arith.muli")


def _source(flow: dataflow.Flow, function: Function, cast: Op) -> str:
    """The type that is converted, which may be widened to float32 on the way."""
    maker = flow.maker.get(dataflow.Value(function.name, cast.operands[0]))
    widened = maker is not None and maker.name == "arith.extf" and maker.location == cast.location
    number = maker.operands[0] if widened and maker is not None else cast.operands[0]
    return _named(function.types[number], False)


def _named(type: Type, unsigned: bool) -> str:
    return ("u" if unsigned else "") + user_name(type.element)


@dataclass(frozen=True)
class _KernelText:
    """The source of a kernel, with the names that Triton gives it: a part of a launch has the text alone."""

    raw_src: Sequence[str]
    starting_line_number: int
    src: str

    @classmethod
    def of(cls, launch: Recorded) -> _KernelText | None:
        """The kernel's text from its ``def`` on; None if the launch has none."""
        begin = re.search(r"^def\s", textwrap.dedent(launch.source), re.MULTILINE)
        if begin is None:
            return None
        text = textwrap.dedent(launch.source)[begin.start() :]
        return cls(launch.source.splitlines(keepends=True), launch.first_line, text)


def _written(launch: Recorded, op: Op) -> float | None:
    """The literal with a fraction that the kernel's source stores at this operation; None for anything else."""
    line, kernel = launch.lines.get(op.index), _KernelText.of(launch)
    if (
        line is None
        or kernel is None
        or line.file not in ("", launch.file)
        or op.location is None
        or op.location.caller
    ):
        return None
    call = access_at(ast.parse(kernel.src), kernel, line.line, line.column)
    given = (
        [] if call is None else [*call.args[1:2], *(one.value for one in call.keywords if one.arg in ("value", "val"))]
    )
    if not given:
        return None
    known = {one.name: one.value for one in launch.arguments if one.kind == "constexpr"}
    try:
        number = known[given[0].id] if isinstance(given[0], ast.Name) else ast.literal_eval(given[0])
    except (KeyError, ValueError):
        return None
    return number if isinstance(number, float) and not number.is_integer() else None
