"""The origin of a stored value: traced back, lane by lane, through all operations to the loads.

One program is replayed, and every operation is recorded with its operand and result objects. Then the need for an
element is passed back from results to operands: each operation determines which elements of its operands an element of
its result depends on. Operations that only move elements are run on positions instead of values to find this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.op_registry import REGISTRY
from triton_lab.interpreter.runtime_values import Descriptor, Value
from triton_lab.ir import Op, effects
from triton_lab.ir.value_flow import HANDS_ON
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.messages import count as counted
from triton_lab.messages import who as who_name

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument

Array = NDArray[Any]

_MOVES = frozenset({"tt.reshape", "tt.trans", "tt.join", "tt.cat", "tt.split", "tt.expand_dims", "tt.broadcast"})


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


@dataclass(eq=False)
class _Node:
    """One executed operation: its operands and results as objects, and which elements are needed."""

    op: Op
    frame: Frame
    operands: Sequence[Value]
    results: Sequence[Value]
    need: list[Array | None]


class _Recorder(Watcher):
    def __init__(self) -> None:
        self.nodes: list[_Node] = []

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if op.name in HANDS_ON:
            return  # its results were made by an operation inside it, as the same objects
        results = () if result is None else result if isinstance(result, tuple) else (result,)
        self.nodes.append(_Node(op, frame, tuple(operands), tuple(results), [None] * len(results)))


def extent(value: Value) -> tuple[int, ...]:
    """The shape in which the elements of ``value`` are counted: as it is stored, not broadcast."""
    if isinstance(value, np.ndarray):
        return value.shape
    if isinstance(value, Descriptor):
        return (1,)
    return (1, *value.shape)


def origins(launch: Recorded, access: Access, program: int, lane: int, iteration: int = 0) -> list[Origin]:
    """The loads behind the value that ``program`` stored in ``lane`` (row-major) of ``access``, in execution order.

    Raises ValueError if ``access`` is no store, or if the program does not reach this iteration of it.
    """
    if access.kind != "store":
        raise ValueError(f"the {access.kind} on line {access.line} stores nothing: ask this of a store")
    recorder = _Recorder()
    replay(launch, observer=recorder, programs=np.array([program]))
    stores = [position for position, node in enumerate(recorder.nodes) if node.op.index == access.op]
    if iteration >= len(stores):
        who, often = who_name(program, launch.grid), counted(len(stores), "time")
        raise ValueError(f"{who} gets to the store on line {access.line} {often}")
    start = stores[iteration]
    node = recorder.nodes[start]
    position = effects.operands_of(node.op).value
    assert position is not None
    value = node.operands[position]
    makers = _makers(recorder.nodes[:start])
    shape = (1, *access.block)
    need = np.zeros(shape, np.bool_)
    need.reshape(-1)[lane] = True
    _ask(makers, start, value, _fold(need, extent(value)), recorder.nodes)
    for position in range(start - 1, -1, -1):
        _pass_back(recorder.nodes, makers, position)
    return _collect(launch, recorder.nodes[:start])


def _makers(nodes: Sequence[_Node]) -> dict[int, list[tuple[int, int]]]:
    """For each object, by identity: the operations (position, result) that produced it, in order."""
    makers: dict[int, list[tuple[int, int]]] = {}
    for position, node in enumerate(nodes):
        for number, result in enumerate(node.results):
            makers.setdefault(id(result), []).append((position, number))
    return makers


def _ask(makers: dict[int, list[tuple[int, int]]], before: int, value: Value, need: Array, nodes: list[_Node]) -> None:
    """Note that the elements ``need`` of ``value`` are needed, at the last operation before ``before`` that made it."""
    # An operation may return its operand unchanged: the last one to do so passes the need on.
    for position, number in reversed(makers.get(id(value), ())):
        if position < before:
            old = nodes[position].need[number]
            nodes[position].need[number] = need if old is None else old | need
            return


def _fold(need: Array, shape: tuple[int, ...]) -> Array:
    """``need`` in the coordinates of a value that broadcasts to it: an axis of extent 1 covers all positions."""
    axes = tuple(axis for axis, (n, m) in enumerate(zip(need.shape, shape, strict=True)) if m == 1 and n != 1)
    folded: Array = np.any(need, axis=axes, keepdims=True)
    return folded if axes else need


def _pass_back(nodes: list[_Node], makers: dict[int, list[tuple[int, int]]], position: int) -> None:
    node = nodes[position]
    needed = [n for n in node.need if n is not None and n.any()]
    if not needed or effects.brings_in(node.op):
        return
    for operand, need in zip(node.operands, _needs(node), strict=True):
        if need is not None and need.any():
            _ask(makers, position, operand, need, nodes)


def _needs(node: _Node) -> list[Array | None]:
    """The elements of each operand that the needed elements of the results depend on."""
    name = node.op.name
    shapes = [extent(operand) for operand in node.operands]
    need = next(n for n in node.need if n is not None)
    if name in ("tt.reduce", "tt.scan"):
        return _along_axis(node, shapes)
    if name == "tt.dot":
        a, b, c = shapes
        rows = np.broadcast_to(need, np.broadcast_shapes(need.shape, (1, *node.frame.result_type(node.op).shape)))
        return [
            _fold(np.broadcast_to(rows.any(-1, keepdims=True), (*rows.shape[:-1], a[-1])), a),
            _fold(np.broadcast_to(rows.any(-2, keepdims=True), (*rows.shape[:-2], b[-2], rows.shape[-1])), b),
            _fold(rows, c),
        ]
    if name in _MOVES:
        return _moved(node, shapes)
    if name == "tt.splat" or all(len(shape) == need.ndim for shape in shapes):
        compatible = all(
            m in (1, n) or n == 1
            for shape in shapes
            if len(shape) == need.ndim
            for m, n in zip(shape, need.shape, strict=True)
        )
        if compatible:
            return [_elementwise(need, shape) for shape in shapes]
    return [np.ones(shape, np.bool_) for shape in shapes]


def _elementwise(need: Array, shape: tuple[int, ...]) -> Array:
    if len(shape) != need.ndim:
        return np.full(shape, need.any())
    return _fold(np.broadcast_to(need, np.broadcast_shapes(need.shape, shape)), shape)


def _along_axis(node: _Node, shapes: Sequence[tuple[int, ...]]) -> list[Array | None]:
    axis = node.op.attributes["axis"] + 1
    need = np.logical_or.reduce([n for n in node.need if n is not None])
    if node.op.name == "tt.reduce":
        return [
            _elementwise(np.broadcast_to(np.expand_dims(need, axis), _with(shape, need, axis)), shape)
            for shape in shapes
        ]
    # A scan's element depends on itself and on the elements before it (after it, if the scan runs in reverse).
    forward = not node.op.attributes.get("reverse")
    flipped = np.flip(need, axis) if forward else need
    before = np.logical_or.accumulate(flipped, axis=axis)
    return [_elementwise(np.flip(before, axis) if forward else before, shape) for shape in shapes]


def _with(shape: tuple[int, ...], need: Array, axis: int) -> tuple[int, ...]:
    full = list(np.expand_dims(need, axis).shape)
    full[axis] = shape[axis]
    return tuple(full)


def _moved(node: _Node, shapes: Sequence[tuple[int, ...]]) -> list[Array | None]:
    """The needs of an operation that moves elements: it runs on positions, and its result says where each was."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    positions: list[Value] = [
        np.arange(start, start + size).reshape(shape) for start, size, shape in zip(starts, sizes, shapes, strict=False)
    ]
    moved = REGISTRY[node.op.name].run(node.frame, node.op, *positions)
    results = moved if isinstance(moved, tuple) else (moved,)
    wanted = np.zeros(starts[-1], np.bool_)
    for need, where in zip(node.need, results, strict=True):
        if need is not None:
            shape = np.broadcast_shapes(need.shape, where.shape)
            wanted[np.broadcast_to(where, shape)[np.broadcast_to(need, shape)]] = True
    return [wanted[a:b].reshape(shape) for a, b, shape in zip(starts, starts[1:], shapes, strict=False)]


