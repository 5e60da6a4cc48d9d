"""In a transaction: saves what memory held before a program changes it, byte by byte (see `function_contract`)."""

from __future__ import annotations

from triton_lab.ir import Op
from triton_lab.native.llvm.builder import FunctionBuilder, Reg, bits_of
from triton_lab.native.lowering.access_checks import asked
from triton_lab.native.lowering.emitter import Emitter

# A place in scratch, which has 64 bytes before its first buffer; unwanted stores go there.
_SPARE = 32


class Keeping:
    """What is done before the write ``op``, of elements of ``size`` bytes, if the launch is a transaction."""

    def __init__(self, emitter: Emitter, op: Op, size: int) -> None:
        self.code, self.size = emitter.code, size
        self.needed = emitter.order.is_transaction
        if self.needed:
            self._held, self._seen = emitter.kept(op)
            loops = emitter.analysis.places[op].loops
            self._changed = [emitter.changed[loop] for loop in loops if loop in emitter.changed]
            self._spare = self.code.offset(emitter.setting.scratch.start, self.code.constant("i64", _SPARE), "i8")

    def before(self, places: Reg, value: Reg, holds: bool | Reg) -> None:
        """Prepare for ``value`` to be stored at the addresses ``places``: one, one per lane, or the first
        of all lanes.
        """
        if not self.needed:
            return
        self.keep(places, holds, value.lanes)
        if self._changed:
            self.note(self._lanes(holds, value.lanes).load(places), value, holds)

    def keep(self, places: Reg, holds: bool | Reg, lanes: int = 0) -> None:
        """Save the present contents unless they are saved already: mostly none or all of them are."""
        code, at = self.code, self._lanes(holds, lanes)
        behind = [code.op("add", places, delta) for delta in (self._held, self._seen)]
        seen = at.load(behind[1], other=-1)
        all_seen = code.compare("eq", seen, code.like(seen, -1))
        if lanes:
            all_seen = code.intrinsic("llvm.vector.reduce.and", all_seen, scalar=True)
        known = code.block.known
        first, on = code.new_block("keep"), code.new_block("kept")
        code.branch(all_seen, on, first)
        code.block = first
        now, before = at.load(places), at.load(behind[0])
        new = code.op("and", now, code.op("xor", seen, code.like(seen, -1)))
        at.store(code.op("or", code.op("and", before, seen), new), behind[0])
        at.store(code.like(seen, -1), behind[1])
        code.jump(on)
        # What was computed before is still valid after the branch.
        on.known = known
        code.block = on

    def _lanes(self, holds: bool | Reg, lanes: int) -> _Lanes:
        return _Lanes(self.code, holds, lanes, f"i{8 * self.size}", self.size, self._spare)

    def note(self, held: Reg, value: Reg, holds: bool | Reg) -> None:
        """Report to loops in which a program may wait if ``value``, which replaces ``held``, differs from it."""
        code = self.code
        if not (self.needed and self._changed):
            return
        bits = f"i{bits_of(value.kind)}"
        other = code.compare("ne", code.cast("bitcast", held, bits), code.cast("bitcast", value, bits))
        other = code.op("and", other, asked(code, holds))
        if other.lanes:
            other = code.intrinsic("llvm.vector.reduce.or", other, scalar=True)
        for place in self._changed:
            code.store(code.op("or", code.load("i64", place), code.cast("zext", other, "i64")), place)


class _Lanes:
    """Loads and stores of one element, or of the lanes that ``holds`` selects."""

    def __init__(self, code: FunctionBuilder, holds: bool | Reg, lanes: int, kind: str, size: int, spare: Reg) -> None:
        self.code, self.holds, self.lanes, self.kind, self.size, self.spare = code, holds, lanes, kind, size, spare

    def load(self, address: Reg, other: int = 0) -> Reg:
        """Load. Where ``holds`` is false, a scalar is undefined, and lanes are ``other``."""
        code, pointer = self.code, self._pointer(address)
        if self._is_plain(pointer):
            return code.load(self.kind, pointer, self.lanes, self.size)
        nothing = code.constant(self.kind, other, self.lanes)
        return code.masked_load(self.kind, pointer, asked(code, self.holds, self.lanes), nothing, self.size)

    def store(self, value: Reg, address: Reg) -> None:
        code, pointer = self.code, self._pointer(address)
        if self._is_plain(pointer):
            code.store(value, pointer, self.size)
        else:
            code.masked_store(value, pointer, asked(code, self.holds, self.lanes), self.size)

    def _is_plain(self, pointer: Reg) -> bool:
        return not self.lanes or (self.holds is True and not pointer.lanes)

    def _pointer(self, address: Reg) -> Reg:
        pointer = self.code.cast("inttoptr", address, "ptr")
        if self.lanes or self.holds is True:
            return pointer
        return self.code.select(asked(self.code, self.holds), pointer, self.spare)
