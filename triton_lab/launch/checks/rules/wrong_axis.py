"""Results of reductions that meet the axis along which the reduction has run.

``tl.sum(x)`` without an axis is one number, and ``x / tl.sum(x, axis=1)`` matches a number for each row with the
columns. Where the sizes fit, the compiler takes both. One number for all may be intended, so it is a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from triton_lab.ir import Op, Plan, effects, traits
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.traits import Kind
from triton_lab.launch.checks.analysis.block_ranges import BlockRanges, Ranges, block_ranges
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import finding, line_of
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.localization import N_, _, translated

_MEND_ONE = N_(
    "Without an axis, a reduction gives one number for the whole block. For one number a row of a block, write axis=1; "
    "for one a column, axis=0."
)
_MEND_PLACE = N_("Store it at the offsets of the axis that is left, or reduce along the other axis.")
_MEND_MATCH = N_(
    "Axes are matched from the last one on, so number i meets index i of the last axis. Keep the axis, with "
    "keep_dims=True, or write [:, None] behind one number a row."
)


Known = Mapping[Value, BlockRanges]


class WrongAxisRule(Rule):
    """The result of a reduction meets the axis along which the reduction ran."""

    kind = "wrong-axis"
    severity = NOTE
    subject = N_("results of reductions at the wrong axis")
    summary = N_("The result of a reduction is stored or combined along the axis that the reduction has removed.")
    why = N_(
        "`x / tl.sum(x, axis=1)` divides column j by the sum of row j, since axes are matched from the last one on. "
        "`tl.sum(x)` without an axis is one number for the whole block. Where sizes fit, no compiler objects."
    )
    remedy = N_("Name the axis, and keep it with `keep_dims=True`, or place the result with `[:, None]`.")
    intended = N_(
        "If all these elements must be the same number, for example the mean of a block for each of its rows."
    )
    blind = N_(
        "Axes are told apart by the `tl.arange` that runs along each: blocks whose axes share one, and those of "
        "descriptors and block pointers, are not examined. A result that is placed with `[None, :]` is what you asked "
        "for."
    )
    concerned = Concerned.ALL

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each operation."""
        plan = evidence.launch.executable.plan
        if not any(traits.of(op.name).kind is Kind.REDUCES for op in plan.walk()):
            return
        known = block_ranges(plan)
        for name, function in plan.functions.items():
            for op in function.walk():
                if op.name == "tt.store":
                    yield from _stored(evidence, known, name, op)
                elif traits.of(op.name).kind in (Kind.ELEMENTWISE, Kind.COMPARES):
                    yield from _matched(evidence, known, name, op)


def _stored(evidence: Evidence, known: Known, function: str, op: Op) -> Iterator[Finding]:
    """A store of a result along the axis that was reduced, in which a program stores several lanes."""
    at = effects.operands_of(op)
    assert at.value is not None
    value = Value(function, op.operands[at.value])
    places, values = known.get(Value(function, op.operands[at.address])), known.get(value)
    if places is None or values is None:
        return
    for place, own in zip(places.axes, values.axes, strict=True):
        # One number for all elements of the block that was reduced is meant.
        if place and own is not None and place & values.gone and (own or values.folded - places.every):
            break
    else:
        return
    fold = _reduction(evidence.launch.executable.plan, known, value, place)
    if fold is None or not _several(evidence, op):
        return
    argument = evidence.owner(op)
    name = _("memory") if argument is None else argument.name
    if own:
        text = _("the result of a reduction is stored along the axis that the reduction has removed{where}")
        mend = _MEND_PLACE
    else:
        text = _(
            "a reduction gives one number for all of its block, and a program stores it to several elements of "
            "{name}{where}"
        )
        mend = _MEND_ONE
    yield finding(
        evidence.launch,
        WrongAxisRule.kind,
        text.format(name=name, where=_elsewhere(evidence, op, fold)),
        translated(mend),
        op=fold,
        argument=argument,
    )


def _matched(evidence: Evidence, known: Known, function: str, op: Op) -> Iterator[Finding]:
    """An operation whose operand got its first axis from the compiler, and then meets the axis that was reduced."""
    operands = [Value(function, number) for number in op.operands]
    for operand in operands:
        placed = _placed(evidence, operand, op)
        mine = known.get(operand)
        if placed is None or mine is None:
            continue
        for other in operands:
            if other != operand and (axis := _clash(mine, known.get(other))) is not None:
                fold = _reduction(evidence.launch.executable.plan, known, placed, axis)
                if fold is not None:
                    text = _("the result of a reduction is matched with the axis that the reduction has removed{where}")
                    yield finding(
                        evidence.launch,
                        WrongAxisRule.kind,
                        text.format(where=_elsewhere(evidence, op, fold)),
                        translated(_MEND_MATCH),
                        op=fold,
                    )
                    return


def _clash(mine: BlockRanges, other: BlockRanges | None) -> Ranges | None:
    """The ranges of the other operand, of an axis along which other ranges run and mine were reduced."""
    if other is None or len(other.axes) != len(mine.axes):
        return None
    for own, ranges in zip(mine.axes, other.axes, strict=True):
        if own and ranges and ranges & mine.gone:
            return ranges
    return None


def _placed(evidence: Evidence, operand: Value, op: Op) -> Value | None:
    """The block of fewer axes that the compiler made ``operand`` from, for ``op``; None if it has all its axes."""
    flow = Flow.of(evidence.launch.executable.plan)
    while (maker := flow.maker.get(operand)) is not None and traits.of(maker.name).kind is Kind.MOVES:
        operand = Value(operand.function, maker.operands[0])
        if maker.name == "tt.expand_dims" and maker.location == op.location:
            return operand
    return None


def _reduction(plan: Plan, known: Known, value: Value, ranges: Ranges) -> Op | None:
    """The last reduction behind a value that ran along some ranges."""
    flow = Flow.of(plan)
    for one in sorted(flow.behind([value]), key=lambda each: -each.number):
        maker = flow.maker.get(one)
        if maker is None or traits.of(maker.name).kind is not Kind.REDUCES:
            continue
        taken = known.get(Value(one.function, maker.operands[0]))
        left = known.get(one)
        if taken is not None and left is not None and ranges & (left.folded - taken.folded):
            return maker
    return None


def _several(evidence: Evidence, op: Op) -> bool:
    """Whether a program stores more than one lane at once."""
    events = evidence.tape.events.get(op.index, ())
    return any(event.lanes > len(event.programs) for event in events)


def _elsewhere(evidence: Evidence, op: Op, fold: Op) -> str:
    """``, line 12``; "" if that is the line of the reduction."""
    place, own = (line_of(evidence.launch, one) for one in (op, fold))
    return "" if place == own else f", {place}"
