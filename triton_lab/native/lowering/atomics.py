"""Atomics: one thread runs a program's lanes in turn, in ascending order.

All lanes are checked before the first one changes anything. The values that they find go to scratch if they are used.
No instruction is atomic, and none orders memory. A launch with atomics whose programs share memory stays on one thread
(see `outline`). Threads that share another launch begin and end with a lock. Other launches with atomics wait
(`backend.plugin.launcher.turn`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from triton_lab.ir import Op
from triton_lab.ir.effects import Rmw, operands_of
from triton_lab.native.blocks.block_loops import nest
from triton_lab.native.blocks.elements import Indices, lanes_of, write
from triton_lab.native.blocks.value_repr import BlockAccess, ScratchBlock
from triton_lab.native.llvm.builder import FunctionBuilder, Reg, bits_of
from triton_lab.native.llvm.element_types import is_narrow, kind_of, width_of
from triton_lab.native.lowering.access_checks import AccessTally, access_of, asked, check
from triton_lab.native.lowering.elementwise import extreme
from triton_lab.native.lowering.emitter import Emitter, emits
from triton_lab.native.lowering.shapes import in_rows
from triton_lab.native.math.number_conversions import narrow, widen
from triton_lab.native.runtime.undo_log import Keeping
from triton_lab.native.unsupported import Unsupported

Update = Callable[[FunctionBuilder, Reg, Reg], Reg]


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
    _update(emitter, op, op.attributes["atomic_rmw_op"])


# Maps the kinds of `tt.descriptor_reduce` to those of `tt.atomic_rmw`, for signed elements and floats, and for
# unsigned.
_KINDS = {1: Rmw.ADD, 2: Rmw.MIN, 3: Rmw.MAX, 6: Rmw.AND, 7: Rmw.OR, 8: Rmw.XOR}
_UNSIGNED = {**_KINDS, 2: Rmw.UMIN, 3: Rmw.UMAX}


@emits("tt.descriptor_reduce")
def descriptor_reduce(emitter: Emitter, op: Op) -> None:
    described = emitter.types[op.operands[operands_of(op).address]].pointee
    assert described is not None
    _update(emitter, op, (_UNSIGNED if described.element[0] == "u" else _KINDS)[op.attributes["kind"]])


def _update(emitter: Emitter, op: Op, kind: int) -> None:
    """Each lane in turn replaces the value that it finds, as ``kind`` says."""
    where, code = operands_of(op), emitter.code
    assert where.value is not None
    value = op.operands[where.value]
    element = emitter.element(value)
    floats = element[0] in "fb" and kind in _OF_FLOATS
    update = _OF_FLOATS[kind] if floats else _UPDATES[kind]

    def change(old: Reg, given: Sequence[Reg]) -> Reg:
        (new,) = given
        if floats and is_narrow(element):
            return narrow(code, update(code, widen(code, old, element), widen(code, new, element)), element)
        return update(code, old, new)

    _in_turn(emitter, op, [value], change)


@emits("tt.atomic_cas")
def atomic_cas(emitter: Emitter, op: Op) -> None:
    """Compare and swap. Bits are compared: a NaN equals itself, and 0.0 is not -0.0."""
    where, code = operands_of(op), emitter.code
    assert where.expected is not None and where.value is not None

    def change(old: Reg, given: Sequence[Reg]) -> Reg:
        bits = f"i{bits_of(old.kind)}"
        same = code.compare("eq", code.cast("bitcast", old, bits), code.cast("bitcast", given[0], bits))
        return code.select(same, given[1], old)

    _in_turn(emitter, op, [op.operands[where.expected], op.operands[where.value]], change)


def _in_turn(emitter: Emitter, op: Op, values: Sequence[int], change: Callable[[Reg, Sequence[Reg]], Reg]) -> None:
    """``memory = change(memory, values)`` lane by lane; the result, if there is one, is the value that each
    lane found.
    """
    access = access_of(emitter, op)
    if not access.shape:
        if not emitter.rehearsal:
            _one_lane(emitter, access, values, change)
        return
    if emitter.rehearsal:
        check(emitter, access)
        return
    places = _checked_places(emitter, access)
    given = [in_rows(emitter, value) for value in values]
    asked_for = [result for result in op.results if emitter.analysis.users.get(result)]
    found = emitter.take(asked_for[0]) if asked_for else None
    keeping = Keeping(emitter, op, width_of(access.element))
    _lane_by_lane(emitter, places, given, found, kind_of(access.element), keeping, change)
    if found is not None:
        emitter.keep(asked_for[0], found)


def _one_lane(
    emitter: Emitter, access: BlockAccess, values: Sequence[int], change: Callable[[Reg, Sequence[Reg]], Reg]
) -> None:
    """An atomic on a scalar. If the mask is false, it changes a zero in scratch."""
    code, kind, holds = emitter.code, kind_of(access.element), access.holds(())
    keeping, address = Keeping(emitter, access.op, width_of(access.element)), access.places(())
    if keeping.needed:
        keeping.keep(address, holds)
    place = code.cast("inttoptr", address, "ptr")
    if holds is not True:
        spare = emitter.setting.scratch.start
        code.store(code.constant(kind, 0), spare)
        place = code.select(asked(code, holds), place, spare)
    old = code.load(kind, place)
    new = change(old, [emitter.scalar(value) for value in values])
    code.store(new, place)
    keeping.note(old, new, holds)
    for result in access.op.results:
        emitter.forms[result] = old


def _checked_places(emitter: Emitter, access: BlockAccess) -> ScratchBlock:
    """The address of each lane, 0 for masked lanes, after a guard that all are good."""
    code = emitter.code
    buffer = emitter.setting.scratch.take(access.shape, "i64")
    bad = None if access.checked else AccessTally(emitter, access)

    def body(index: Indices) -> None:
        lanes, holds = max(1, lanes_of(index)), access.holds(index)
        found = code.splat(access.places(index), lanes)
        if holds is False:
            found = code.like(found, 0)
        elif bad is not None or holds is not True:
            wanted = asked(code, holds, lanes)
            if bad is not None:
                _, good = bad.inside(index, holds)
                wanted = code.splat(good, lanes)
            found = code.select(wanted, found, code.like(found, 0))
        write(emitter, buffer, index, found if lanes_of(index) else code.lane(found, 0))

    nest(emitter, buffer.shape, access.roots, body)
    if bad is not None:
        bad.require()
    return buffer


def _lane_by_lane(
    emitter: Emitter,
    places: ScratchBlock,
    given: Sequence[ScratchBlock],
    found: ScratchBlock | None,
    kind: str,
    keeping: Keeping,
    change: Callable[[Reg, Sequence[Reg]], Reg],
) -> None:
    code, size = emitter.code, keeping.size
    count = code.constant("i64", math.prod(places.shape))
    spare = emitter.setting.scratch.start

    def lane(k: Reg, _: list[Reg]) -> Sequence[Reg]:
        address = code.load("i64", code.offset(places.pointer, k, "i64"))
        code.store(code.constant(kind, 0), spare)
        none = code.compare("eq", address, code.constant("i64", 0))
        some = code.op("xor", none, code.constant("i1", 1)) if keeping.needed else True
        if keeping.needed:
            keeping.keep(address, some)
        place = code.select(none, spare, code.cast("inttoptr", address, "ptr"))
        old = code.load(kind, place, 0, size)
        news = [code.load(kind, code.offset(buffer.pointer, k, kind)) for buffer in given]
        new = change(old, news)
        code.store(new, place, size)
        keeping.note(old, new, some)
        if found is not None:
            code.store(old, code.offset(found.pointer, k, kind))
        return ()

    emitter.counted(code.constant("i64", 0), count, 1, lane)
    emitter.afresh()


@emits("tt.atomic_poll")
def atomic_poll(emitter: Emitter, op: Op) -> None:
    """A wait for a value in memory. A program that would have to wait goes to NumPy."""
    where, code, access = operands_of(op), emitter.code, access_of(emitter, op)
    kind = kind_of(access.element)
    if access.shape or kind in ("float", "double"):
        raise Unsupported("tt.atomic_poll of a block, or of floats")
    check(emitter, access)
    assert where.expected is not None
    found = code.load(kind, code.cast("inttoptr", access.places(()), "ptr"))
    ready = code.compare("eq", found, emitter.scalar(op.operands[where.expected]))
    emitter.guards.require(ready, op, "waits")
    emitter.forms[op.results[0]] = code.constant("i1", 1)
