"""Loads and stores, by pointers and by descriptors.

Loads by affine addresses stay lazy unless memory may change before they are needed. Others are read at once.
"""

from __future__ import annotations

from triton_lab.ir import Op
from triton_lab.ir.effects import operands_of
from triton_lab.native.access import Tally, access_of, asked, check
from triton_lab.native.code import Code, Reg
from triton_lab.native.elements import Indices, at, lanes_of, position, write
from triton_lab.native.emitter import Emitter, elements_of, emits
from triton_lab.native.forms import ORIGIN, Access, Affine, Index, Lazy
from triton_lab.native.kinds import kind_of, width_of
from triton_lab.native.materials import materialise, settle
from triton_lab.native.nest import nest

LOADS = ("tt.load", "tt.atomic_load", "tt.descriptor_load", "tt.descriptor_gather")
STORES = ("tt.store", "tt.atomic_store", "tt.descriptor_store", "tt.descriptor_scatter")


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


def _must_be_read_now(emitter: Emitter, access: Access) -> bool:
    """Whether memory may change before what is loaded is needed.

    A store may change what it reads itself: to each place, once, what was computed from what lay there.
    """
    op, analysis = access.op, emitter.analysis
    uses, conflicts = analysis.uses(op.results[0]), emitter.order.conflicts(op)
    itself = None
    if not (uses.moved or uses.wide) and access.form is not None and is_apart(access.form, width_of(access.element)):
        itself = next((write for write in conflicts if _place(emitter, write) == _place(emitter, op)), None)
    return analysis.changes_between(op, conflicts, but=itself)


def _place(emitter: Emitter, op: Op) -> tuple[int, ...]:
    """The values that say where an access goes, without its mask."""
    where = operands_of(op)
    return tuple(emitter.analysis.one(op.operands[k]) for k in (where.address, *where.coordinates))


def is_apart(form: Affine, size: int) -> bool:
    """Whether no two elements of a block share a byte, as far as is known now."""
    reach = size - 1
    pairs = [(stride, extent) for stride, extent in zip(form.strides, form.shape, strict=True) if extent > 1]
    if not all(isinstance(stride, int) for stride, _ in pairs):
        return False
    for stride, extent in sorted((abs(stride), extent) for stride, extent in pairs if isinstance(stride, int)):
        if stride <= reach:
            return False
        reach += stride * (extent - 1)
    return True


@elements_of(*LOADS)
def load_element(emitter: Emitter, op: Op, index: Indices) -> Reg:
    """Elements of a load whose addresses are affine and have been checked."""
    access, code = emitter.accesses[op], emitter.code
    index = _in_block(access, emitter.types[op.results[0]].shape, index)
    holds, other = access.holds(index), _other(emitter, access, index)
    if holds is False:
        return other
    kind = _in_memory(access)
    return _loaded(code, access, _read(emitter, access, index, kind, holds, _stored(code, other)))


def _read(emitter: Emitter, access: Access, index: Indices, kind: str, holds: bool | Reg, other: Reg) -> Reg:
    form, code, size = access.form, emitter.code, width_of(access.element)
    assert form is not None
    axis = next((k for k, i in enumerate(index) if i.lanes), None)
    stride = 0 if axis is None else form.strides[axis]
    lanes = lanes_of(index)
    if stride not in (0, size):
        return _strided(code, position(emitter, form, index), kind, size, holds, other)
    first = position(emitter, form, _first(index))
    if stride == 0:
        return _single(emitter, first, kind, size, holds, other)
    pointer = code.cast("inttoptr", first, "ptr")
    if holds is True:
        return code.load(kind, pointer, lanes, size)
    return code.masked_load(kind, pointer, asked(code, holds, lanes), code.splat(other, lanes), size)


def _first(index: Indices) -> Indices:
    """The first of the lanes."""
    return tuple(Index(i.value, i.level) if i.lanes else i for i in index)


def _in_block(access: Access, shape: tuple[int, ...], index: Indices) -> Indices:
    """An index in a value of ``shape`` as one in the block that a descriptor describes, which may have more axes of
    one element."""
    if shape == access.shape:
        return index
    long = iter(i for i, extent in zip(index, shape, strict=True) if extent > 1)
    return tuple(ORIGIN if extent == 1 else next(long) for extent in access.shape)


def _other(emitter: Emitter, access: Access, index: Indices) -> Reg:
    """What a load gives where its mask does not hold."""
    where, code = operands_of(access.op), emitter.code
    if access.padding is not None:
        return access.padding
    if where.other is not None:
        return at(emitter, access.op.operands[where.other], index)
    return code.constant(kind_of(access.element), 0)


