"""Loads and stores, by pointers and by descriptors.

Loads by affine addresses stay lazy unless memory may change before they are needed. Others are read at once.
"""

from __future__ import annotations

from triton_lab.interpreter.affine_block import are_lanes_apart
from triton_lab.ir import Op, traits
from triton_lab.ir.effects import operands_of
from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.block_loops import nest, runs_along
from triton_lab.native.blocks.elements import Indices, at, lanes_of, position, write
from triton_lab.native.blocks.materialize import can_be_turned, column_major, materialise, settle
from triton_lab.native.blocks.value_repr import ORIGIN, AffineValue, BlockAccess, Lazy
from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.llvm.element_types import kind_of, width_of
from triton_lab.native.lowering.access_checks import AccessTally, access_of, asked, check, is_row, lane_of
from triton_lab.native.lowering.emitter import Emitter, elements_of, emits
from triton_lab.native.runtime.undo_log import Keeping

# The most lanes computed at once: see `block_loops.lanes_for`.
_MOST_LANES = 32
_ADDRESSED = 4

LOADS = traits.names(lambda trait: trait.effect is not None and trait.effect.brings_in)
STORES = traits.names(lambda trait: trait.effect is not None and trait.effect.takes_in)


# Loads.


@emits(*LOADS)
def load(emitter: Emitter, op: Op) -> None:
    (value,), access = op.results, access_of(emitter, op)
    if emitter.rehearsal and not emitter.order.is_needed(value):
        check(emitter, access)
        return
    emitter.accesses[op] = access
    if not emitter.types[value].shape:
        emitter.forms[value] = load_element(emitter, op, ())
        return
    emitter.forms[value], emitter.costs[value] = Lazy(op), 2
    if not access.checked:
        _gather(emitter, access)
    elif _must_be_read_now(emitter, access):
        materialise(emitter, value)
    else:
        settle(emitter, value)


def _must_be_read_now(emitter: Emitter, access: BlockAccess) -> bool:
    """Whether memory may change before the loaded value is needed.

    A store may change what it has itself read, if it writes each place once, with a value computed from that same
    place.
    """
    op, analysis = access.op, emitter.analysis
    uses, conflicts = analysis.uses(op.results[0]), emitter.order.conflicts(op)
    itself = None
    if not (uses.moved or uses.wide) and access.form is not None and is_apart(access.form, width_of(access.element)):
        itself = next((write for write in conflicts if _place(emitter, write) == _place(emitter, op)), None)
    return analysis.changes_between(op, conflicts, but=itself)


def _place(emitter: Emitter, op: Op) -> tuple[int, ...]:
    """The values that determine an access's addresses, without its mask."""
    where = operands_of(op)
    return tuple(emitter.analysis.one(op.operands[k]) for k in (where.address, *where.coordinates))


def is_apart(form: AffineValue, size: int) -> bool:
    """Whether no two elements of a block share a byte; False if that is not known yet."""
    strides = [0 if extent == 1 else stride for stride, extent in zip(form.strides, form.shape, strict=True)]
    known = [stride for stride in strides if isinstance(stride, int)]
    return len(known) == len(strides) and are_lanes_apart(known, form.shape, size)


@elements_of(*LOADS)
def load_element(emitter: Emitter, op: Op, index: Indices) -> Reg:
    """Elements of a load with affine addresses that have been checked."""
    access, code = emitter.accesses[op], emitter.code
    index = _in_block(access, emitter.types[op.results[0]].shape, index)
    holds, other = access.holds(index), _other(emitter, access, index)
    if holds is False:
        return other
    kind = _in_memory(access)
    return _loaded(code, access, _read(emitter, access, index, kind, holds, _stored(code, other)))


def _read(emitter: Emitter, access: BlockAccess, index: Indices, kind: str, holds: bool | Reg, other: Reg) -> Reg:
    form, code, size = access.form, emitter.code, width_of(access.element)
    assert form is not None
    axis = next((k for k, i in enumerate(index) if i.lanes), None)
    stride = 0 if axis is None else form.strides[axis]
    lanes = lanes_of(index)
    if stride not in (0, size):
        return _strided(emitter, form, index, kind, size, holds, other)
    first = position(emitter, form, lane_of(code, index))
    if stride == 0:
        return _single(emitter, first, kind, size, holds, other)
    pointer = code.cast("inttoptr", first, "ptr")
    if holds is True:
        return code.load(kind, pointer, lanes, size)
    return code.masked_load(kind, pointer, asked(code, holds, lanes), code.splat(other, lanes), size)


