"""Elements of an input that no program loads, where most others are loaded.

A mask that ends too early, a row that is longer than its block, a stride that is none of the tensor's: the result lacks
what was not loaded, and no access is wrong. A kernel may also need only a part, so this is a note, and silent where
something in the launch says what part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from triton_lab import messages
from triton_lab.ir import Op, Plan, effects, traits
from triton_lab.ir.access_masks import mask_operand
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.value_flow import decisive
from triton_lab.launch.access_footprint import elements_in
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Flags, Ranges
from triton_lab.launch.checks.analysis.finding_text import LISTED, finding, stretches
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary, Write
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.localization import N_, _, translated

_MOST = 1 << 20  # elements of an argument that are examined
_MEND = N_(
    "If only a part is meant to be read, this is fine. Otherwise compare the offsets, the masks and the grid with the "
    "shape."
)


class UnreadRule(WholeRule):
    """Elements of an input are not read, where most others are."""

    kind = "unread"
    severity = NOTE
    subject = N_("elements of inputs that no program reads")
    summary = N_("Elements of an input are not read by any program, where most others are.")
    why = N_(
        "A mask that ends one element too early, a row that is longer than its block, or a row stride that is not the "
        "tensor's leaves elements out. No access is out of bounds, and the result lacks what was not read."
    )
    remedy = N_("Compare offsets, masks and grid with the shape: `triton.cdiv(n, BLOCK)` blocks cover n elements.")
    intended = N_(
        "If the kernel needs a part only, such as the first columns or a window, or another launch reads the rest. "
        "Nothing is said where the part is as long as a number or another tensor of the launch, about padding behind "
        "a view, about triangles, about tensors of which half or less is read, and where loaded values decide what is "
        "read, as in a gather."
    )
    blind = N_(
        "Only tensors to which the kernel does not store, and only pointers and masks that follow from indices and "
        "sizes. An element that is loaded may still not be used."
    )
    concerned = Concerned.ALL
    every_launch = True
    superseded_by = (
        "small-grid",
        "unused-grid-axis",
        "unwritten",
        "wrong-stride",
        "assumed-contiguous",
        "standing-load",
        "overlapping-rows",
        "always-false-mask",
    )
    mark = N_("read by no program")

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each argument, at the first load of it."""
        launch = evidence.launch
        if not evidence.complete:
            return
        every = evidence.reads()
        if any(one.owner is None for one in every):
            return
        written = {one.owner.storage_address for one in evidence.writes() if one.owner is not None}
        for argument in launch.arguments:
            reads = [one for one in every if one.owner == argument and one.bytes().start.size]
            if not reads or argument.storage_address in written or not _is_examined(argument, reads):
                continue
            read = elements_in(evidence.bytes_read(argument), argument).reshape(-1)
            told = evidence.knows_extents(argument)
            if read.all() or (2 * int(read.sum()) <= len(read) and not told):
                continue
            several = elements_in(evidence.once(_several), argument).reshape(-1) & read
            plan, loads = launch.executable.plan, {one.op.index for one in reads}
            ragged = bool(several.any()) or (told and not _is_a_pattern(plan, loads))
            if not _is_meant(evidence, argument, read, ragged) and not _depends_on_data(plan, loads):
                yield self._finding(evidence, reads[0].op, argument, read, several)

    def _finding(self, evidence: LaunchSummary, op: Op, argument: Argument, read: Flags, several: Flags) -> Finding:
        missing = np.flatnonzero(~read)
        text = _("{count} of {every} of {name} are not read by any program, the first is {first}{several}")
        # Where all are read by several programs, that is how the kernel works.
        some = 0 < several.sum() < read.sum()
        more = _("; {several} are read by several").format(several=messages.number(int(several.sum()))) if some else ""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], ~read, [False]]).astype(np.int8)))
        return finding(
            evidence.launch,
            self.kind,
            text.format(
                count=messages.number(len(missing)),
                every=messages.count(len(read), "element"),
                name=argument.name,
                first=messages.element(argument.name, int(missing[0]), argument.shape),
                several=more,
            ),
            translated(_MEND),
            op=op,
            argument=argument,
            count=len(missing),
            elements=missing[:LISTED],
            extent=stretches(edges[::2], edges[1::2]),
        )


