"""The origin of a stored value: traced back, lane by lane, through all operations to the loads.

One program is replayed, and the need for an element is passed back from results to operands
(`propagation.value_needs`). Elements that decide count as well: a loaded index decides which element is loaded next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.shared_views import SharedView
from triton_lab.interpreter.runtime_values import Descriptor
from triton_lab.interpreter.runtime_values import elements as elements_of
from triton_lab.ir import Op, effects
from triton_lab.launch.propagation.value_needs import ExecutedStep, RunRecord
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.messages import who as who_name

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Origin:
    """Elements that one execution of a load read.

    ``lanes`` (row-major in the block) are the needed lanes, and ``elements`` their elements of the argument (row-major
    over its shape, -1 for none).

    >>> launch.origins(launch.accesses[2], program=0, lane=3)[0]
    Origin(line=21, argument='x_ptr', iteration=0, lanes=array([3]), elements=array([3]))
    """

    line: int | None
    argument: str | None
    iteration: int
    lanes: Array
    elements: Array


def origins(launch: Recorded, access: Access, program: int, lane: int, iteration: int = 0) -> list[Origin]:
    """The loads behind the value that ``program`` stored in ``lane`` (row-major) of ``access``, in execution order.

    Raises ValueError if ``access`` is no store, or if the program does not reach this iteration of it.
    """
    if access.kind != "store":
        raise ValueError(
            _("the {kind} on line {line} stores nothing: pass a store").format(kind=access.kind, line=access.line)
        )
    record = RunRecord(launch.executable.plan)
    replay(launch, observer=record, programs=np.array([program]))
    stores = [position for position, step in enumerate(record.steps) if step.op.index == access.op]
    if iteration >= len(stores):
        who, often = who_name(program, launch.grid), counted(len(stores), "time")
        raise ValueError(
            _("{who} gets to the store on line {line} {often}").format(who=who, line=access.line, often=often)
        )
    start = stores[iteration]
    step = record.steps[start]
    value = effects.operands_of(step.op).value
    view = None if value is not None else step.operands[effects.operands_of(step.op).buffer or 0]
    shape = view.shape if isinstance(view, SharedView) else step.shape(step.op.operands[value or 0])
    need = np.zeros((1, *shape), np.bool_)
    need.reshape(-1)[lane] = True
    if isinstance(view, SharedView):
        record.ask_buffer(start, view, need)
    else:
        assert value is not None
        record.ask(start, step, value, need)
    needed = set(map(id, record.pass_back(start)))
    return _collect(launch, record.steps[:start], needed)


def _collect(launch: Recorded, steps: Sequence[ExecutedStep], needed: set[int]) -> list[Origin]:
    """The loads among the steps, with the lanes that are needed of them; ``needed`` are the steps with any, by `id`."""
    result = []
    count: Counter[int] = Counter()
    for step in steps:
        if not effects.brings_in(step.op) and not _copies_in(step.op):
            continue
        iteration = count[step.op.index]
        count[step.op.index] += 1
        need = step.moved if step.moved is not None else step.need[0] if step.need else None
        if id(step) in needed and need is not None:
            argument, line = launch.owner_of(step.op.index), launch.lines.get(step.op.index)
            lanes, addresses = _touched(step, need)
            name = None if argument is None else argument.name
            elements = _elements(addresses, argument)
            if argument is not None and _by_tiles(step.op):
                elements = _of_tile(step, need, argument)
            result.append(Origin(None if line is None else line.line, name, iteration, lanes, elements))
    return result


def _copies_in(op: Op) -> bool:
    """Whether it copies a tensor's elements into shared memory."""
    return effects.is_access(op) and not effects.writes(op) and effects.operands_of(op).buffer is not None


def _by_tiles(op: Op) -> bool:
    """Whether its coordinates are those of a block's corner in a tensor."""
    return effects.by_descriptor(op) and len(effects.operands_of(op).coordinates) > 0


def _of_tile(step: ExecutedStep, need: Array, argument: Argument) -> Array:
    """The elements of a described tensor in the needed lanes of a block; -1 outside of it, or if it is not known."""
    at = effects.operands_of(step.op).coordinates
    lanes = np.nonzero(need[0])
    corner = [elements_of(step.operands[position], step.frame.type(step.op.operands[position])) for position in at]
    if len(corner) == 2 and corner[0].size == need.shape[1]:  # rows that are chosen one by one
        corner[0] = corner[0].reshape(-1)[lanes[0]] - lanes[0]
    elif any(one.size != 1 for one in corner):
        corner = []
    if len(corner) != need.ndim - 1 or len(argument.shape) != len(corner):
        return np.full(len(lanes[0]), -1)
    places = [lane + one.reshape(-1).astype(np.int64) for lane, one in zip(lanes, corner, strict=True)]
    inside = np.all([(place >= 0) & (place < size) for place, size in zip(places, argument.shape, strict=True)], axis=0)
    safe = [np.where(inside, place, 0) for place in places]
    return np.where(inside, np.ravel_multi_index(safe, argument.shape), -1)


def _touched(step: ExecutedStep, need: Array) -> tuple[Array, Array]:
    """The needed lanes of a load whose mask lets them touch memory, and their addresses."""
    at = effects.operands_of(step.op)
    pointer, mask = step.operands[at.address], None if at.mask is None else step.operands[at.mask]
    whole = need[0]
    if isinstance(pointer, Descriptor):
        return np.flatnonzero(whole), np.full(int(whole.sum()), -1)
    if at.mask is not None and mask is not None:
        whole = whole & np.broadcast_to(elements_of(mask, step.frame.type(step.op.operands[at.mask])), need.shape)[0]
    addresses = elements_of(pointer, step.frame.type(step.op.operands[at.address]))
    return np.flatnonzero(whole), np.broadcast_to(addresses, need.shape)[0][whole]


def _elements(addresses: Array, argument: Argument | None) -> Array:
    from triton_lab.launch.access import elements_at

    if argument is None:
        return np.full(len(addresses), -1)
    return elements_at(addresses - argument.address, argument)
