"""The lane maps of operations: one rule for each way in which results depend on operands."""

from __future__ import annotations

from collections.abc import Sequence

from triton_lab.ir.plan import Op
from triton_lab.ir.traits.lane_map import All, At, AxisRule, LaneMap, Only, Picked, UpTo, everything, same
from triton_lab.ir.types import Type

Maps = tuple[tuple[LaneMap, ...], ...]
Types = Sequence[Type]


def _rank(types: Types, number: int) -> int:
    return len(types[number].shape)


def _of_each(op: Op, operands: Sequence[LaneMap]) -> Maps:
    return (tuple(operands),) * len(op.results)


def unknown(op: Op, types: Types) -> Maps:
    """Every lane of each result may depend on all lanes of each operand."""
    return _of_each(op, [everything(_rank(types, number)) for number in op.operands])


def lane_by_lane(op: Op, types: Types) -> Maps:
    """The same lane of each operand; scalars belong to all lanes."""
    return _of_each(op, [same(_rank(types, number)) for number in op.operands])


def select(op: Op, types: Types) -> Maps:
    """The condition, and the same lane of the operand that it chooses."""
    condition, yes, no = (same(_rank(types, number)) for number in op.operands)
    return _of_each(
        op,
        [
            LaneMap(condition.axes, decides=True),
            LaneMap(yes.axes, chosen=(0, True)),
            LaneMap(no.axes, chosen=(0, False)),
        ],
    )


def broadcast(op: Op, types: Types) -> Maps:
    """An axis of extent one belongs to all indices of the result's axis."""
    shape, wider = types[op.operands[0]].shape, types[op.results[0]].shape
    axes: list[AxisRule] = [
        Only(0) if extent == 1 and wide != 1 else At(axis)
        for axis, (extent, wide) in enumerate(zip(shape, wider, strict=True))
    ]
    return ((LaneMap(tuple(axes)),),)


def splat(op: Op, types: Types) -> Maps:
    """The one element of the operand, which is a scalar or a block of one lane."""
    return ((LaneMap((Only(0),) * _rank(types, op.operands[0])),),)


def expand_dims(op: Op, types: Types) -> Maps:
    """The result has one more axis, of extent one."""
    new = op.attributes["axis"]
    axes = [axis for axis in range(_rank(types, op.results[0])) if axis != new]
    return ((LaneMap(tuple(At(axis) for axis in axes)),),)


def trans(op: Op, types: Types) -> Maps:
    """Axis k of the result is axis ``order[k]`` of the operand."""
    order = list(op.attributes["order"])
    return ((LaneMap(tuple(At(order.index(axis)) for axis in range(len(order)))),),)


def row_major(op: Op, types: Types) -> Maps:
    """The lane with the same row-major number."""
    return ((LaneMap(group=1),),)


def join(op: Op, types: Types) -> Maps:
    """Operand k is index k of a new last axis."""
    last = _rank(types, op.results[0]) - 1
    axes = tuple(At(axis) for axis in range(last))
    return (tuple(LaneMap(axes, within=(last, k, k + 1)) for k in range(len(op.operands))),)


def split(op: Op, types: Types) -> Maps:
    """Result k is index k of the last axis."""
    axes = tuple(At(axis) for axis in range(_rank(types, op.operands[0]) - 1))
    return tuple((LaneMap((*axes, Only(k))),) for k in range(len(op.results)))


def cat(op: Op, types: Types) -> Maps:
    """The operands follow one another along an axis."""
    along = op.attributes.get("axis", op.attributes.get("dim", 0))
    found, start = [], 0
    for number in op.operands:
        shape = types[number].shape
        axes = tuple(At(axis, start if axis == along else 0) for axis in range(len(shape)))
        found.append(LaneMap(axes, within=(along, start, start + shape[along])))
        start += shape[along]
    return (tuple(found),)


def gather(op: Op, types: Types) -> Maps:
    """The element at the index that the second operand holds, and that index."""
    along = op.attributes["axis"]
    rank = _rank(types, op.operands[0])
    source = tuple(Picked(1) if axis == along else At(axis) for axis in range(rank))
    return ((LaneMap(source), same(rank, decides=True)),)


def reduce(op: Op, types: Types) -> Maps:
    """All lanes of each operand along an axis. Of several operands the function decides which take part in a result."""
    along = op.attributes["axis"]
    rank = _rank(types, op.operands[0])
    axes: list[AxisRule] = [At(axis - (axis > along)) if axis != along else All() for axis in range(rank)]
    return _of_each(op, [LaneMap(tuple(axes), exact=len(op.operands) == 1)] * len(op.operands))