def _several(evidence: LaunchSummary) -> Ranges:
    return evidence.read_by_several()


def _is_examined(argument: Argument, reads: Sequence[Write]) -> bool:
    if argument.kind != "tensor" or 0 in argument.strides or not argument.itemsize:
        return False
    return 1 < math.prod(argument.shape) <= _MOST and not any(effects.by_descriptor(one.op) for one in reads)


def _is_meant(evidence: LaunchSummary, argument: Argument, read: Flags, ragged: bool) -> bool:
    """Whether the part that is read is one that something in the launch names, or a triangle.

    A part that is no box may be a mistake where it is ``ragged``: elements are read by several programs, so that
    offsets overlap, or the kernel is told the extents of the whole.
    """
    read = read.reshape(argument.shape)
    axes = [np.flatnonzero(read.any(axis=tuple(k for k in range(read.ndim) if k != axis))) for axis in range(read.ndim)]
    if math.prod(map(len, axes)) == int(read.sum()):  # a box
        known = _lengths(evidence, argument)
        cut = [(len(one), extent) for one, extent in zip(axes, argument.shape, strict=True) if len(one) < extent]
        return all(length in known or extent - length in known - {1} for length, extent in cut)
    return _is_triangle(read) or not ragged


def _lengths(evidence: LaunchSummary, argument: Argument) -> set[int]:
    """The numbers and sizes of the launch that may say how much of an argument is meant."""
    found = set(evidence.launch.grid) - {1}
    for one in evidence.launch.arguments:
        if one.kind == "scalar" and type(one.value) is int:
            found.add(one.value)
        elif one.kind == "tensor" and one.name != argument.name:
            found |= {*one.shape, math.prod(one.shape)}
    return found


def _is_triangle(read: Flags) -> bool:
    if read.ndim < 2:
        return False
    every = read.reshape(-1, *read.shape[-2:])
    for make in (np.tril, np.triu):
        for diagonal in (-1, 0, 1):
            shape = make(np.ones(read.shape[-2:], np.bool_), diagonal)
            if (every <= shape).all():
                return True
    return False


def _is_a_pattern(plan: Plan, loads: set[int]) -> bool:
    """Whether a mask of these operations compares a remainder: it picks one element of several."""
    flow = Flow.of(plan)
    ops = [op for op in plan.walk() if op.index in loads]
    masks = [(op, mask) for op in ops if (mask := mask_operand(op)) is not None]
    remainders = traits.names(lambda trait: trait.symbol == "%")
    for value in flow.behind(Value(flow.function_of[op.index], mask) for op, mask in masks):
        maker = flow.maker.get(value)
        if maker is not None and maker.name == "arith.cmpi":
            compared = (flow.maker.get(Value(value.function, number)) for number in maker.operands)
            if any(op is not None and op.name in remainders for op in compared):
                return True
    return False


def _depends_on_data(plan: Plan, loads: set[int]) -> bool:
    """Whether numbers from memory, or floats, decide what these operations load, or how often anything runs."""
    flow = Flow.of(plan)
    start: list[Value] = []
    for function in plan.functions.values():
        for op in function.walk():
            inner = [each for region in op.regions for block in region.blocks for each in block.ops]
            numbers = [*decisive(op), *(number for each in inner for number in decisive(each))]
            if op.index in loads:
                roles = effects.operands_of(op)
                numbers += [op.operands[at] for at in (roles.address, roles.mask) if at is not None]
            start += [Value(function.name, number) for number in numbers]
    for value in flow.behind(start):
        maker = flow.maker.get(value)
        if maker is not None and (
            effects.brings_in(maker) or plan.functions[value.function].types[value.number].is_float
        ):
            return True
    return False
