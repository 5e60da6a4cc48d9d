"""Which memory an access touches, and the check that it may: for loads, stores and atomics, by pointer or descriptor.

An access by affine addresses under a box is checked once, before it: if its corners lie in the region, all of it does.
Others are checked lane by lane, and all lanes are checked before any is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triton_lab.ir import Op
from triton_lab.ir.effects import by_descriptor, operands_of, writes
from triton_lab.native.analysis.affine_rules import splat_of
from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.block_loops import nest
from triton_lab.native.blocks.elements import Indices, at, lanes_of, mask_at
from triton_lab.native.blocks.row_addresses import step_along
from triton_lab.native.blocks.value_repr import AffineValue, BlockAccess, BoxMask, Index
from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.llvm.element_types import width_of
from triton_lab.native.lowering.descriptors import by_its_descriptor
from triton_lab.native.lowering.emitter import Emitter


def access_of(emitter: Emitter, op: Op) -> BlockAccess:
    """What ``op`` touches. Writes a guard for its corners if they can be checked."""
    access = by_its_descriptor(emitter, op) if by_descriptor(op) else _by_pointer(emitter, op)
    return replace(access, checked=_check_corners(emitter, access))


def _by_pointer(emitter: Emitter, op: Op) -> BlockAccess:
    where = operands_of(op)
    address = op.operands[where.address]
    mask = None if where.mask is None else op.operands[where.mask]
    type = emitter.types[address]
    assert type.pointee is not None
    form, box = emitter.affine(address), None if mask is None else emitter.box(mask)
    in_rows = False
    if not type.shape:
        form, box = splat_of(emitter, address, ()), None if mask is None else BoxMask(())
    elif form is None or (mask is not None and box is None):
        in_rows = step_along(emitter, address, len(type.shape) - 1) == width_of(type.pointee.element)
    return BlockAccess(
        op,
        type.shape,
        type.pointee.element,
        lambda index: at(emitter, address, index),
        lambda index: mask_at(emitter, mask, index),
        (address,) if mask is None else (address, mask),
        form,
        box,
        mask is not None,
        in_rows,
    )


def check(emitter: Emitter, access: BlockAccess) -> None:
    """A guard that all lanes of the access may be touched, before any is; nothing if there was one already."""
    if access.checked:
        return
    bad = AccessTally(emitter, access)

    def body(index: Indices) -> None:
        holds = access.holds(index)
        if holds is not False:
            bad.inside(index, holds)

    nest(emitter, access.shape, access.roots, body, only=access.box)
    bad.require()


def bits_in(code: FunctionBuilder, mask: Reg) -> Reg:
    """The lanes of a mask as bits of a number (i64), the first lane lowest."""
    return code.cast("zext", code.let(f"bitcast {mask} to i{mask.lanes}", f"i{mask.lanes}"), "i64")


def _zeros(code: FunctionBuilder, name: str, bits: Reg) -> Reg:
    """The number of zeros below the lowest set bit (``cttz``), or above the highest one (``ctlz``)."""
    return code.call(f"llvm.{name}.i64", "i64", 0, bits, code.constant("i1", 0))


def is_row(access: BlockAccess, index: Indices) -> bool:
    """Whether the lanes of ``index`` are consecutive in memory; the check of the lanes makes sure of it."""
    return access.in_rows and index[-1].lanes > 1


def lane_of(code: FunctionBuilder, index: Indices, lane: int = 0) -> Indices:
    """The index of one lane."""

    def one(i: Index) -> Index:
        return Index(int_expr.register(code, int_expr.add(code, i.value, lane)), i.level) if i.lanes else i

    return tuple(map(one, index))


def asked(code: FunctionBuilder, holds: bool | Reg, lanes: int = 0) -> Reg:
    """A mask as a register."""
    return code.splat(code.constant("i1", holds) if isinstance(holds, bool) else holds, lanes)


# Blocks.


def _check_corners(emitter: Emitter, access: BlockAccess) -> bool:
    """A guard that all lanes are in the region and aligned to their size; False if the corners do not decide that."""
    code, form, box = emitter.code, access.form, access.box
    if form is None or form.reach_bits > 60 or (access.masked and box is None):
        return False
    size = width_of(access.element)
    low = high = form.base
    nothing: Reg | None = None
    for axis, (stride, extent) in enumerate(zip(form.strides, form.shape, strict=True)):
        bounds = box.ranges[axis] if box is not None else None
        first, last = (0, extent - 1) if bounds is None else (bounds.low, int_expr.subtract(code, bounds.high, 1))
        if bounds is not None:
            empty = code.compare("sgt", int_expr.register(code, first), int_expr.register(code, last))
            nothing = empty if nothing is None else code.op("or", nothing, empty)
        ends = int_expr.multiply(code, first, stride), int_expr.multiply(code, last, stride)
        low = int_expr.add(code, low, int_expr.least(code, *ends))
        high = int_expr.add(code, high, int_expr.greatest(code, *ends))
    if access.masked and not form.shape:
        nothing = code.op("xor", asked(code, access.holds(())), code.constant("i1", 1))
    bottom, top = int_expr.register(code, low), int_expr.register(code, high)
    start, stop = _around(emitter, access.op, bottom)
    end = code.op("add", top, code.constant("i64", size))
    ok = code.op("and", code.compare("uge", bottom, start), code.compare("ule", end, stop))
    # Addresses that wrap past the end of memory are outside the region.
    ok = code.op("and", ok, code.compare("ule", bottom, top))
    if size > 1:
        ok = code.op("and", ok, _aligned(emitter, form, size))
    if nothing is not None:
        ok = code.op("or", ok, nothing)
    emitter.guards.require(ok, access.op, "bounds", bottom)
    return True


def _aligned(emitter: Emitter, form: AffineValue, size: int) -> Reg:
    """Whether the addresses are multiples of ``size``, a power of two."""
    code = emitter.code
    together = int_expr.register(code, form.base)
    if form.grain % size:
        for stride in form.strides:
            together = code.op("or", together, int_expr.register(code, stride))
    return code.compare("eq", code.op("and", together, code.constant("i64", size - 1)), code.constant("i64", 0))


# Regions.


def _around(emitter: Emitter, op: Op, address: Reg) -> tuple[Reg, Reg]:
    """The region of an access that contains ``address``, as start and stop; zeros if none does. A single region is not
    tested.
    """
    code = emitter.code
    if emitter.has_one_region(op):
        return emitter.region(op, writes=writes(op))

    def body(pair: tuple[Reg, Reg], found: list[Reg]) -> Sequence[Reg]:
        start, stop = pair
        here = code.op("and", code.compare("uge", address, start), code.compare("ult", address, stop))
        return [code.select(here, x, before) for x, before in zip(pair, found, strict=True)]

    nowhere = code.constant("i64", 0)
    start, stop = emitter.each_region(op, body, (nowhere, nowhere), writes=writes(op))
    return start, stop


class AccessTally:
    """Records whether any lane may not be touched, and the address of one such lane."""

    def __init__(self, emitter: Emitter, access: BlockAccess) -> None:
        self.emitter, self.code, self.access = emitter, emitter.code, access
        self.size = width_of(access.element)
        # Read before the loops over lanes, since it is the same for all.
        self.one = emitter.region(access.op, writes=writes(access.op)) if emitter.has_one_region(access.op) else None
        self.flags, self.stray = (emitter.setting.scratch.take((), "i64").pointer for _ in range(2))
        for place in (self.flags, self.stray):
            self.code.store(self.code.constant("i64", 0), place)

    def inside(self, index: Indices, holds: bool | Reg) -> tuple[Reg, Reg]:
        """Addresses, and ``holds`` without the lanes that are outside the regions or not aligned to their size.

        Those lanes are recorded. For lanes in a row, the address is the first lane's, and all or none are good.
        """
        code, lanes = self.code, max(1, lanes_of(index))
        if is_row(self.access, index):
            return self._row(index, holds, lanes)
        places = code.splat(self.access.places(index), lanes)
        wanted, good = asked(code, holds, lanes), self._good(places)
        if self.size > 1:
            low = code.op("and", places, code.like(places, self.size - 1))
            good = code.op("and", good, code.compare("eq", low, code.like(low, 0)))
        wrong = code.op("and", wanted, code.op("xor", good, code.like(good, 1)))
        self._note(bits_in(code, wrong))
        if self.one is None:
            strays = code.select(wrong, places, code.like(places, 0))
            self._note_stray(code.intrinsic("llvm.vector.reduce.umax", strays, scalar=True))
        return places, code.op("and", wanted, good)

    def _good(self, places: Reg) -> Reg:
        """Which of ``places`` are in a region."""
        code, op = self.code, self.access.op
        if self.one is not None:
            return self._within(places, *self.one)
        (good,) = self.emitter.each_region(
            op,
            lambda pair, found: [code.op("or", found[0], self._within(places, *pair))],
            (code.constant("i1", 0, places.lanes),),
            writes=writes(op),
        )
        return good

    def _row(self, index: Indices, holds: bool | Reg, lanes: int) -> tuple[Reg, Reg]:
        """The same for lanes in a row: the first and the last lane that count decide."""
        code, access, size = self.code, self.access, self.size
        first = access.places(lane_of(code, index))
        last = access.places(lane_of(code, index, lanes - 1))
        low, high = first, code.op("add", first, code.constant("i64", lanes * size))
        none = code.constant("i1", 0)
        if isinstance(holds, Reg) and not holds.lanes:
            none = code.op("xor", holds, code.constant("i1", 1))
        elif isinstance(holds, Reg):
            bits = bits_in(code, holds)
            none = code.compare("eq", bits, code.constant("i64", 0))
            before, behind = (_zeros(code, name, bits) for name in ("cttz", "ctlz"))
            low = code.op("add", first, code.op("mul", before, code.constant("i64", size)))
            behind = code.op("sub", behind, code.constant("i64", 64 - lanes))
            high = code.op("sub", high, code.op("mul", behind, code.constant("i64", size)))
        start, stop = self.one or _around(self.emitter, access.op, low)
        good = code.op("and", code.compare("uge", low, start), code.compare("ule", high, stop))
        good = code.op("and", good, code.compare("ult", low, high))
        good = code.op(
            "and", good, code.compare("eq", code.op("sub", last, first), code.constant("i64", (lanes - 1) * size))
        )
        aligned = code.op("and", first, code.constant("i64", size - 1))
        good = code.op("and", good, code.compare("eq", aligned, code.constant("i64", 0)))
        good = code.op("or", good, none)
        wrong = code.op("xor", good, code.constant("i1", 1))
        self._note(code.cast("zext", wrong, "i64"))
        if self.one is None:
            self._note_stray(code.select(wrong, low, code.constant("i64", 0)))
        return first, code.op("and", holds, good) if isinstance(holds, Reg) else good

    def _note(self, flags: Reg) -> None:
        self.code.store(self.code.op("or", self.code.load("i64", self.flags), flags), self.flags)

    def _note_stray(self, address: Reg) -> None:
        self.code.store(self.code.intrinsic("llvm.umax", address, self.code.load("i64", self.stray)), self.stray)

    def _within(self, places: Reg, start: Reg, stop: Reg) -> Reg:
        code = self.code
        room, fits = self._room(start, stop)
        offsets = code.op("sub", places, code.splat(start, places.lanes))
        return code.op("and", code.compare("ule", offsets, room), code.splat(fits, places.lanes))

    def _room(self, start: Reg, stop: Reg) -> tuple[Reg, Reg]:
        """How far behind a region's start its last element may be, and whether one fits at all."""
        code = self.code
        room = code.op("sub", code.op("sub", stop, start), code.constant("i64", self.size))
        return room, code.compare("sge", room, code.constant("i64", 0))

    def require(self) -> None:
        """A guard that no bad lane was recorded."""
        code = self.code
        none = code.compare("eq", code.load("i64", self.flags), code.constant("i64", 0))
        self.emitter.guards.require(none, self.access.op, "bounds", code.load("i64", self.stray))