def _in_block(access: BlockAccess, shape: tuple[int, ...], index: Indices) -> Indices:
    """An index in a value of ``shape``, as an index in the descriptor's block, which may have more axes of
    length one.
    """
    if shape == access.shape:
        return index
    long = iter(i for i, extent in zip(index, shape, strict=True) if extent > 1)
    return tuple(ORIGIN if extent == 1 else next(long) for extent in access.shape)


def _other(emitter: Emitter, access: BlockAccess, index: Indices) -> Reg:
    """The value of lanes that a load's mask turns off."""
    where, code = operands_of(access.op), emitter.code
    if access.padding is not None:
        return access.padding
    if where.other is not None:
        return at(emitter, access.op.operands[where.other], index)
    return code.constant(kind_of(access.element), 0)


def _in_memory(access: BlockAccess) -> str:
    """The kind in memory: a byte for a boolean."""
    return "i8" if access.element == "i1" else kind_of(access.element)


def _stored(code: FunctionBuilder, x: Reg) -> Reg:
    """Elements in the form that memory holds."""
    return code.cast("zext", x, "i8") if x.kind == "i1" else x


def _loaded(code: FunctionBuilder, access: BlockAccess, x: Reg) -> Reg:
    """Elements from memory; for booleans, any byte but 0 is true."""
    return code.compare("ne", x, code.like(x, 0)) if access.element == "i1" else x


def _single(emitter: Emitter, address: Reg, kind: str, size: int, holds: bool | Reg, other: Reg) -> Reg:
    """One element for all lanes, read only if some lane needs it; otherwise an element of scratch is read."""
    code = emitter.code
    if isinstance(holds, bool):
        return code.load(kind, code.cast("inttoptr", address, "ptr"), 0, size)
    wanted = code.intrinsic("llvm.vector.reduce.or", holds, scalar=True) if holds.lanes else holds
    pointer = code.select(wanted, code.cast("inttoptr", address, "ptr"), emitter.setting.scratch.start)
    return code.select(holds, code.load(kind, pointer, 0, size), other)


def _strided(
    emitter: Emitter, form: AffineValue, index: Indices, kind: str, size: int, holds: bool | Reg, other: Reg
) -> Reg:
    """Lanes at a constant stride: read one by one, or gathered if a mask may leave some out."""
    code, lanes = emitter.code, lanes_of(index)
    if holds is not True:
        pointers = code.cast("inttoptr", position(emitter, form, index), "ptr")
        return code.masked_load(kind, pointers, asked(code, holds, lanes), code.splat(other, lanes), size)
    (stride,) = (stride for i, stride in zip(index, form.strides, strict=True) if i.lanes)
    first: int_expr.Term = position(emitter, form, lane_of(code, index))
    found = code.undefined(kind, lanes)
    for lane in range(lanes):
        # Only every fourth address is computed; the next three are offsets from it, which are part of the load
        # instruction.
        near = int_expr.add(code, first, int_expr.multiply(code, stride, lane % _ADDRESSED))
        pointer = code.cast("inttoptr", int_expr.register(code, near), "ptr")
        found = code.insert(found, code.load(kind, pointer, 0, size), lane)
        if lane % _ADDRESSED == _ADDRESSED - 1:
            first = int_expr.add(code, first, int_expr.multiply(code, stride, _ADDRESSED))
    return found


