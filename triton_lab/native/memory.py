"""Loads and stores.

An access by affine addresses is checked once, before it: where its corners lie in the region, all of it does. Its loads
stay lazy unless memory may change before they are needed. Others are checked lane by lane, all of them before
any is written.
"""

from __future__ import annotations

from triton_lab.ir import Op
from triton_lab.ir.effects import Operands, operands_of
from triton_lab.native import terms
from triton_lab.native.code import Code, Reg
from triton_lab.native.compact import splat_of
from triton_lab.native.elements import Indices, at, lanes_of, mask_at, position, write
from triton_lab.native.emitter import Emitter, elements_of, emits
from triton_lab.native.forms import Affine, Box, Index, Lazy
from triton_lab.native.kinds import width_of
from triton_lab.native.materials import materialise, settle
from triton_lab.native.nest import nest
from triton_lab.native.unsupported import Unsupported


def addresses(emitter: Emitter, value: int) -> Affine | None:
    """The affine form of an access's addresses, which of a scalar is one number."""
    if not emitter.types[value].shape:
        return splat_of(emitter, value, ())
    return emitter.affine(value)


def check_corners(emitter: Emitter, op: Op, form: Affine, mask: int | None, size: int) -> bool:
    """A guard that all lanes lie in the region and on multiples of their size; False if that cannot be asked so."""
    code = emitter.code
    box = None if mask is None else _box(emitter, mask)
    if form.reach_bits > 60 or (mask is not None and box is None):
        return False
    start, stop = emitter.region(op, writes=op.name != "tt.load")
    low = high = form.base
    nothing: Reg | None = None
    for axis, (stride, extent) in enumerate(zip(form.strides, form.shape, strict=True)):
        bounds = box.ranges[axis] if box is not None else None
        first, last = (0, extent - 1) if bounds is None else (bounds.low, terms.subtract(code, bounds.high, 1))
        if bounds is not None:
            empty = code.compare("sgt", terms.register(code, first), terms.register(code, last))
            nothing = empty if nothing is None else code.op("or", nothing, empty)
        ends = terms.multiply(code, first, stride), terms.multiply(code, last, stride)
        low = terms.add(code, low, terms.least(code, *ends))
        high = terms.add(code, high, terms.greatest(code, *ends))
    if mask is not None and not form.shape:
        held = emitter.scalar(mask)
        nothing = code.op("xor", held, code.constant("i1", 1))
    ok = code.op("and", code.compare("uge", terms.register(code, low), start), _ends(emitter, high, size, stop))
    # Addresses that come round past the end of memory are none of the region's.
    ok = code.op("and", ok, code.compare("ule", terms.register(code, low), terms.register(code, high)))
    if size > 1:
        ok = code.op("and", ok, _aligned(emitter, form, size))
    if nothing is not None:
        ok = code.op("or", ok, nothing)
    emitter.guards.require(ok, op, "bounds")
    return True


def _box(emitter: Emitter, mask: int) -> Box | None:
    return emitter.box(mask) if emitter.types[mask].shape else Box(())


def _ends(emitter: Emitter, high: terms.Term, size: int, stop: Reg) -> Reg:
    code = emitter.code
    return code.compare("ule", terms.register(code, terms.add(code, high, size)), stop)


def _aligned(emitter: Emitter, form: Affine, size: int) -> Reg:
    """Whether the addresses are multiples of ``size``, a power of two."""
    code = emitter.code
    together = terms.register(code, form.base)
    if form.grain % size:
        for stride in form.strides:
            together = code.op("or", together, terms.register(code, stride))
    return code.compare("eq", code.op("and", together, code.constant("i64", size - 1)), code.constant("i64", 0))


# Loads.


@emits("tt.load")
def load(emitter: Emitter, op: Op) -> None:
    where, value = operands_of(op), op.results[0]
    type = emitter.types[value]
    if type.element == "i1":
        raise Unsupported("loads of booleans")
    mask = None if where.mask is None else op.operands[where.mask]
    form = addresses(emitter, op.operands[where.address])
    checked = form is not None and check_corners(emitter, op, form, mask, width_of(type.element))
    if emitter.rehearsal and not emitter.order.is_needed(value):
        if not checked:
            _check_lanes(emitter, op, mask, width_of(type.element))
        return
    if not type.shape:
        emitter.forms[value] = load_element(emitter, op, ())
        return
    emitter.forms[value], emitter.costs[value] = Lazy(op), 2
    if not checked:
        _gather(emitter, op, value, where)
    elif _must_be_read_now(emitter, op):
        materialise(emitter, value)
    else:
        settle(emitter, value)


def _asked(code: Code, holds: bool | Reg) -> Reg:
    """A mask as a register."""
    return code.constant("i1", holds) if isinstance(holds, bool) else holds


