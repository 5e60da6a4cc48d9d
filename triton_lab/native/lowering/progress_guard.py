"""A guard that the rounds of a waiting loop achieve something, so that the loop ends.

Programs run one after another here. So if a program waits for a later one, that one will never act. The program then
goes to NumPy, which runs all of them side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.ir import Op
from triton_lab.native.analysis.effect_order import Waiting
from triton_lab.native.llvm.builder import FunctionBuilder, Reg, bits_of
from triton_lab.native.lowering.emitter import Emitter

# The rounds of one loop after which it counts as waiting, if nothing else shows it.
_MOST_ROUNDS = 1 << 20


@dataclass(frozen=True, slots=True)
class Handed:
    """What a round passes to the next one for an ``argument`` of the loop: the old and the new registers, or a block.

    The block may be another one than before.
    """

    argument: int
    before: Sequence[Reg]
    after: Sequence[Reg]
    is_other_block: bool


class Rounds:
    """The rounds of ``loop``, which is about to begin. An idle round may be the last one, but no other may
    follow it.
    """

    def __init__(self, emitter: Emitter, loop: Op, waiting: Waiting) -> None:
        self.emitter, self.loop, self.waiting = emitter, loop, waiting
        code, take = emitter.code, emitter.setting.scratch.take
        self._count, self._idle, self._changed = (take((), "i64").pointer for _ in range(3))
        for place in (self._count, self._idle):
            code.store(code.constant("i64", 0), place)
        if waiting.shared:
            emitter.changed[loop] = self._changed

    def begin(self) -> None:
        """Begin a round, before its condition."""
        if self.waiting.shared:
            self.emitter.code.store(self.emitter.code.constant("i64", 0), self._changed)

    def go_on(self) -> None:
        """Continue the round after its condition was true: a guard that the last round was not idle."""
        code = self.emitter.code
        goes_on = code.compare("eq", code.load("i64", self._idle), code.constant("i64", 0))
        self.emitter.guards.require(goes_on, self.loop, "waits")

    def end(self, carried: Sequence[Handed]) -> None:
        """End a round that passes ``carried`` to the next one: record whether it was idle."""
        code = self.emitter.code
        own = [each for each in carried if each.argument in self.waiting.values]
        blocks = any(each.is_other_block for each in own)
        moves = code.constant("i1", blocks)
        for old, new in ((old, new) for each in own for old, new in zip(each.before, each.after, strict=True)):
            moves = code.op("or", moves, _differ(code, old, new))
        if not self.waiting.shared:
            # Nothing else decides: a round with the same values as the last one repeats for ever.
            gets_on = moves
        else:
            gets_on = code.compare("ne", code.load("i64", self._changed), code.constant("i64", 0))
            if not self.waiting.polls:
                gets_on = code.op("or", gets_on, moves)
        if self.waiting.shared or blocks:
            rounds = code.op("add", code.load("i64", self._count), code.constant("i64", 1))
            code.store(rounds, self._count)
            few = code.compare("ult", rounds, code.constant("i64", _MOST_ROUNDS))
            gets_on = code.op("and", gets_on, few)
        idle = code.op("xor", gets_on, code.constant("i1", 1))
        code.store(code.cast("zext", idle, "i64"), self._idle)


def _differ(code: FunctionBuilder, a: Reg, b: Reg) -> Reg:
    if a.kind == "ptr":
        return code.compare("ne", a, b)
    bits = f"i{bits_of(a.kind)}"
    return code.compare("ne", code.cast("bitcast", a, bits), code.cast("bitcast", b, bits))
