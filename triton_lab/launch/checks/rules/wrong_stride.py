"""Rows of a contiguous tensor that a kernel takes as often apart as the tensor has rows, and not columns.

`x + row * M + column` reads overlapping rows if `x` has shape (M, N) and M is less than N. No access is out of bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir import effects
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.checks.analysis.finding_text import finding, listed
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.localization import N_, _

_MOST = 1 << 20  # lanes that are examined


class WrongStrideRule(Rule):
    """The rows of a contiguous tensor are loaded with another distance between them than the tensor's."""

    kind = "wrong-stride"
    severity = WARNING
    subject = N_("distances between rows")
    summary = N_("The rows of a tensor are loaded with a stride that is not the length of its rows.")
    why = N_(
        "A row-major tensor of shape (M, N) has its rows N elements apart. A kernel that multiplies the row by M loads "
        "overlapping rows, or with M and N exchanged a column as if it were a row. Where that stays inside the tensor, "
        "nothing stops it, and for a square tensor the result is right."
    )
    remedy = N_("Multiply the row by `x.stride(0)`, and pass that to the kernel.")
    intended = N_("If overlapping windows of the tensor are meant, as many as it has rows and each as long as a row.")
    blind = N_(
        "It looks at loads of contiguous tensors with two axes or more, in which each row is as long as one of the "
        "tensor, and all rows are loaded. Other strides show in elements that are `unread`."
    )
    concerned = Concerned.ALL
    mark = N_("loaded with another stride")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each argument, at the first load that does so."""
        launch = evidence.launch
        if not evidence.complete:
            return
        told: set[str] = set()
        by_op: dict[int, list[SeenAccess]] = {}
        for sight in evidence.sights("load"):
            by_op.setdefault(sight.op.index, []).append(sight)
        for sights in by_op.values():
            op = sights[0].op
            argument = evidence.owner(op)
            if argument is None or argument.name in told or effects.by_descriptor(op) or not _has_rows(argument):
                continue
            if sum(sight.event.lanes for sight in sights) > _MOST:
                continue
            if all(_loads_rows(sight.event, argument) for sight in sights):
                continue
            rows = _rows(evidence, sights, argument)
            wrong = None if rows is None else rows.wrong(argument)
            if wrong is None or not len(wrong):
                continue
            told.add(argument.name)
            yield finding(
                launch,
                self.kind,
                _(
                    "the rows of {name}, of shape {shape}, are {length} elements apart, and are loaded {rows} apart"
                ).format(
                    name=argument.name,
                    shape=argument.shape,
                    length=argument.shape[-1],
                    rows=math.prod(argument.shape[:-1]),
                ),
                _("Multiply the row by {length}, which is {name}.stride({axis}).").format(
                    name=argument.name, length=argument.shape[-1], axis=len(argument.shape) - 2
                ),
                op=op,
                argument=argument,
                lanes=listed([wrong]),
                count=len(wrong),
            )


def _has_rows(argument: Argument) -> bool:
    """Whether it is a contiguous tensor with several rows, of another number than it has columns."""
    if argument.kind != "tensor" or len(argument.shape) < 2 or not argument.is_contiguous:
        return False
    rows, columns = math.prod(argument.shape[:-1]), argument.shape[-1]
    return rows > 1 and columns > 1 and rows != columns


def _loads_rows(event: AccessEvent, argument: Argument) -> bool:
    """Whether each line of the block, along its last axis, is a row of the tensor: seen without its lanes."""
    pointer, row = event.pointer, argument.shape[-1] * argument.itemsize
    if not isinstance(pointer, AffineBlock) or not event.shape or event.shape[-1] != argument.shape[-1]:
        return False
    if event.mask is not None and not (isinstance(event.mask, MaskBox) and event.mask.is_full()):
        return False
    *others, last = pointer.strides
    whole = last == argument.itemsize and not any(stride % row for stride in others)
    return whole and not bool(((pointer.base - argument.address) % row).any())


@dataclass(frozen=True, eq=False)
class _Rows:
    """What is loaded as rows: the lanes, row by row; the first lane of each row, its first offset, and its length.

    ``step`` is the distance in a row; all are in elements.
    """

    lanes: EvidenceLanes
    begin: Ints
    first: Ints
    length: Ints
    step: int

    def wrong(self, argument: Argument) -> EvidenceLanes | None:
        """The lanes of rows that are as long as the tensor's and are none of them; None if it is no mistake.

        Each row is looked at by itself, since a part of a launch may have one alone.
        """
        rows, columns = math.prod(argument.shape[:-1]), argument.shape[-1]
        if (self.length != columns).any():
            return None
        if self.step == rows:  # a column of the tensor as if it had `rows` columns
            wrong = np.ones(len(self.first), np.bool_) if (self.first < rows).all() else None
        elif self.step == 1 and not (self.first % rows).any() and (self.first // rows < rows).all():
            wrong = self.first % columns != 0
        else:
            wrong = None
        if wrong is None:
            return None
        lanes = self.lanes.where(np.repeat(wrong, self.length))
        return lanes.at(np.lexsort((lanes.lane, lanes.time, lanes.program)))


def _rows(evidence: Evidence, sights: Sequence[SeenAccess], argument: Argument) -> _Rows | None:
    """The rows of an access: lanes along the last axis of a block, of one program and of all times it ran.

    None if they are not lanes with one step. A program may load a row piece by piece, or one row after another.
    """
    parts = [evidence.active_lanes(sight) for sight in sights]
    lanes = EvidenceLanes(
        *(np.concatenate([getattr(one, name) for one in parts]) for name in ("program", "lane", "address", "time"))
    )
    shape = sights[0].event.shape
    if not len(lanes) or not shape or shape[-1] < 2 or any(sight.event.shape != shape for sight in sights):
        return None
    offset = (lanes.address - argument.address) // argument.itemsize
    if offset.min() < 0 or offset.max() >= math.prod(argument.shape):
        return None
    row = lanes.program * (math.prod(shape) // shape[-1]) + lanes.lane // shape[-1]
    for turn in (np.zeros(len(lanes), np.int64), lanes.time - lanes.time.min()):
        found = _joined(lanes, offset, turn * (int(row.max()) + 1) + row)
        if found is not None and (found.length == argument.shape[-1]).all():
            return found
    return None


def _joined(lanes: EvidenceLanes, offset: Ints, row: Ints) -> _Rows | None:
    """The rows, if the offsets of each are apart by one step."""
    order = np.lexsort((offset, row))
    row, offset = row[order], offset[order]
    new = np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1]]))
    inside = np.ones(len(row), np.bool_)
    inside[new] = False
    steps = np.unique(np.diff(offset)[inside[1:]])
    if len(steps) != 1 or steps[0] <= 0:
        return None
    return _Rows(lanes.at(order), new, offset[new], np.diff(np.append(new, len(row))), int(steps[0]))
