"""Grids with too few programs along an axis: more of them would write all of an output."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.launch.access_footprint import tensor_bytes
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
    from triton_lab.ir import Plan
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
        "Only tensors are looked at that torch gave uninitialized, whose elements are contiguous, and of which the "
        "programs write a block that begins at the first element and is divided evenly between them. A grid without "
        "programs is meant if a tensor of the launch has no elements."
    )
    concerned = Concerned.ALL
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
        if not evidence.complete or not len(evidence.unwritten) or launch.snapshot is None:
            return
        if launch.snapshot.missing:
            raise CannotReplay(launch.snapshot.missing)
        writes = evidence.writes()
        told: set[int] = set()
        for argument, op in outputs(writes):
            left = never_written(launch, evidence.unwritten, writes, argument)
            if not len(left) or not argument.is_contiguous or not 0 < math.prod(argument.shape) <= _MOST:
                continue
            written = Ranges.joined(write.bytes() for write in writes if write.owner == argument)
            for grid_axis, needed in _short_axes(argument, _flags(written, argument), launch):
                if grid_axis in told:
                    continue
                told.add(grid_axis)
                number = left.size // argument.itemsize
                yield finding(
                    launch,
                    self.kind,
                    _(
                        "the grid has {programs}, but {needed} would write all of {name}: {elements} stay unwritten"
                    ).format(
                        programs=_programs(launch.grid[grid_axis], grid_axis, launch.grid),
                        needed=messages.number(needed),
                        name=argument.name,
                        elements=messages.count(number, "element"),
                    ),
                    _("Start triton.cdiv(size, BLOCK) programs, which rounds up. {place}")
                    .format(place=launched_at(launch))
                    .rstrip(),
                    op=op,
                    argument=argument,
                    count=number,
                    where=left,
                )


def _programs(count: int, axis: int, grid: tuple[int, int, int]) -> str:
    told = messages.count(count, "program")
    return told if math.prod(grid) == grid[0] else _("{told} along axis {axis}").format(told=told, axis=axis)


def _flags(written: Ranges, argument: Argument) -> Flags:
    """Which elements were written, in the argument's shape."""
    flags = np.zeros(math.prod(argument.shape) + 1, np.int64)
    whole = tensor_bytes(argument.address, argument.shape, argument.strides, argument.itemsize)
    part = written & whole
    first = -((argument.address - part.start) // argument.itemsize)
    np.add.at(flags, first, 1)
    np.add.at(flags, (part.stop - argument.address) // argument.itemsize, -1)
    found: Flags = (np.cumsum(flags)[:-1] > 0).reshape(argument.shape)
    return found


def _short_axes(argument: Argument, written: Flags, launch: Recorded) -> Iterator[tuple[int, int]]:
    """The axes of the grid that are too short for this argument, and how many programs they need.

    What is written must be a box from element 0 on, whose extent is divided evenly, in blocks of a power of 2. Either
    less than a block is left, or the kernel is told the sizes of the whole: else it may be meant to stop there.
    """
    extents = [
        int(
            np.flatnonzero(written.any(axis=tuple(other for other in range(written.ndim) if other != axis))).max(
                initial=-1
            )
        )
        + 1
        for axis in range(written.ndim)
    ]
    if not math.prod(extents) or int(written.sum()) != math.prod(extents):
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
            if size - extent < block or sizes & {size, math.prod(argument.shape)}:
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
