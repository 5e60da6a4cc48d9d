"""NaN among the values of which a reduction takes the largest or the smallest, or its index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from triton_lab import messages
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import AffineBlock, MaskBox, Value
from triton_lab.interpreter.runtime_values import elements as elements_of
from triton_lab.ir import Op, Plan, effects, traits
from triton_lab.ir.traits import Kind
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import LISTED, finding, program
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.launch.nonfinite import finite
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import N_, _, translated

_MEND_ORDER = N_(
    "Comparisons with NaN are false, so the index depends on the order in which the threads of a GPU compare. Replace "
    'NaN first: x = tl.where(x == x, x, -float("inf")).'
)
_MEND_NUMBER = N_(
    "A GPU takes the largest or smallest number here, and NaN is lost. To keep it, test for it: tl.max((x != x)"
    ".to(tl.int32), axis) > 0."
)


class NanComparisonRule(Rule):
    "A maximum, a minimum or its index is computed from values that include NaN."

    kind = "nan-comparison"
    severity = NOTE
    subject = N_("comparisons with NaN")
    summary = N_("A maximum, a minimum or its index is computed from values that include NaN.")
    why = N_(
        "For `tl.argmax` and `tl.argmin` the result depends on the order in which threads compare, and differs between "
        "GPUs and this run. `tl.max` and `tl.min` take the largest and the smallest number, where torch gives NaN."
    )
    remedy = N_(
        'Replace NaN first, `tl.where(x == x, x, -float("inf"))`, or find out where it comes from. If the result '
        "must be NaN, test for it: `x != x`."
    )
    intended = N_("If NaN stands for a missing value, and the result must ignore it.")
    blind = N_(
        "Only launches whose tensors hold NaN or infinity, or that store it, are examined. Sorting is not examined."
    )
    concerned = Concerned.ONE

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each reduction."""
        launch, comparing = evidence.launch, _comparing(evidence.launch.executable.plan)
        if not comparing or launch.snapshot is None:
            return
        watcher = launch.watched.get(self.kind)
        if not isinstance(watcher, _Watcher):
            if not (evidence.tape.strange or _loads_some(evidence)):
                return
            watcher = _Watcher(comparing.keys())
            replay(launch, observer=watcher)
        for index, numbers in sorted(watcher.programs.items()):
            text = (
                _("{program} computes the index of the largest or smallest of values that include NaN{more}")
                if comparing[index]
                else _("{program} computes the largest or smallest of values that include NaN{more}")
            )
            where = np.array(sorted(numbers), np.int64)
            yield finding(
                launch,
                self.kind,
                text.format(program=program(launch, int(where[0])), more=messages.in_all(len(where), "program")),
                translated(_MEND_ORDER if comparing[index] else _MEND_NUMBER),
                op=evidence.ops[index],
                count=len(where),
                programs=where[:LISTED],
            )

    def watchers(self, evidence: Evidence) -> Mapping[str, Watcher | None]:
        """One that looks for NaN in reductions; None if the launch has no such reduction."""
        comparing = _comparing(evidence.launch.executable.plan)
        return {self.kind: _Watcher(comparing.keys()) if comparing else None}


def _comparing(plan: Plan) -> dict[int, bool]:
    """The reductions that compare floats, by index, and whether their order decides what NaN becomes."""
    return {op.index: order for op in plan.walk() if (order := _decides(op)) is not None}


def _decides(op: Op) -> bool | None:
    """Whether the order decides what a reduction makes of NaN, or numbers win; None if it compares no floats."""
    if traits.of(op.name).kind is not Kind.REDUCES:
        return None
    inner = [one for region in op.regions for block in region.blocks for one in block.ops]
    if any(traits.of(one.name).drops_nan for one in inner):
        return False
    compared = [one for one in inner if one.name == "arith.cmpf"]
    # A function that tests for NaN itself, x != x, has its own answer.
    if not compared or any(one.operands[0] == one.operands[1] for one in compared):
        return None
    return True if any(one.name == "arith.select" for one in inner) else None


def _loads_some(evidence: Evidence) -> bool:
    """Whether a float tensor that the launch loads held NaN or infinity before: new outputs hold NaN."""
    launch = evidence.launch
    assert launch.snapshot is not None
    loading = [op for op in launch.executable.plan.walk() if op.index in launch.events and effects.reads(op)]
    for argument in {evidence.owner(op) for op in loading}:
        if argument is None:
            return True
        if not argument.itemsize or not argument.dtype.startswith(("float", "bfloat")):
            continue
        try:
            held = launch.snapshot.held(argument.storage_address, argument.storage_address + argument.storage_bytes)
        except LookupError:
            return True
        type = np.dtype(getattr(ml_dtypes, argument.dtype, argument.dtype))
        if len(held) % argument.itemsize or not finite(np.ascontiguousarray(held).view(type)).all():
            return True
    return False


class _Watcher(Watcher):
    """Finds the programs in which some reductions take NaN."""

    def __init__(self, ops: Any) -> None:
        self.ops = frozenset(ops)
        self.programs: dict[int, set[int]] = {}

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if op.index not in self.ops:
            return
        for number, operand in zip(op.operands, operands, strict=True):
            if not frame.type(number).is_float or isinstance(operand, (AffineBlock, MaskBox)):
                continue
            values = elements_of(operand, frame.type(number))
            strange = np.isnan(values).reshape(values.shape[0], -1).any(axis=1)
            numbers: Ints = frame.programs[np.broadcast_to(strange, frame.programs.shape)]
            if len(numbers):
                self.programs.setdefault(op.index, set()).update(numbers.tolist())
