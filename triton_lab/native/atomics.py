"""Atomics: one thread runs a program's lanes in turn, in ascending order.

All lanes are checked before the first one changes anything. What they find goes to scratch if somebody asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from triton_lab.ir import Op
from triton_lab.ir.effects import Rmw, operands_of
from triton_lab.native.code import Code, Reg, bits_of
from triton_lab.native.elements import Indices, at, lanes_of, mask_at, write
from triton_lab.native.elementwise import extreme
from triton_lab.native.emitter import Emitter, emits
from triton_lab.native.forms import Buffer
from triton_lab.native.kinds import is_narrow, width_of
from triton_lab.native.math.conversions import narrow, widen
from triton_lab.native.memory import Tally, addresses, check_corners
from triton_lab.native.nest import nest
from triton_lab.native.shapes import in_rows

Update = Callable[[Code, Reg, Reg], Reg]


def _plain(name: str) -> Update:
    return lambda code, old, new: code.op(name, old, new)


def _intrinsic(name: str) -> Update:
    return lambda code, old, new: code.intrinsic(f"llvm.{name}", old, new)


_UPDATES: dict[int, Update] = {
    Rmw.AND: _plain("and"),
    Rmw.OR: _plain("or"),
    Rmw.XOR: _plain("xor"),
    Rmw.ADD: _plain("add"),
    Rmw.FADD: _plain("fadd"),
    Rmw.MAX: _intrinsic("smax"),
    Rmw.MIN: _intrinsic("smin"),
    Rmw.UMAX: _intrinsic("umax"),
    Rmw.UMIN: _intrinsic("umin"),
    Rmw.XCHG: lambda code, old, new: new,
}
_OF_FLOATS: dict[int, Update] = {
    Rmw.FADD: _plain("fadd"),
    Rmw.ADD: _plain("fadd"),
    Rmw.MAX: lambda code, old, new: extreme(code, "arith.maximumf", old, new),
    Rmw.MIN: lambda code, old, new: extreme(code, "arith.minimumf", old, new),
}


@emits("tt.atomic_rmw")
def atomic_rmw(emitter: Emitter, op: Op) -> None:
    where, code = operands_of(op), emitter.code
    assert where.value is not None
    value = op.operands[where.value]
    element, kind = emitter.element(value), op.attributes["atomic_rmw_op"]
    floats = element[0] in "fb" and kind in _OF_FLOATS
    update = _OF_FLOATS[kind] if floats else _UPDATES[kind]

    def change(old: Reg, given: Sequence[Reg]) -> Reg:
        (new,) = given
        if floats and is_narrow(element):
            return narrow(code, update(code, widen(code, old, element), widen(code, new, element)), element)
        return update(code, old, new)

    mask = None if where.mask is None else op.operands[where.mask]
    _in_turn(emitter, op, mask, [value], change)


@emits("tt.atomic_cas")
def atomic_cas(emitter: Emitter, op: Op) -> None:
    """Bits are compared: a NaN equals itself, and 0.0 is not -0.0."""
    where, code = operands_of(op), emitter.code
    assert where.expected is not None and where.value is not None

    def change(old: Reg, given: Sequence[Reg]) -> Reg:
        bits = f"i{bits_of(old.kind)}"
        same = code.compare("eq", code.cast("bitcast", old, bits), code.cast("bitcast", given[0], bits))
        return code.select(same, given[1], old)

    _in_turn(emitter, op, None, [op.operands[where.expected], op.operands[where.value]], change)


def _in_turn(
    emitter: Emitter, op: Op, mask: int | None, values: Sequence[int], change: Callable[[Reg, Sequence[Reg]], Reg]
) -> None:
    """``memory = change(memory, values)`` lane by lane; the result is what each lane found."""
    pointer, (result,) = op.operands[operands_of(op).address], op.results
    type, element = emitter.types[result], emitter.element(result)
    size = width_of(element)
    if not type.shape:
        form = addresses(emitter, pointer)
        assert form is not None
        check_corners(emitter, op, form, mask, size)
        if not emitter.rehearsal:
            _one_lane(emitter, op, mask, values, change)
        return
    places = _checked_places(emitter, op, pointer, mask, size)
    if emitter.rehearsal:
        return
    given = [in_rows(emitter, value) for value in values]
    used = bool(emitter.analysis.users.get(result))
    found = emitter.take(result) if used else None
    _lane_by_lane(emitter, places, given, found, emitter.kind(result), size, change)
    if found is not None:
        emitter.keep(result, found)


def _one_lane(
    emitter: Emitter, op: Op, mask: int | None, values: Sequence[int], change: Callable[[Reg, Sequence[Reg]], Reg]
) -> None:
    """A scalar; where the mask does not hold, zero of scratch is changed and found."""
    code, (result,) = emitter.code, op.results
    kind = emitter.kind(result)
    place = code.cast("inttoptr", emitter.scalar(op.operands[operands_of(op).address]), "ptr")
    if mask is not None:
        spare = emitter.setting.scratch.start
        code.store(code.constant(kind, 0), spare)
        place = code.select(emitter.scalar(mask), place, spare)
    old = code.load(kind, place)
    code.store(change(old, [emitter.scalar(value) for value in values]), place)
    emitter.forms[result] = old


def _checked_places(emitter: Emitter, op: Op, pointer: int, mask: int | None, size: int) -> Buffer:
    """The address of each lane, 0 for those that are masked out; a guard has seen that all are good."""
    code = emitter.code
    buffer = emitter.setting.scratch.take(emitter.types[pointer].shape, "i64")
    bad = Tally(emitter)

    def body(index: Indices) -> None:
        lanes = max(1, lanes_of(index))
        holds = mask_at(emitter, mask, index)
        found = code.splat(at(emitter, pointer, index), lanes)
        if holds is False:
            found = code.like(found, 0)
        else:
            wanted = code.splat(code.constant("i1", 1) if holds is True else holds, lanes)
            found = code.select(bad.inside(op, found, wanted, size), found, code.like(found, 0))
        write(emitter, buffer, index, found if lanes_of(index) else code.lane(found, 0))

    nest(emitter, buffer.shape, [pointer, *([mask] if mask is not None else [])], body)
    bad.require(op)
    return buffer


def _lane_by_lane(
    emitter: Emitter,
    places: Buffer,
    given: Sequence[Buffer],
    found: Buffer | None,
    kind: str,
    size: int,
    change: Callable[[Reg, Sequence[Reg]], Reg],
) -> None:
    code = emitter.code
    count = code.constant("i64", math.prod(places.shape))
    spare = emitter.setting.scratch.start

    def lane(k: Reg, _: list[Reg]) -> Sequence[Reg]:
        address = code.load("i64", code.offset(places.pointer, k, "i64"))
        code.store(code.constant(kind, 0), spare)
        none = code.compare("eq", address, code.constant("i64", 0))
        place = code.select(none, spare, code.cast("inttoptr", address, "ptr"))
        old = code.load(kind, place, 0, size)
        news = [code.load(kind, code.offset(buffer.pointer, k, kind)) for buffer in given]
        code.store(change(old, news), place, size)
        if found is not None:
            code.store(old, code.offset(found.pointer, k, kind))
        return ()

    emitter.counted(code.constant("i64", 0), count, 1, lane)
    emitter.afresh()
