"""NaN and infinity that a program stores, or integers computed from them, if they arise in the kernel.

If a program has loaded infinity, only NaN counts: ``inf - inf`` and ``inf * 0`` are never intended. Constants,
arguments and ``other`` values (``float("-inf")``) are intended. `nonfinite_origin` finds where other ones arise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.interpreter.dtypes import dtype_of, user_name
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, Plan, effects, traits
from triton_lab.ir.traits.trait import CORRECT, Kind
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.checks.analysis.finding_text import FoundLanes, element, finding, others, program
from triton_lab.launch.checks.analysis.nonfinite_origin import CASTS, Birth, Births
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.fix_policy import Repair
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.launch.nonfinite import finite
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.tape import block_shape, brought
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import N_, _, ngettext, translated

Array = NDArray[Any]

_MEND = N_(
    "Find what becomes zero, overflows, or is -inf minus -inf. Guard the division, or subtract the maximum before exp."
)
# Conversions that may turn a finite number into infinity.
_NARROWING = traits.names(lambda trait: trait.kind is Kind.CASTS and trait.rounding is CORRECT)


class NonFiniteRule(Rule):
    """A program stores NaN or infinity that arises in the kernel."""

    kind = "non-finite"
    severity = WARNING
    subject = N_("NaN and infinity")
    summary = N_("A program stores NaN or infinity that arises in the kernel, and that it did not load.")
    why = N_(
        "NaN spreads: one NaN in a row makes its sum and its softmax NaN, and one such gradient ruins a training "
        "run. Its origin is hard to find afterwards."
    )
    remedy = N_(
        "Look at the operation in the message. Guard the division, subtract the maximum before `tl.exp`, or pass a "
        "neutral value with `other=`."
    )
    intended = N_("If NaN or infinity is the right answer, such as the logarithm of 0.")
    blind = N_(
        "Infinity that the kernel contains as a constant, an argument or an `other=` counts as intended. NaN that "
        "was loaded is not reported. If a program loaded infinity or NaN, only a new NaN is reported."
    )
    concerned = Concerned.ONE
    superseded_by = ("unwritten-buffer", "partition-race")
    repair = Repair.FILL
    mark = N_("source of NaN or infinity")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each store of such a value."""
        launch = evidence.launch
        plan = launch.executable.plan
        if launch.snapshot is None or not (evidence.tape.strange or any(op.name in CASTS for op in plan.walk())):
            return
        seen = launch.watched.get(self.kind)
        if isinstance(seen, _Watcher):
            looked = seen
        else:
            looked = _Watcher(evidence)
            replay(launch, observer=looked, access_observer=looked)
        for op, lanes, count in looked.found:
            argument = evidence.owner(op)
            what, birth = looked.examples[op.index]
            text = (
                _("{program} stores {what} to {element}, which arises in the kernel: it loaded infinity or NaN{others}")
                if looked.spoilt[lanes.program[0]]
                else _("{program} stores {what} to {element}, although all values that it loaded are finite{others}")
            )
            yield finding(
                launch,
                self.kind,
                text.format(
                    program=program(launch, int(lanes.program[0])),
                    what=what,
                    element=element(argument, int(lanes.address[0])),
                    others=others(count),
                ),
                _mend(launch, evidence.ops[birth], op),
                op=op,
                argument=argument,
                lanes=lanes,
                count=count,
                where=looked.found.where(op),
            )

    def watchers(self, evidence: Evidence) -> Mapping[str, Watcher | None]:
        """One that finds where NaN and infinity arise; None if the launch has no floats."""
        functions = evidence.launch.executable.plan.functions.values()
        floats = any(type.is_float for function in functions for type in function.types)
        return {"non-finite": _Watcher(evidence) if floats else None}

    def programs_mark(self, count: int) -> str:
        """The words for programs in which NaN or infinity arises."""
        return ngettext(
            "{count} program in which NaN or infinity arises", "{count} programs in which NaN or infinity arises", count
        )


def _mend(launch: Recorded, birth: Op, store: Op) -> str:
    line = launch.lines.get(birth.index)
    there = launch.lines.get(store.index)
    mend = _mend_conversion(launch, birth) if birth.name in _NARROWING else translated(_MEND)
    if line is None or (there is not None and there.line == line.line):
        return mend
    return _("The value arises in line {line}. {mend}").format(line=line.line, mend=mend)