def _in_memory(access: Access) -> str:
    """The kind that memory holds: a byte for a boolean."""
    return "i8" if access.element == "i1" else kind_of(access.element)


def _stored(code: Code, x: Reg) -> Reg:
    """Elements as memory holds them."""
    return code.cast("zext", x, "i8") if x.kind == "i1" else x


def _loaded(code: Code, access: Access, x: Reg) -> Reg:
    """Elements from memory; any byte but 0 is true."""
    return code.compare("ne", x, code.like(x, 0)) if access.element == "i1" else x


def _single(emitter: Emitter, address: Reg, kind: str, size: int, holds: bool | Reg, other: Reg) -> Reg:
    """One element for all lanes, read only if some lane wants it: else something in scratch is read."""
    code = emitter.code
    if isinstance(holds, bool):
        return code.load(kind, code.cast("inttoptr", address, "ptr"), 0, size)
    wanted = code.intrinsic("llvm.vector.reduce.or", holds, scalar=True) if holds.lanes else holds
    pointer = code.select(wanted, code.cast("inttoptr", address, "ptr"), emitter.setting.scratch.start)
    return code.select(holds, code.load(kind, pointer, 0, size), other)


def _strided(code: Code, places: Reg, kind: str, size: int, holds: bool | Reg, other: Reg) -> Reg:
    lanes = places.lanes
    if holds is True and lanes <= 16:
        found = code.undefined(kind, lanes)
        for lane in range(lanes):
            pointer = code.cast("inttoptr", code.lane(places, lane), "ptr")
            found = code.insert(found, code.load(kind, pointer, 0, size), lane)
        return found
    pointers = code.cast("inttoptr", places, "ptr")
    return code.masked_load(kind, pointers, asked(code, holds, lanes), code.splat(other, lanes), size)


def _gather(emitter: Emitter, access: Access) -> None:
    """A load lane by lane, written down now: all lanes are checked, and those that are wrong are not read."""
    (value,), code = access.op.results, emitter.code
    buffer, shape = emitter.take(value), emitter.types[value].shape
    roots = [*access.roots, *_others(access)]
    kind, size = _in_memory(access), width_of(access.element)
    bad = Tally(emitter, access)

    def body(index: Indices) -> None:
        within = _in_block(access, shape, index)
        lanes = max(1, lanes_of(index))
        holds, found = access.holds(within), _other(emitter, access, within)
        if holds is not False:
            places = code.splat(access.places(within), lanes)
            wanted = bad.inside(places, asked(code, holds, lanes))
            others = code.splat(_stored(code, found), lanes)
            pointers = code.cast("inttoptr", places, "ptr")
            found = _loaded(code, access, code.masked_load(kind, pointers, wanted, others, size))
        write(emitter, buffer, index, found if lanes_of(index) else code.lane(found, 0))

    nest(emitter, shape, roots, body)
    bad.require()
    emitter.keep(value, buffer)


def _others(access: Access) -> list[int]:
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

    def body(index: Indices) -> None:
        within = _in_block(access, shape, index)
        holds = access.holds(within)
        if holds is not False:
            _store_elements(emitter, access, within, holds, _stored(emitter.code, at(emitter, value, index)))

    nest(emitter, shape, [value, *access.roots], body, only=access.box if shape == access.shape else None)


def _store_one(emitter: Emitter, access: Access, value: int) -> None:
    """A scalar; where the mask does not hold, it goes to scratch."""
    code = emitter.code
    pointer, holds = code.cast("inttoptr", access.places(()), "ptr"), access.holds(())
    if holds is not True:
        pointer = code.select(asked(code, holds), pointer, emitter.setting.scratch.start)
    code.store(_stored(code, emitter.scalar(value)), pointer)


def _store_elements(emitter: Emitter, access: Access, index: Indices, holds: bool | Reg, found: Reg) -> None:
    code, lanes = emitter.code, max(1, lanes_of(index))
    form, size = access.form if access.checked else None, width_of(access.element)
    axis = next((k for k, i in enumerate(index) if i.lanes), None)
    found = code.splat(found, lanes)
    if form is not None and (axis is None or form.strides[axis] == size):
        pointer = code.cast("inttoptr", position(emitter, form, _first(index)), "ptr")
        if holds is True:
            code.store(found, pointer, size)
        else:
            code.masked_store(found, pointer, asked(code, holds, lanes), size)
        return
    places = code.splat(access.places(index), lanes)
    code.masked_store(found, code.cast("inttoptr", places, "ptr"), asked(code, holds, lanes), size)
