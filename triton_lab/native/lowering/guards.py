"""Guards: conditions under which a program goes on here; if one fails, the program goes to NumPy."""

from __future__ import annotations

from triton_lab.ir import Op
from triton_lab.native.function_contract import EARLY, LATE, STOPPED, Guard
from triton_lab.native.llvm.builder import BasicBlock, FunctionBuilder, Phi, Reg


class Guards:
    """The guards of one function. ``late`` is set for code that runs after a program's first side effect.

    If one fails, the function ends: `finish` writes that end.
    """

    def __init__(self, code: FunctionBuilder, fault: Reg) -> None:
        self.code = code
        self._fault = fault
        self.late = False
        # Where a program continues if "within" fails, instead of going to NumPy.
        self.otherwise: BasicBlock | None = None
        self.has_otherwise = False
        self.sites: list[Guard] = []
        self._numbers: dict[Guard, int] = {}
        self._stop: BasicBlock = code.new_block("stop")
        with code.at(self._stop):
            self._site: Phi = code.phi("i64")
            self._when: Phi = code.phi("i64")
            self._where: Phi = code.phi("i64")
        self._used = False

    def require(self, ok: Reg, op: Op, what: str, where: Reg | None = None) -> None:
        """Go on only if ``ok``; ``where`` is the address that the guard checks."""
        if ok.literal == 1:
            return
        code = self.code
        known = code.block.known
        on = code.new_block("on")
        if what == "within" and self.otherwise is not None and not self.late:
            self.has_otherwise = True
            code.branch(ok, on, self.otherwise, likely=True)
        else:
            self._stops(self._number(Guard(op.index, what)), LATE if self.late else EARLY, where)
            code.branch(ok, on, self._stop, likely=True)
        # What was computed before is still valid after the guard.
        on.known = known
        code.block = on

    def ask(self, loop: Op) -> None:
        """In each round of ``loop``, count down; at zero, ask the caller whether to go on and when to ask again."""
        code = self.code
        place = code.offset(self._fault, code.constant("i64", 2), "i64")
        left = code.op("sub", code.load("i64", place), code.constant("i64", 1))
        code.store(left, place)
        known = code.block.known
        ask, on = code.new_block("ask"), code.new_block("on")
        code.branch(code.compare("sgt", left, code.constant("i64", 0)), on, ask, likely=True)
        code.block = ask
        asked = code.load("ptr", code.offset(self._fault, code.constant("i64", 3), "i64"))
        # If an interrupt prevents the answer, the number stays as it is, at zero: the function stops.
        code.do(f"call void {asked.name}({place})")
        rounds = code.load("i64", place)
        self._stops(STOPPED, loop.index)
        code.branch(code.compare("sgt", rounds, code.constant("i64", 0)), on, self._stop)
        on.known = known
        code.block = on

    def _stops(self, site: int, when: int, where: Reg | None = None) -> None:
        """Add the current block as a place where the function may end."""
        code = self.code
        self._site.come(code.constant("i64", site), code.block)
        self._when.come(code.constant("i64", when), code.block)
        self._where.come(where or code.constant("i64", 0), code.block)
        self._used = True

    def _number(self, guard: Guard) -> int:
        if guard not in self._numbers:
            self._numbers[guard] = len(self.sites)
            self.sites.append(guard)
        return self._numbers[guard]

    def finish(self, program: Reg) -> None:
        """Write the early end of the function: it reports the failed guard and the program."""
        code = self.code
        if not self._used:
            code.blocks.remove(self._stop)
            return
        with code.at(self._stop):
            code.store(self._site.reg, self._fault)
            code.store(self._when.reg, code.offset(self._fault, code.constant("i64", 1), "i64"))
            code.store(self._where.reg, code.offset(self._fault, code.constant("i64", 4), "i64"))
            code.leave(program)