def scan(op: Op, types: Types) -> Maps:
    """The lanes of each operand up to this one along an axis, or from this one on; of several operands as `reduce`."""
    along = op.attributes["axis"]
    rank = _rank(types, op.operands[0])
    rule = UpTo(along, bool(op.attributes.get("reverse")))
    axes: list[AxisRule] = [rule if axis == along else At(axis) for axis in range(rank)]
    return _of_each(op, [LaneMap(tuple(axes), exact=len(op.operands) == 1)] * len(op.operands))


def histogram(op: Op, types: Types) -> Maps:
    """Each bin counts all lanes that the mask, if there is one, leaves on."""
    counted, *mask = (everything(_rank(types, number), exact=True) for number in op.operands)
    return ((counted, *(LaneMap(each.axes, decides=True) for each in mask)),)


def packed(op: Op, types: Types) -> Maps:
    """A function of ``pack`` neighbouring lanes, in row-major order, of each operand."""
    pack = int(op.attributes.get("pack", op.attributes.get("packed_element", 1)))
    return _of_each(op, [LaneMap(group=pack, exact=False)] * len(op.operands))


def two_of_each(op: Op, types: Types) -> Maps:
    """Two lanes of the result for each lane of the operand along an axis."""
    along, rank = int(op.attributes["axis"]), _rank(types, op.operands[0])
    return ((LaneMap(tuple(At(axis, over=2 if axis == along else 1) for axis in range(rank))),),)


def dot(op: Op, types: Types) -> Maps:
    """A row of the first operand, a column of the second, and the same lane of the third; the axes before are equal."""
    rank = _rank(types, op.results[0])
    before = tuple(At(axis) for axis in range(rank - 2))
    row, column = At(rank - 2), At(rank - 1)
    return ((LaneMap((*before, row, All())), LaneMap((*before, All(), column)), same(rank)),)


def dot_scaled(op: Op, types: Types) -> Maps:
    """The same with scales: a row of those of the first operand, and one of those of the second, which are transposed.

    Elements that lie two to a byte along the rows or the columns share the operand's index.
    """
    rows, columns = types[op.results[0]].shape[-2:]
    rank = _rank(types, op.results[0])
    before = tuple(At(axis) for axis in range(rank - 2))
    a, b = types[op.operands[0]].shape, types[op.operands[1]].shape
    row, column = At(rank - 2, over=rows // a[-2]), At(rank - 1, over=columns // b[-1])
    found = [LaneMap((*before, row, All())), LaneMap((*before, All(), column)), same(rank)]
    sizes = op.attributes.get("operandSegmentSizes")
    scales = list(op.operands[3:])
    if sizes is None or len(sizes) != 5 or sum(sizes) != len(op.operands):
        return ((*found, *(everything(_rank(types, number)) for number in scales)),)
    if sizes[3]:
        found.append(LaneMap((*before, At(rank - 2), All())))
    if sizes[4]:
        found.append(LaneMap((*before, At(rank - 1), All())))
    return (tuple(found),)


def load(op: Op, types: Types) -> Maps:
    """The same lane of the address and the mask, and of ``other`` where the mask is off."""
    found = [same(_rank(types, number), decides=True) for number in op.operands]
    sizes = op.attributes.get("operandSegmentSizes")
    if len(op.operands) > 1 and (sizes is None or sizes[1]):
        found[0] = LaneMap(found[0].axes, chosen=(1, True), decides=True)
        if len(op.operands) > 2:
            found[2] = LaneMap(found[2].axes, chosen=(1, False))
    return _of_each(op, found)


def descriptor_load(op: Op, types: Types) -> Maps:
    """The descriptor and the coordinates."""
    return _of_each(op, [LaneMap((All(),) * _rank(types, number), decides=True) for number in op.operands])


def descriptor_gather(op: Op, types: Types) -> Maps:
    """The descriptor, the row's coordinate and the first column."""
    found = [LaneMap((At(0),) if _rank(types, number) else (), decides=True) for number in op.operands]
    return _of_each(op, found)


def nothing(op: Op, types: Types) -> Maps:
    """No result depends on an operand, for an operation without results or without operands."""
    return _of_each(op, [everything(_rank(types, number)) for number in op.operands])
