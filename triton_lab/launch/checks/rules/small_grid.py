"""Grids with too few programs along an axis: more of them would write all of an output."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.ir.access_masks import mask_operand
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.launch.access_footprint import element_addresses, elements_in
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Flags, Ranges
from triton_lab.launch.checks.analysis.finding_text import finding, launched_at
from triton_lab.launch.checks.analysis.integer_bounds import constant_bounds
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.checks.rules.unwritten import never_written, outputs
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import N_, _

if TYPE_CHECKING:
    from triton_lab.ir import Op, Plan
    from triton_lab.launch.recording.launch_record import Recorded

_MOST = 1 << 24  # elements of an output that is looked at


class SmallGridRule(WholeRule):
    """The grid has too few programs along an axis, so that the end of an output stays unwritten."""

    kind = "small-grid"
    severity = WARNING
    subject = N_("grids that are too small")
    summary = N_("The grid has too few programs along an axis, so that the end of an output stays unwritten.")
    why = N_(
        "`n // BLOCK` rounds down: the last elements have no program. They keep their old memory contents. On a GPU "
        "this is often the result of an earlier run, so the test passes."
    )
    remedy = N_("Start `triton.cdiv(n, BLOCK)` programs along the axis, which rounds up, and keep the masks.")
    intended = N_("If the buffer is larger than the part in use, by less than one program writes.")
    blind = N_(
        "Contiguous tensors from `torch.empty` are examined, and other tensors if masks depend on their size. The "
        "programs must access blocks of equal size, from the first element on."
    )
    concerned = Concerned.ALL
    superseded_by = ("unused-grid-axis",)
    mark = N_("for programs that the grid does not have")

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each axis of the grid that is too short, or one about a grid without programs."""
        launch = evidence.launch
        if not launch.programs and launch.error is None and all(math.prod(one.shape) for one in launch.arguments):
            yield finding(
                launch,
                self.kind,
                _("the grid has no programs: nothing ran"),
                _("n // BLOCK is 0 if n is less than BLOCK. Use triton.cdiv(n, BLOCK), which rounds up. {place}")
                .format(place=launched_at(launch))
                .rstrip(),
            )
            return
        if not evidence.complete:
            return
        told: set[int] = set()
        for short in (*_unwritten(evidence), *_untouched(evidence)):
            if short.axis not in told:
                told.add(short.axis)
                yield short.finding(launch)


@dataclass(frozen=True, eq=False)
class _Short:
    """An axis of the grid that is too short for an argument, the programs that it needs, and what is ``left`` out."""

    axis: int
    needed: int
    argument: Argument
    op: Op
    left: Ranges
    text: str

    def finding(self, launch: Recorded) -> Finding:
        number = self.left.size // self.argument.itemsize
        return finding(
            launch,
            SmallGridRule.kind,
            self.text.format(
                programs=_programs(launch.grid[self.axis], self.axis, launch.grid),
                needed=messages.number(self.needed),
                name=self.argument.name,
                elements=messages.count(number, "element"),
            ),
            _("Start triton.cdiv(size, BLOCK) programs, which rounds up. {place}")
            .format(place=launched_at(launch))
            .rstrip(),
            op=self.op,
            argument=self.argument,
            count=number,
            where=self.left,
        )


def _unwritten(evidence: LaunchSummary) -> Iterator[_Short]:
    """The axes that are too short for outputs which torch gave uninitialized."""
    launch = evidence.launch
    if not len(evidence.unwritten) or launch.snapshot is None:
        return
    if launch.snapshot.missing:
        raise CannotReplay(launch.snapshot.missing)
    text = _("the grid has {programs}, but {needed} would write all of {name}: {elements} left unwritten")
    writes = evidence.writes()
    for argument, op in outputs(writes):
        left = never_written(launch, evidence.unwritten, writes, argument)
        if len(left) and argument.is_contiguous and 0 < math.prod(argument.shape) <= _MOST:
            written = elements_in(Ranges.joined(write.bytes() for write in writes if write.owner == argument), argument)
            for axis, needed in _short_axes(argument, written, launch):
                yield _Short(axis, needed, argument, op, left, text)


