"""Rows that overlap where programs load them, so that the end of the tensor is never read.

`x + row + stride + column`, or the stride of another axis: each program loads a row that begins a few elements behind
that of the program before it, across the ends of the tensor's own rows. No access is out of bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from triton_lab import messages
from triton_lab.ir import Plan, effects
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.launch.access_footprint import elements_in
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Flags, Ranges
from triton_lab.launch.checks.analysis.finding_text import LISTED, finding, stretches
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary, Write
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.localization import N_, _

_MOST = 1 << 20  # elements that are examined


class OverlappingRowsRule(WholeRule):
    """Programs load overlapping rows, across the ends of a tensor's rows, and leave the tensor's end unread."""

    kind = "overlapping-rows"
    severity = WARNING
    subject = N_("rows that overlap")
    summary = N_("Programs load rows that overlap, across the ends of the tensor's rows, and not all of the tensor.")
    why = N_(
        "The stride between two rows is too short: it belongs to another axis or another tensor, or is added where it "
        "should be multiplied. Every program but the first then works on parts of two rows."
    )
    remedy = N_("Multiply each index by the stride of its axis: `x_ptr + row * x.stride(0) + column * x.stride(1)`.")
    intended = N_("If windows are meant that overlap, reach across rows, and end before the tensor does.")
    blind = N_(
        "It looks at loads of contiguous tensors with two axes or more. What is read must be one piece, of which most "
        "is read by several programs, or little of the tensor. Loaded values may not decide what is read."
    )
    concerned = Concerned.SEVERAL
    superseded_by = ("wrong-stride", "overflow", "precedence", "unused-grid-axis")
    mark = N_("read by no program")

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each argument, at the first load of it."""
        launch = evidence.launch
        if not evidence.complete or launch.programs < 2:
            return
        every, written = evidence.reads(), {one.owner for one in evidence.writes()}
        for argument in launch.arguments:
            reads = [one for one in every if one.owner == argument and one.bytes().start.size]
            if not reads or argument in written or not _has_rows(argument):
                continue
            read = elements_in(evidence.bytes_read(argument), argument)
            if read.all() or not read.any() or not _is_a_piece(read):
                continue
            several = elements_in(evidence.once(_several), argument) & read
            if not _is_crowded(read, several) or _depends_on_data(launch.executable.plan, reads):
                continue
            if (several == read).all() and not evidence.knows_extents(argument):
                continue
            missing = np.flatnonzero(~read)
            edges = np.flatnonzero(np.diff(np.concatenate([[False], ~read.reshape(-1), [False]]).astype(np.int8)))
            yield finding(
                launch,
                self.kind,
                _(
                    "the rows of {name} that programs load overlap, across the ends of its rows: {several} of {every} "
                    "are read by several programs, and {missing} by none"
                ).format(
                    name=argument.name,
                    several=messages.number(int(several.sum())),
                    every=messages.count(read.size, "element"),
                    missing=messages.number(len(missing)),
                ),
                _(
                    "Multiply each index by the stride of its axis: {name} has shape {shape} and strides {strides}."
                ).format(name=argument.name, shape=argument.shape, strides=argument.strides),
                op=reads[0].op,
                argument=argument,
                count=len(missing),
                elements=missing[:LISTED],
                extent=stretches(edges[::2], edges[1::2]),
            )


def _several(evidence: LaunchSummary) -> Ranges:
    return evidence.read_by_several()


def _has_rows(argument: Argument) -> bool:
    """Whether it is a contiguous tensor with rows."""
    axes = sum(extent > 1 for extent in argument.shape)
    size = math.prod(argument.shape)
    return argument.kind == "tensor" and axes > 1 and size <= _MOST and argument.is_contiguous


def _is_crowded(read: Flags, several: Flags) -> bool:
    """Whether most of what is read is read by several programs, or little is read at all.

    Neighbours of a stencil are read by two programs, and are few.
    """
    read_by_many = int(several.sum())
    return 2 * read_by_many > int(read.sum()) or (read_by_many > 0 and 2 * int(read.sum()) < read.size)


def _is_a_piece(read: Flags) -> bool:
    """Whether what is read is one stretch across rows, the same for all indices of some leading axes with any."""
    for axis in range(read.ndim - 1):
        rows = read.reshape(math.prod(read.shape[:axis]), -1)
        rows = rows[rows.any(axis=1)]
        own = np.flatnonzero(rows[0])
        if (rows == rows[0]).all() and own[-1] - own[0] + 1 == len(own):
            return not _is_box(rows[0].reshape(read.shape[axis:]))
    return False


def _is_box(read: Flags) -> bool:
    index = np.nonzero(read)
    return math.prod(int(one.max() - one.min()) + 1 for one in index) == len(index[0])


def _depends_on_data(plan: Plan, reads: Sequence[Write]) -> bool:
    """Whether loaded values decide the addresses or the masks of these loads."""
    flow = Flow.of(plan)
    start = [Value(flow.function_of[one.op.index], number) for one in reads for number in one.op.operands]
    makers = (flow.maker.get(value) for value in flow.behind(start))
    return any(op is not None and effects.is_access(op) for op in makers)
