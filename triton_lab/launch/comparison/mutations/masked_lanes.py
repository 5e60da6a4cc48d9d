"""Switches for masked-off lanes: the values that they hold, and whether reductions include them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.runtime_values import Value as Held
from triton_lab.ir import Op, traits
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.effects import operands_of
from triton_lab.ir.neutral_values import combined_by, neutral
from triton_lab.ir.plan_edits import Edit, Editor, with_operand
from triton_lab.launch.comparison.interpreter_changes import ChangedAccess, Layers, changed
from triton_lab.launch.comparison.mutations.ir_query import (
    behind,
    cost_of_number,
    function_of,
    indices,
    lines_of,
    makers,
    ops_of,
    shape_of,
    visible,
)
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]


def masked_off(launch: Launch) -> list[tuple[Op, Access]]:
    """The loads with masked-off lanes that reach other lanes or memory."""
    ops = {op.index: op for op in ops_of(launch, "tt.load") if operands_of(op).mask is not None}
    flow = Flow.of(launch.executable.plan)
    mixed = [op for op in launch.executable.plan.walk() if op.name in traits.FOLDS | {"tt.dot"}]
    mixing = behind(flow, [(op, number) for op in mixed for number in op.operands])
    stores = [(store, operands_of(store)) for store in ops_of(launch, "tt.store")]
    found = []
    for one in launch.done:
        if one.op in ops and any(not event.active().all() for event in one.events):
            op = ops[one.op]
            mask = op.operands[operands_of(op).mask or 0]
            bare = [
                (store, store.operands[1]) for store, at in stores if at.mask is None or store.operands[at.mask] != mask
            ]
            value = Value(flow.function_of[op.index], op.results[0])
            if value in mixing or value in behind(flow, bare):
                found.append((op, one))
    return found


def others(launch: Launch, masked: Sequence[tuple[Op, Access]]) -> Iterator[Switch]:
    """Switches for the value of masked-off lanes: the neutral elements of maximum, minimum, sum and product."""
    groups = [[each] for each in masked] + ([list(masked)] if len(masked) > 1 else [])
    for group in groups:
        for value, spelled in ((-np.inf, "-inf"), (0.0, "0"), (np.inf, "inf"), (1.0, "1")):
            ops = [op for op, _unused in group]
            if value in (0.0, 1.0) or all("float" in one.dtype for _unused, one in group):
                name = f"other={spelled}{lines_of(launch, *ops)}"
                cost = max(_cost(launch, op) for op in ops)
                yield Switch(
                    name,
                    _("the values of masked-off lanes"),
                    layers=(_filled(ops, value),),
                    ops=indices(ops),
                    cost=cost,
                )


def _cost(launch: Launch, op: Op) -> float:
    at = operands_of(op).other
    return 1 if at is None else cost_of_number(makers(function_of(launch, op)), op, at)


def _filled(ops: Sequence[Op], value: float) -> Layers:
    def load(inner: Implementation, frame: Frame, op: Op, *operands: Held, touch: ChangedAccess | None = None) -> Held:
        found: Array = inner(frame, op, *operands, touch=touch)
        mask = (touch or ChangedAccess.of(op, operands)).active()
        return np.where(mask, found, np.array(value).astype(found.dtype))

    return changed(ops, load)


_CHOICE = 2  # what it costs to write `tl.where(mask, ..., ...)` around a value


def left_out(launch: Launch, masked: Sequence[tuple[Op, Access]]) -> Iterator[Switch]:
    """Switches for reductions of blocks of a load's shape, without the lanes that its mask turns off.

    What several reductions take is also chosen once, where it gets its name.
    """
    flow = Flow.of(launch.executable.plan)
    reductions = [op for op in ops_of(launch, "tt.reduce") if len(op.operands) == 1]
    taken = {op.index: behind(flow, [(op, op.operands[0])]) for op in reductions}
    cause = _("masked-off lanes that take part in a reduction")
    for load, _unused in masked:
        value, shape = Value(flow.function_of[load.index], load.results[0]), shape_of(launch, load)
        fed = [op for op in reductions if value in taken[op.index] and shape_of(launch, op) == shape]
        for group in [[op] for op in fed] + ([fed] if len(fed) > 1 else []):
            edits = _without(launch, load, group)
            if edits:
                name = _left_out(lines_of(launch, _last_before(launch, load, group[0])), lines_of(launch, *group))
                yield Switch(name, cause, edits=edits, ops=indices(group), cost=_CHOICE + len(group) - 1)
        for op in _named_between(launch, flow, load, fed):
            edits = _chosen_once(launch, load, op, [each for each in fed if _result(flow, op) in taken[each.index]])
            if edits:
                name = _left_out(lines_of(launch, load), lines_of(launch, op))
                yield Switch(name, cause, edits=edits, ops=indices([op]), cost=_CHOICE)


def _left_out(masked: str, chosen: str) -> str:
    return _("lanes masked off{lines_of} left out{lines_of_2}").format(lines_of=masked, lines_of_2=chosen)


def _named_between(launch: Launch, flow: Flow, load: Op, fed: Sequence[Op]) -> Iterator[Op]:
    """What is computed from the loaded block on a line of its own, lane by lane, before any of the reductions."""
    lines = {op.index: where.line for op in (load, *fed) if (where := launch.lines.get(op.index)) is not None}
    if len(lines) < 1 + len(fed) or len(fed) < 2:
        return
    function, value = function_of(launch, load), Value(flow.function_of[load.index], load.results[0])
    shape = function.types[load.results[0]].shape
    last: dict[int, Op] = {}
    for op in function.walk():
        where = launch.lines.get(op.index)
        alike = len(op.results) == 1 and function.types[op.results[0]].shape == shape
        if where is not None and where.line not in lines.values() and alike and traits.of(op.name).is_lane_by_lane:
            last[where.line] = op
    yield from (op for op in last.values() if value in behind(flow, [(op, number) for number in op.operands]))


def _result(flow: Flow, op: Op) -> Value:
    return Value(flow.function_of[op.index], op.results[0])


def _last_before(launch: Launch, load: Op, reduction: Op) -> Op:
    """The operation that gives the reduced lanes their last name after they are loaded: they may be chosen there."""
    made = makers(function_of(launch, reduction))
    at, here = launch.lines.get(reduction.index), launch.lines.get(load.index)
    op, found = made.get(reduction.operands[0]), load
    while op is not None and op.index != load.index and found is load:
        line = launch.lines.get(op.index)
        if line is not None and at is not None and here is not None and here.line < line.line < at.line:
            found = op
        op = next((each for each in map(made.get, op.operands) if each is not None and _shaped(launch, each, op)), None)
    return found


def _shaped(launch: Launch, one: Op, two: Op) -> bool:
    """Whether two operations give blocks of one shape, the first of them by elements of others."""
    types = function_of(launch, one).types
    return bool(one.results and two.results) and (
        types[one.results[0]].shape == types[two.operands[0]].shape and bool(one.operands) and one.name != "tt.splat"
    )


def _neutral_of(launch: Launch, op: Op) -> float | None:
    name = combined_by(op)
    return neutral(name, function_of(launch, op).types[op.operands[0]]) if name else None


def _without(launch: Launch, load: Op, reductions: Sequence[Op]) -> tuple[tuple[int, Edit], ...]:
    """The edits that leave out the lanes; none where the mask is not visible, or lanes have no neutral element."""
    mask = load.operands[operands_of(load).mask or 0]
    found = []
    for op in reductions:
        number = _neutral_of(launch, op)
        if number is None or mask not in visible(function_of(launch, op), op):
            return ()
        found.append((op.index, _chosen(mask, number)))
    return tuple(found)


def _chosen_once(launch: Launch, load: Op, op: Op, reductions: Sequence[Op]) -> tuple[tuple[int, Edit], ...]:
    """The edit that gives the lanes of a result the neutral element of several reductions, if they have one."""
    mask = load.operands[operands_of(load).mask or 0]
    numbers = {_neutral_of(launch, each) for each in reductions}
    function = function_of(launch, op)
    if len(reductions) < 2 or len(numbers) > 1 or mask not in visible(function, op):
        return ()
    (number,) = numbers
    if number is None or not function.types[op.results[0]].is_float:
        return ()
    return ((op.index, _masked(mask, number)),)


def _chosen(mask: int, neutral: float) -> Edit:
    """A reduction of the lanes that a mask lets through, and of ``neutral`` elsewhere."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        made = _select(editor, op, mask, op.operands[0], neutral)
        return [*made, *with_operand(0, made[-1].results[0])(editor, op)]

    return edit


def _masked(mask: int, neutral: float) -> Edit:
    """An operation whose result is ``neutral`` in the lanes that a mask turns off."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        (result,) = op.results
        inner = editor.value(editor.type(result))
        made = _select(editor, op, mask, inner, neutral)
        return [replace(op, results=(inner,)), *made[:-1], replace(made[-1], results=(result,))]

    return edit


def _select(editor: Editor, near: Op, mask: int, value: int, neutral: float) -> list[Op]:
    """``tl.where(mask, value, neutral)``"""
    type = editor.type(value)
    other = editor.constant(near, neutral, type)
    return [other, editor.op(near, "arith.select", (mask, value, *other.results), type)]