def _untouched(evidence: LaunchSummary) -> Iterator[_Short]:
    """The axes that are too short for tensors whose size is in the masks, and whose end no program accesses."""
    launch = evidence.launch
    text = _("the grid has {programs}, but {needed} would reach all of {name}: {elements} are not accessed")
    writes = evidence.writes()
    accesses = [one for one in (*evidence.reads(), *writes) if one.bytes().start.size]
    for argument in launch.arguments:
        own = [one for one in accesses if one.owner == argument]
        if not own or argument.kind != "tensor" or 0 in argument.strides or math.prod(argument.shape) > _MOST:
            continue
        written = [one.bytes() for one in writes if one.owner == argument]
        touched = elements_in(Ranges.joined([evidence.bytes_read(argument), *written]), argument)
        if touched.all():
            continue
        sizes = _sizes_in_masks(launch, [one.op for one in own])
        for axis, needed in _short_axes(argument, touched, launch, sizes):
            places = element_addresses(argument)[~touched.reshape(-1)]
            yield _Short(axis, needed, argument, own[0].op, Ranges.of(places, places + argument.itemsize), text)


def _sizes_in_masks(launch: Recorded, ops: Sequence[Op]) -> set[int]:
    """The numbers that the launch passes and that the masks of these accesses depend on."""
    plan = launch.executable.plan
    flow = Flow.of(plan)
    masks = [Value(flow.function_of[op.index], mask) for op in ops if (mask := mask_operand(op)) is not None]
    behind = flow.behind(masks)
    pairs = zip(plan.kernel.arguments, launch.plan_arguments, strict=False)
    return {one.value for number, one in pairs if type(one.value) is int and Value(plan.kernel.name, number) in behind}


def _programs(count: int, axis: int, grid: tuple[int, int, int]) -> str:
    told = messages.count(count, "program")
    return told if math.prod(grid) == grid[0] else _("{told} along axis {axis}").format(told=told, axis=axis)


def _short_axes(
    argument: Argument, touched: Flags, launch: Recorded, masked: Set[int] | None = None
) -> Iterator[tuple[int, int]]:
    """The axes of the grid that are too short for this argument, and how many programs they need.

    What is ``touched`` must be a box from element 0 on, whose extent is divided evenly, in blocks of a power of 2.
    Either less than a block is left, or the kernel is told the sizes of the whole: else it may be meant to stop there.
    With ``masked``, the numbers in the masks, less than a block must be left, and the masks must know the size.
    """
    extents = [
        int(
            np.flatnonzero(touched.any(axis=tuple(other for other in range(touched.ndim) if other != axis))).max(
                initial=-1
            )
        )
        + 1
        for axis in range(touched.ndim)
    ]
    if not math.prod(extents) or int(touched.sum()) != math.prod(extents):
        return
    sizes = {one.value for one in launch.arguments if type(one.value) is int}
    steps = _steps(launch.executable.plan)
    for axis, extent in enumerate(extents):
        size = argument.shape[axis]
        if extent == size:
            continue
        divided = [(extent // count, number) for number, count in enumerate(launch.grid) if not extent % count]
        blocks = [(block, number) for block, number in divided if block & (block - 1) == 0]
        # One program divides every extent: that it steps by this block is known only if the kernel says so.
        stepping = [(block, number) for block, number in blocks if (number, block) in steps]
        several = [(block, number) for block, number in blocks if launch.grid[number] > 1]
        for block, number in stepping if len(stepping) == 1 else several if len(several) == 1 else ():
            whole = {size, math.prod(argument.shape)}
            if masked is not None and not (size - extent < block and masked & whole and extent not in masked):
                continue
            if size - extent < block or sizes & whole:
                yield number, -(-size // block)


def _steps(plan: Plan) -> set[tuple[int, int]]:
    """The axes of the grid with the constants that the kernel multiplies ``tl.program_id`` of the axis by."""
    ops = list(plan.kernel.walk())
    programs = {op.results[0]: int(op.attributes["axis"]) for op in ops if op.name == "tt.get_program_id"}
    constants = {op.results[0]: op for op in ops if op.name == "arith.constant"}
    found: set[tuple[int, int]] = set()
    for op in ops:
        if op.name == "arith.muli":
            for one, other in (op.operands, op.operands[::-1]):
                if one in programs and other in constants:
                    bounds = constant_bounds(constants[other])
                    if bounds is not None:
                        found.add((programs[one], bounds[0]))
    return found
