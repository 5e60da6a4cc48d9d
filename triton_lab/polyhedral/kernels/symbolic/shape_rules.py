"""Rules of operations that move lanes and compute nothing."""

from __future__ import annotations

from math import prod

from triton_lab.ir import Op
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import Constraint
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic import symbolic_arithmetic as arithmetic
from triton_lab.polyhedral.kernels.symbolic.rule_table import Scene, rule
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Facts, lane
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import (
    SymbolicNumber,
    Truth,
    Unknown,
    Value,
    choose,
    move_lanes,
)


@rule("tt.make_range")
def make_range(scene: Scene, op: Op) -> Value:
    return SymbolicNumber.of(AffineExpr.of(lane(0)) + op.attributes["start"])


@rule("tt.splat", "ttg.convert_layout", "tt.descriptor_cast")
def splat(scene: Scene, op: Op, value: Value) -> Value:
    return value


@rule("tt.unsplat")
def unsplat(scene: Scene, op: Op, value: Value) -> Value:
    rank = len(scene.type(op.operands[0]).shape)
    return move_lanes(value, {axis: AffineExpr() for axis in range(rank)})


@rule("tt.broadcast")
def broadcast(scene: Scene, op: Op, value: Value) -> Value:
    shape = scene.type(op.operands[0]).shape
    return move_lanes(value, {axis: AffineExpr() for axis, extent in enumerate(shape) if extent == 1})


@rule("tt.expand_dims")
def expand_dims(scene: Scene, op: Op, value: Value) -> Value:
    new = op.attributes["axis"]
    rank = len(scene.type(op.operands[0]).shape)
    return move_lanes(value, {axis: AffineExpr.of(lane(axis + (axis >= new))) for axis in range(rank)})


@rule("tt.trans")
def trans(scene: Scene, op: Op, value: Value) -> Value:
    return move_lanes(value, {old: AffineExpr.of(lane(new)) for new, old in enumerate(op.attributes["order"])})


@rule("tt.reshape")
def reshape(scene: Scene, op: Op, value: Value) -> Value:
    if op.attributes.get("allow_reorder"):
        return Unknown(_("a reshape that may reorder"))
    shape = scene.type(op.results[0]).shape
    number = AffineExpr()
    for axis, extent in enumerate(shape):
        number = number * extent + AffineExpr.of(lane(axis))
    return move_lanes(value, unravelled(number, scene.type(op.operands[0]).shape, scene.facts.block(shape)))


def unravelled(number: AffineExpr, shape: tuple[int, ...], facts: Facts) -> dict[int, AffineExpr]:
    """The index along each axis of a block's element ``number``, row-major."""
    result = {}
    for axis, extent in enumerate(shape):
        above = arithmetic.floor(number, prod(shape[axis + 1 :]), facts)
        result[axis] = above - arithmetic.floor(above, extent, facts) * extent
    return result


@rule("tt.join")
def join(scene: Scene, op: Op, a: Value, b: Value) -> Value:
    last = len(scene.type(op.results[0]).shape) - 1
    return choose(Truth(((Constraint(AffineExpr.of(lane(last)), equality=True),),)), a, b, scene.lanes(op))


@rule("tt.split")
def split(scene: Scene, op: Op, value: Value) -> tuple[Value, Value]:
    last = len(scene.type(op.operands[0]).shape) - 1
    return move_lanes(value, {last: AffineExpr()}), move_lanes(value, {last: AffineExpr((), 1)})


@rule("tt.cat")
def cat(scene: Scene, op: Op, a: Value, b: Value) -> Value:
    axis = op.attributes.get("axis", op.attributes.get("dim", 0))
    length = scene.type(op.operands[0]).shape[axis]
    place = AffineExpr.of(lane(axis))
    first = Truth(((Constraint(-place + (length - 1)),),))
    return choose(first, a, move_lanes(b, {axis: place - length}), scene.lanes(op))
