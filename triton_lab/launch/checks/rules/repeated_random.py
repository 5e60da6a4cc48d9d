"""Random numbers that are the same in several programs, or in each iteration of a loop.

`tl.rand` and the like compute a random number from a seed and an offset alone (Philox; Salmon et al., 2011). So
programs that pass the same seed and the same offsets get the same numbers. This may be intended, so it is a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from triton_lab import messages
from triton_lab.ir import Op, effects
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.plan import Plan
from triton_lab.launch.checks.analysis.finding_text import finding
from triton_lab.launch.checks.analysis.integer_bounds import constant_bounds
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.localization import N_, _, translated

# What each round of Philox multiplies by, with 32 bits and with 64, as Triton's signed constants.
_FACTORS = {
    factor - (1 << bits)
    for bits, factors in ((32, (0xD2511F53, 0xCD9E8D57)), (64, (0xD2E7470EE14C6C93, 0xCA5A826395121157)))
    for factor in factors
}
_MEND = N_(
    "A random number depends on the seed and the offset alone. Pass the offsets of the stored elements, as in "
    "tl.rand(seed, offsets), or another seed to each program."
)


class RepeatedRandomRule(WholeRule):
    """Programs store to different elements, but draw the same random numbers for them."""

    kind = "repeated-random"
    severity = NOTE
    subject = N_("random numbers that several programs draw")
    summary = N_("Several programs, or the iterations of a loop, draw the same random numbers for different elements.")
    why = N_(
        "A random number is a function of the seed and the offset. The offset lacks the program's own part, so each "
        "program gets the same numbers: a dropout mask repeats itself from block to block, and a sum over programs "
        "counts one sample many times."
    )
    remedy = N_(
        "Pass the offsets of the elements, `tl.rand(seed, offsets)` with "
        "`offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)`, or another seed to each program."
    )
    intended = N_("If all rows share one mask or one noise.")
    blind = N_(
        "Only the random numbers of `triton.language` are known, and only offsets that do not depend on the program or "
        "the iteration at all. One random number for a whole program is not examined."
    )
    concerned = Concerned.ALL

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each call that draws numbers."""
        launch = evidence.launch
        plan = launch.executable.plan
        flow = Flow.of(plan)
        drawn = [op for op in plan.walk() if op.name == "tt.mulhiui" and _is_philox(flow, op)]
        if not drawn or launch.error is not None:
            return
        stores = [op for op in plan.walk() if effects.is_access(op) and effects.writes(op)]
        calls: dict[object, list[Op]] = {}
        for op in drawn:
            place = launch.lines.get(op.index)
            calls.setdefault(place and (place.file, place.line, place.column), []).append(op)
        for ops in calls.values():
            numbers = {Value(flow.function_of[op.index], result) for op in ops for result in op.results}
            makes = flow.behind(numbers)
            axes, loops = _missing(plan, flow, makes, numbers, stores)
            axes = {axis for axis in axes if launch.grid[axis] > 1}
            if not _are_blocks(flow, makes) or not (axes or loops):
                continue
            count = 0
            text = _("each iteration of the loop draws the same random numbers: their offsets do not change")
            if axes:
                axis = min(axes)
                count = launch.grid[axis]
                text = _(
                    "{programs} along axis {axis} draw the same random numbers: the offsets do not depend on "
                    "tl.program_id({axis})"
                ).format(programs=messages.count(count, "program"), axis=axis)
            yield finding(launch, self.kind, text, translated(_MEND), op=ops[0], count=count)


def _is_philox(flow: Flow, op: Op) -> bool:
    """Whether a product is one of a round of Philox."""
    makers = (flow.maker.get(Value(flow.function_of[op.index], operand)) for operand in op.operands)
    constants = (constant_bounds(maker) for maker in makers if maker is not None and maker.name == "arith.constant")
    return any(bounds is not None and bounds[0] == bounds[1] and bounds[0] in _FACTORS for bounds in constants)


def _are_blocks(flow: Flow, behind: Iterable[Value]) -> bool:
    """Whether the offsets differ from lane to lane."""
    makers = (flow.maker.get(value) for value in behind)
    return any(maker is not None and maker.name == "tt.make_range" for maker in makers)


def _missing(
    plan: Plan, flow: Flow, makes: set[Value], numbers: set[Value], stores: Iterable[Op]
) -> tuple[set[int], set[int]]:
    """The axes of programs and the loops on which an address depends to which the numbers go, but not the numbers."""
    axes: set[int] = set()
    loops: set[int] = set()
    for op in stores:
        at, function = effects.operands_of(op), flow.function_of[op.index]
        value = None if at.value is None else Value(function, op.operands[at.value])
        if value is None or numbers.isdisjoint(flow.behind([value])):
            continue
        where = flow.behind([Value(function, op.operands[k]) for k in (at.address, *at.coordinates)])
        axes |= _axes(flow, where) - _axes(flow, makes)
        loops |= _loops(plan, where) - _loops(plan, makes)
    return axes, loops


def _axes(flow: Flow, behind: Iterable[Value]) -> set[int]:
    makers = (flow.maker.get(value) for value in behind)
    return {int(op.attributes["axis"]) for op in makers if op is not None and op.name == "tt.get_program_id"}


def _loops(plan: Plan, behind: set[Value]) -> set[int]:
    """The loops that carry one of these values from iteration to iteration, or count with it."""
    return {
        op.index
        for function in plan.functions.values()
        for op in function.walk()
        if op.name == "scf.for"
        and any(Value(function.name, one) in behind for one in op.regions[0].blocks[0].arguments)
    }