def _collect(launch: Recorded, nodes: Sequence[_Node]) -> list[Origin]:
    result = []
    count: dict[int, int] = {}
    for node in nodes:
        if not effects.brings_in(node.op):
            continue
        iteration = count.get(node.op.index, 0)
        count[node.op.index] = iteration + 1
        need = node.need[0]
        if need is None or not need.any():
            continue
        lanes, addresses = _touched(node, need)
        argument = launch.owner_of(node.op.index)
        line = launch.lines.get(node.op.index)
        result.append(
            Origin(
                None if line is None else line.line,
                None if argument is None else argument.name,
                iteration,
                lanes,
                _elements(addresses, argument),
            )
        )
    return result


def _touched(node: _Node, need: Array) -> tuple[Array, Array]:
    """The needed lanes of a load whose mask lets them touch memory, and their addresses."""
    block = node.frame.result_type(node.op).shape
    whole = np.broadcast_to(need, (1, *block))[0]
    at = effects.operands_of(node.op)
    pointer, mask = node.operands[at.address], None if at.mask is None else node.operands[at.mask]
    if isinstance(pointer, Descriptor):
        return np.flatnonzero(whole), np.full(int(whole.sum()), -1)
    addresses = pointer.elements(np.dtype(np.int64)) if isinstance(pointer, AffineBlock) else pointer
    assert isinstance(addresses, np.ndarray)
    if mask is not None:
        active = mask.elements() if isinstance(mask, MaskBox) else mask
        assert isinstance(active, np.ndarray)
        whole = whole & np.broadcast_to(active, (1, *block))[0]
    return np.flatnonzero(whole), np.broadcast_to(addresses, (1, *block))[0][whole]


def _elements(addresses: Array, argument: Argument | None) -> Array:
    from triton_lab.launch.access import elements_at

    if argument is None:
        return np.full(len(addresses), -1)
    return elements_at(addresses - argument.address, argument)