def _gather(emitter: Emitter, access: BlockAccess) -> None:
    """A load lane by lane, done now. All lanes are checked, and bad ones are not read."""
    (value,), code = access.op.results, emitter.code
    buffer, shape = emitter.take(value), emitter.types[value].shape
    roots = [*access.roots, *_others(access)]
    kind, size = _in_memory(access), width_of(access.element)
    bad, spare = AccessTally(emitter, access), emitter.setting.scratch.take((_MOST_LANES,), kind).pointer

    def body(index: Indices) -> None:
        within = _in_block(access, shape, index)
        lanes = max(1, lanes_of(index))
        holds, found = access.holds(within), _other(emitter, access, within)
        if holds is not False:
            places, wanted = bad.inside(within, holds)
            others, pointers = code.splat(_stored(code, found), lanes), code.cast("inttoptr", places, "ptr")
            if wanted.lanes:
                found = code.masked_load(kind, pointers, wanted, others, size)
            else:
                # The lanes are consecutive and all good, or none is read: then scratch is read instead.
                read = code.load(kind, code.select(wanted, pointers, spare), lanes, size)
                found = read if holds is True else code.select(wanted, read, others)
            found = _loaded(code, access, found)
        write(emitter, buffer, index, found if lanes_of(index) else code.lane(found, 0))

    nest(emitter, shape, roots, body)
    bad.require()
    emitter.keep(value, buffer)


def _others(access: BlockAccess) -> list[int]:
    other = operands_of(access.op).other
    return [] if other is None else [access.op.operands[other]]


# Stores.


@emits(*STORES)
def store(emitter: Emitter, op: Op) -> None:
    access = access_of(emitter, op)
    check(emitter, access)
    if emitter.rehearsal:
        return
    position = operands_of(op).value
    assert position is not None
    value = op.operands[position]
    if not emitter.types[value].shape:
        _store_one(emitter, access, value)
        return
    shape = emitter.types[value].shape
    vector = _vector_axis(access, shape)
    number = emitter.analysis.one(value)
    before = emitter.forms[number]
    # A block whose elements are not contiguous along the vectors' axis is transposed first.
    turned = runs_along(emitter, [value], shape) != vector and can_be_turned(shape)
    if turned and vector == 1:
        materialise(emitter, value)
    elif turned:
        emitter.forms[number] = materialise(emitter, value, column_major(emitter, value))

    def body(index: Indices) -> None:
        within = _in_block(access, shape, index)
        holds = access.holds(within)
        if holds is not False:
            found = _stored(emitter.code, at(emitter, value, index))
            _store_elements(emitter, access, within, holds, found, keeping)

    box, keeping = access.box if shape == access.shape else None, Keeping(emitter, op, width_of(access.element))
    nest(emitter, shape, [value, *access.roots], body, only=box, vector=vector)
    if turned and vector == 0:
        emitter.forms[number] = before


def _vector_axis(access: BlockAccess, shape: tuple[int, ...]) -> int:
    """The axis along which a block is stored: the last one, or the first if only that is contiguous."""
    last, size = len(shape) - 1, width_of(access.element)
    if not access.checked or access.form is None or access.shape != shape or len(shape) != 2:
        return last
    strides = access.form.strides
    return 0 if strides[0] == size != strides[last] and shape[0] >= 4 else last


def _store_one(emitter: Emitter, access: BlockAccess, value: int) -> None:
    """Store a scalar; if the mask is false, it goes to scratch."""
    code, place, found = emitter.code, access.places(()), _stored(emitter.code, emitter.scalar(value))
    pointer, holds = code.cast("inttoptr", place, "ptr"), access.holds(())
    Keeping(emitter, access.op, width_of(access.element)).before(place, found, holds)
    if holds is not True:
        pointer = code.select(asked(code, holds), pointer, emitter.setting.scratch.start)
    code.store(found, pointer)


def _store_elements(
    emitter: Emitter, access: BlockAccess, index: Indices, holds: bool | Reg, found: Reg, keeping: Keeping
) -> None:
    code, lanes = emitter.code, max(1, lanes_of(index))
    form, size = access.form if access.checked else None, width_of(access.element)
    axis = next((k for k, i in enumerate(index) if i.lanes), None)
    found = code.splat(found, lanes)
    in_a_row = form is not None and (axis is None or form.strides[axis] == size)
    if in_a_row or (not access.checked and is_row(access, index)):
        first = access.places(lane_of(code, index))
        pointer = code.cast("inttoptr", first, "ptr")
        keeping.before(first, found, holds)
        if holds is True:
            code.store(found, pointer, size)
        else:
            code.masked_store(found, pointer, asked(code, holds, lanes), size)
        return
    places = code.splat(access.places(index), lanes)
    keeping.before(places, found, holds)
    code.masked_store(found, code.cast("inttoptr", places, "ptr"), asked(code, holds, lanes), size)