def _must_be_read_now(emitter: Emitter, op: Op) -> bool:
    """Whether memory may change before what is loaded is needed.

    A store may change what it reads itself: to each place, once, what was computed from what lay there.
    """
    analysis, conflicts = emitter.analysis, emitter.order.conflicts(op)
    uses, place = analysis.uses(op.results[0]), analysis.one(op.operands[0])
    form = emitter.affine(place)
    itself = None
    if form is not None and not (uses.moved or uses.wide) and is_apart(form, width_of(emitter.element(op.results[0]))):
        itself = next((write for write in conflicts if analysis.one(write.operands[0]) == place), None)
    return analysis.changes_between(op, conflicts, but=itself)


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


@elements_of("tt.load")
def load_element(emitter: Emitter, op: Op, index: Indices) -> Reg:
    """Elements of a load whose addresses are affine and have been checked."""
    where, value, code = operands_of(op), op.results[0], emitter.code
    element, kind = emitter.element(value), emitter.kind(value)
    size = width_of(element)
    mask = None if where.mask is None else op.operands[where.mask]
    holds = mask_at(emitter, mask, index)
    other = code.constant(kind, 0)
    if where.other is not None:
        other = at(emitter, op.operands[where.other], index)
    if holds is False:
        return other
    form = addresses(emitter, op.operands[where.address])
    assert form is not None
    axis = next((k for k, i in enumerate(index) if i.lanes), None)
    stride = 0 if axis is None else form.strides[axis]
    lanes = lanes_of(index)
    if stride not in (0, size):
        return _strided(emitter, position(emitter, form, index), kind, size, holds, other)
    first = position(emitter, form, tuple(Index(i.value, i.level) if i.lanes else i for i in index))
    if stride == 0:
        return _single(emitter, first, kind, size, holds, other)
    pointer = code.cast("inttoptr", first, "ptr")
    if holds is True:
        return code.load(kind, pointer, lanes, size)
    return code.masked_load(kind, pointer, code.splat(_asked(code, holds), lanes), code.splat(other, lanes), size)


def _single(emitter: Emitter, address: Reg, kind: str, size: int, holds: bool | Reg, other: Reg) -> Reg:
    """One element for all lanes, read only if some lane wants it: else something in scratch is read."""
    code = emitter.code
    if isinstance(holds, bool):
        return code.load(kind, code.cast("inttoptr", address, "ptr"), 0, size)
    wanted = code.intrinsic("llvm.vector.reduce.or", holds, scalar=True) if holds.lanes else holds
    pointer = code.select(wanted, code.cast("inttoptr", address, "ptr"), emitter.setting.scratch.start)
    return code.select(holds, code.load(kind, pointer, 0, size), other)


def _strided(emitter: Emitter, places: Reg, kind: str, size: int, holds: bool | Reg, other: Reg) -> Reg:
    code, lanes = emitter.code, places.lanes
    if holds is True and lanes <= 16:
        found = code.undefined(kind, lanes)
        for lane in range(lanes):
            pointer = code.cast("inttoptr", code.lane(places, lane), "ptr")
            found = code.insert(found, code.load(kind, pointer, 0, size), lane)
        return found
    mask = code.splat(_asked(code, holds), lanes)
    return code.masked_load(kind, code.cast("inttoptr", places, "ptr"), mask, code.splat(other, lanes), size)


def _gather(emitter: Emitter, op: Op, value: int, where: Operands) -> None:
    """A load lane by lane, written down now: all lanes are checked, and those that are wrong are not read."""
    code, buffer = emitter.code, emitter.take(value)
    mask = None if where.mask is None else op.operands[where.mask]
    other = None if where.other is None else op.operands[where.other]
    roots = [op.operands[where.address], *(v for v in (mask, other) if v is not None)]
    bad = Tally(emitter)
    size = width_of(emitter.element(value))

    def body(index: Indices) -> None:
        lanes = max(1, lanes_of(index))
        holds = mask_at(emitter, mask, index)
        found = code.constant(buffer.kind, 0) if other is None else at(emitter, other, index)
        if holds is not False:
            places = code.splat(at(emitter, op.operands[where.address], index), lanes)
            wanted = code.splat(_asked(code, holds), lanes)
            wanted = bad.inside(op, places, wanted, size)
            pointers = code.cast("inttoptr", places, "ptr")
            found = code.masked_load(buffer.kind, pointers, wanted, code.splat(found, lanes), size)
        write(emitter, buffer, index, found if lanes_of(index) else code.lane(found, 0) if found.lanes else found)

    nest(emitter, emitter.types[value].shape, roots, body)
    bad.require(op)
    emitter.keep(value, buffer)