def _mend_conversion(launch: Recorded, birth: Op) -> str:
    """The advice for a finite number that is too large for the type that it is converted to."""
    types = next(one.types for one in launch.executable.plan.functions.values() if birth in one.walk())
    source, target = types[birth.operands[0]], types[birth.results[0]]
    most = float(ml_dtypes.finfo(dtype_of(target)).max)  # type: ignore[no-untyped-call]
    wide, narrow = user_name(source.element), user_name(target.element)
    return _(
        "The value is finite as {wide}, but {narrow} ends at {most}. Keep it in {wide} (the output tensor too), scale "
        "it, or clamp it first."
    ).format(wide=wide, narrow=narrow, most=messages.significant(most))


class _Watcher(Watcher):
    """Finds stores of lanes in which `Births` has seen NaN or infinity arise."""

    def __init__(self, evidence: Evidence) -> None:
        self.births = Births(evidence.launch)
        self.found = FoundLanes(whole=True)
        # The number of events, counted as the tape does.
        self.count = 0
        # By store: the text of a stored value, and the operation at which it arose.
        self.examples: dict[int, tuple[str, int]] = {}
        # Programs that have loaded NaN or infinity.
        self.spoilt = np.zeros(evidence.launch.programs, np.bool_)
        self.in_integers = _floats_in_integers(evidence.launch.executable.plan)

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        self.births.after(frame, op, operands, result)

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        self.births.handed(frame, numbers, values)

    def joined(self, pieces: Sequence[tuple[Array, Value, Array | None]], programs: int, result: Value) -> None:
        self.births.joined(pieces, programs, result)

    def barrier(self, frame: Frame, op: Op) -> None:
        self.count += 1

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        time = self.count
        self.count += 1
        if effects.reads(op):
            self._loaded(frame, mask, values)
        position = effects.operands_of(op).value
        if position is None:
            return
        number = op.operands[position]
        marks = self.births.of_operand(frame, number)
        values = brought(frame, op, values) if marks else None
        if values is None:
            return
        event = AccessEvent(time, frame.programs, pointer, mask, block_shape(frame, op, pointer))
        sight = SeenAccess(op, kind, values.dtype.itemsize, event)
        whole = (frame.count, *event.shape)
        on = event.active()
        spoilt = self.spoilt[frame.programs].reshape(-1, *(1,) * len(event.shape))
        shown = np.broadcast_to(values.reshape(-1, *event.shape) if values.ndim == 1 else values, whole)
        shape = frame.type(number).shape
        for birth, mark in marks.items():
            spread = np.broadcast_to(mark, (mark.shape[0], *shape)).reshape(mark.shape[0], *event.shape)
            # Infinity may come from infinity that was loaded, also through memory. NaN that arises does not.
            told = ~spoilt | (np.isnan(shown) if self.births.makes_nan(birth) and birth[1] is None else False)
            chosen = np.flatnonzero(np.broadcast_to(spread & on & told, whole))
            if not len(chosen):
                continue
            on = on & ~spread
            self.examples.setdefault(op.index, (_shown(shown.reshape(-1)[chosen[0]], birth), birth[0]))
            size = max(1, int(np.prod(event.shape)))
            address = event.addresses().reshape(-1)[chosen]
            times = np.full(len(chosen), time)
            self.found.add(sight, EvidenceLanes(frame.programs[chosen // size], chosen % size, address, times))

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
            bad = bad & (mask.elements() if isinstance(mask, MaskBox) else mask)
        rows = bad.reshape(bad.shape[0], -1).any(axis=1)
        self.spoilt[frame.programs[np.broadcast_to(rows, frame.programs.shape)]] = True


def _floats_in_integers(plan: Plan) -> set[np.dtype[Any]]:
    """The float types that the kernel bitcasts integers to: loaded integers may be such floats."""
    found = set()
    for function in plan.functions.values():
        for op in function.walk():
            if traits.of(op.name).kind is Kind.CASTS and traits.of(op.name).bitwise:
                source, target = function.types[op.operands[0]], function.types[op.results[0]]
                if source.is_integer and not target.is_integer and not target.is_pointer:
                    found.add(dtype_of(target))
    return found


def _shown(value: Any, birth: Birth) -> str:
    if birth[1] is not None:
        return _("{value} (an integer converted from NaN or infinity)").format(value=value)
    return "NaN" if np.isnan(value) else str(float(value))