class Tally:
    """Whether any lane so far was one that may not be touched."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter, self.code = emitter, emitter.code
        self.flag = emitter.setting.scratch.take((), "i8").pointer
        self.code.store(self.code.constant("i8", 0), self.flag)

    def inside(self, op: Op, places: Reg, wanted: Reg, size: int) -> Reg:
        """``wanted`` without the lanes outside of the region or not on a multiple of ``size``; these are noted."""
        code = self.code
        start, stop = self.emitter.region(op, writes=op.name != "tt.load")
        lanes = wanted.lanes
        # Of a region that holds no element, nothing is inside.
        room = code.op("sub", code.op("sub", stop, start), code.constant("i64", size))
        offsets = code.op("sub", places, code.splat(start, lanes))
        good = code.compare("ule", offsets, code.splat(room, lanes))
        good = code.op("and", good, code.splat(code.compare("sge", room, code.constant("i64", 0)), lanes))
        if size > 1:
            low = code.op("and", places, code.like(places, size - 1))
            good = code.op("and", good, code.compare("eq", low, code.like(low, 0)))
        wrong = code.op("and", wanted, code.op("xor", good, code.like(good, 1)))
        some = code.intrinsic("llvm.vector.reduce.or", wrong, scalar=True)
        noted = code.op("or", code.load("i8", self.flag), code.cast("zext", some, "i8"))
        code.store(noted, self.flag)
        return code.op("and", wanted, good)

    def require(self, op: Op) -> None:
        """A guard that there was none."""
        code = self.code
        none = code.compare("eq", code.load("i8", self.flag), code.constant("i8", 0))
        self.emitter.guards.require(none, op, "bounds")


# Stores.


@emits("tt.store")
def store(emitter: Emitter, op: Op) -> None:
    where = operands_of(op)
    assert where.value is not None
    value = op.operands[where.value]
    type = emitter.types[value]
    if type.element == "i1":
        raise Unsupported("stores of booleans")
    mask = None if where.mask is None else op.operands[where.mask]
    form = addresses(emitter, op.operands[where.address])
    checked = form is not None and check_corners(emitter, op, form, mask, width_of(type.element))
    if not checked:
        _check_lanes(emitter, op, mask, width_of(type.element))
    if emitter.rehearsal:
        return
    if not type.shape:
        _store_one(emitter, op, value, mask)
        return
    roots = [value, *([op.operands[where.address]] if not checked else []), *([mask] if mask is not None else [])]

    def body(index: Indices) -> None:
        holds = mask_at(emitter, mask, index)
        if holds is not False:
            _store_elements(emitter, op, form if checked else None, index, holds, at(emitter, value, index))

    nest(emitter, type.shape, roots, body, only=mask)


def _store_one(emitter: Emitter, op: Op, value: int, mask: int | None) -> None:
    """A scalar; where the mask does not hold, it goes to scratch."""
    code = emitter.code
    pointer = code.cast("inttoptr", emitter.scalar(op.operands[0]), "ptr")
    if mask is not None:
        pointer = code.select(emitter.scalar(mask), pointer, emitter.setting.scratch.start)
    code.store(emitter.scalar(value), pointer)


def _store_elements(
    emitter: Emitter, op: Op, form: Affine | None, index: Indices, holds: bool | Reg, found: Reg
) -> None:
    code, lanes = emitter.code, max(1, lanes_of(index))
    size = width_of(emitter.element(op.operands[operands_of(op).value or 0]))
    axis = next((k for k, i in enumerate(index) if i.lanes), None)
    found = code.splat(found, lanes)
    if form is not None and (axis is None or form.strides[axis] == size):
        first = position(emitter, form, tuple(Index(i.value, i.level) if i.lanes else i for i in index))
        pointer = code.cast("inttoptr", first, "ptr")
        if holds is True:
            code.store(found, pointer, size)
        else:
            code.masked_store(found, pointer, code.splat(_asked(code, holds), lanes), size)
        return
    places = code.splat(at(emitter, op.operands[operands_of(op).address], index), lanes)
    mask = code.splat(_asked(code, holds), lanes)
    code.masked_store(found, code.cast("inttoptr", places, "ptr"), mask, size)


def _check_lanes(emitter: Emitter, op: Op, mask: int | None, size: int) -> None:
    """A guard that no lane leaves the region, before any is touched."""
    code, place = emitter.code, op.operands[operands_of(op).address]
    bad = Tally(emitter)

    def body(index: Indices) -> None:
        holds = mask_at(emitter, mask, index)
        if holds is not False:
            lanes = max(1, lanes_of(index))
            places = code.splat(at(emitter, place, index), lanes)
            bad.inside(op, places, code.splat(_asked(code, holds), lanes), size)

    shape = emitter.types[place].shape
    nest(emitter, shape, [place, *([mask] if mask is not None else [])], body, only=mask)
    bad.require(op)
