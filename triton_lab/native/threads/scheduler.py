"""Machine code for threads that share a launch: it takes the next few programs until none is left, or one has failed.

Each thread runs `take`, C's ``void take(Table *)``. On all threads but the first, the kernel's function calls `look`,
C's ``void ask(int64 *rounds)`` (see `function_contract`), to ask whether to halt; that costs a nanosecond. Both are the
same for all kernels.
"""

from __future__ import annotations

import ctypes

from triton_lab.native.function_contract import STOPPED, Generated
from triton_lab.native.llvm.builder import BasicBlock, FunctionBuilder, Reg

# How the first thread waits for the others: the turns that it spins, then the microseconds of each sleep, and the
# sleeps (about a tenth of a second) after which it asks Python whether there is a signal.
_TURNS, _ASLEEP, _TIMES = 20_000, 200, 400
# Rounds of loops after which a thread checks whether to halt.
ROUNDS = 64

_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int64


class Table(ctypes.Structure):
    """The data that the threads share. Fields that several threads write are 64 bytes away from all others.

    ``run`` is the kernel's function, whose arguments follow; ``who`` returns a thread's number. The programs from
    ``next`` to ``end`` are still to be taken, ``step`` at a time. ``over``: no more may be taken; ``halt``: running
    programs end, too. ``working`` is the number of threads that may take programs or run them.
    """

    _fields_ = (
        ("run", _POINTER),
        ("arguments", ctypes.c_char_p),
        ("grid", ctypes.c_char_p),
        ("regions", ctypes.c_char_p),
        ("who", _POINTER),
        ("seats", _POINTER),
        ("end", _NUMBER),
        ("step", _NUMBER),
        ("next", _NUMBER * 8),
        ("working", _NUMBER * 8),
        ("over", _NUMBER),
        ("halt", _NUMBER),
    )


class Seat(ctypes.Structure):
    """The data of one thread. If a program of it failed: the programs below ``until`` were taken, those below ``came``
    ran.
    """

    _fields_ = (
        ("fault", _POINTER),
        ("scratch", _POINTER),
        ("came", _NUMBER),
        ("until", _NUMBER),
        ("_", _NUMBER * 4),
    )


class FaultNumbers(ctypes.Structure):
    """The numbers by which a kernel's function says why it ended (see `function_contract`), and the address of
    ``halt``.
    """

    _fields_ = (
        ("guard", _NUMBER),
        ("when", _NUMBER),
        ("rounds", _NUMBER),
        ("ask", _POINTER),
        ("where", _NUMBER),
        ("halt", _POINTER),
    )


def offset(of: type[ctypes.Structure], field: str) -> int:
    """The offset of a field, in bytes."""
    found: int = getattr(of, field).offset
    return found


def look() -> Generated:
    """``void look(int64 *rounds)``: writes how many rounds may follow, 0 to halt."""
    rounds = Reg("%rounds", "ptr")
    code = FunctionBuilder("look", (rounds,), "i64")
    halt = code.load("ptr", _at(code, rounds, offset(FaultNumbers, "halt") - offset(FaultNumbers, "rounds")))
    goes_on = code.compare("eq", code.let(f"load atomic i64, {halt} monotonic, align 8", "i64", pure=False), _i64(0))
    code.store(code.select(goes_on, _i64(ROUNDS), _i64(0)), rounds)
    code.leave(_i64(0))
    return Generated(code.text(), code.name, 0, (), ())


def take(arm: bool) -> Generated:
    """``void take(Table *)``."""
    return _Taking(arm).written()


class _Taking:
    """Writes `take`."""

    def __init__(self, arm: bool) -> None:
        table = Reg("%table", "ptr")
        self.code = FunctionBuilder("take", (table,), "i64")
        self.arm = arm
        self.shared = {name: _at(self.code, table, offset(Table, name)) for name, _ in Table._fields_}
        self.number = self.code.let(f"call i32 {self._loaded('who').name}()", "i32", pure=False)
        own = self.code.op("mul", self.code.cast("sext", self.number, "i64"), _i64(ctypes.sizeof(Seat)))
        seat = self.code.offset(self._loaded("seats"), own, "i8")
        self.seat = {name: _at(self.code, seat, offset(Seat, name)) for name, _ in Seat._fields_}
        self.fault = self.code.load("ptr", self.seat["fault"])

    def written(self) -> Generated:
        code = self.code
        done, leave = code.new_block("done"), code.new_block("leave")
        self._count("working", "add")
        self._take_all(done)
        code.block = done
        self._count("working", "sub")
        wait = code.new_block("wait")
        code.branch(code.compare("eq", self.number, code.constant("i32", 0)), wait, leave)
        code.block = wait
        self._set("over")
        self._wait(leave)
        code.block = leave
        code.leave(_i64(0))
        return Generated(code.text(), code.name, 0, (), ())

    def _take_all(self, done: BasicBlock) -> None:
        code = self.code
        more, taking, running, failed, halting = map(code.new_block, ("more", "taking", "running", "failed", "halting"))
        arguments = [f"ptr {self._loaded(name).name}" for name in ("arguments", "grid", "regions")]
        run, end, step = self._loaded("run"), self._loaded("end", "i64"), self._loaded("step", "i64")
        scratch = code.load("ptr", self.seat["scratch"])
        code.jump(more)
        code.block = more
        code.branch(code.compare("eq", self._read("over"), _i64(0)), taking, done)
        code.block = taking
        first = self._count("next", "add", step)
        code.branch(code.compare("slt", first, end), running, done)
        code.block = running
        until = code.intrinsic("llvm.smin", code.op("add", first, step), end)
        came = code.let(
            f"call i64 {run.name}({arguments[0]}, {first}, {until}, {arguments[1]}, {arguments[2]}, {scratch},"
            f" {self.fault})",
            "i64",
            pure=False,
        )
        code.branch(code.compare("eq", came, until), more, failed, likely=True)
        code.block = failed
        code.store(came, self.seat["came"])
        code.store(until, self.seat["until"])
        self._set("over")
        guard = code.load("i64", _at(code, self.fault, offset(FaultNumbers, "guard")))
        code.branch(code.compare("eq", guard, _i64(STOPPED)), halting, done)
        code.block = halting
        self._set("halt")
        code.jump(done)

    def _wait(self, leave: BasicBlock) -> None:
        """The first thread waits until no other one works. Only it may call Python."""
        code = self.code
        before = code.block
        awake, turn, asleep, asking, stopping, again = map(
            code.new_block, ("awake", "turn", "asleep", "asking", "stopping", "again")
        )
        code.jump(awake)
        code.block = awake
        turns = code.phi("i64")
        turns.come(_i64(0), before)
        code.branch(code.compare("eq", self._read("working"), _i64(0)), leave, turn)
        code.block = turn
        self._pause()
        following = code.op("add", turns.reg, _i64(1))
        turns.come(following, turn)
        code.branch(code.compare("ult", following, _i64(_TURNS)), awake, asleep)

        code.block = asleep
        times = code.phi("i64")
        times.come(_i64(0), turn)
        code.call("usleep", "i32", 0, code.constant("i32", _ASLEEP), pure=False)
        later = code.op("add", times.reg, _i64(1))
        code.branch(code.compare("eq", code.op("urem", later, _i64(_TIMES)), _i64(0)), asking, again)
        code.block = asking
        rounds = _at(code, self.fault, offset(FaultNumbers, "rounds"))
        code.store(_i64(0), rounds)
        ask = code.load("ptr", _at(code, self.fault, offset(FaultNumbers, "ask")))
        code.do(f"call void {ask.name}({rounds})")
        code.branch(code.compare("eq", code.load("i64", rounds), _i64(0)), stopping, again)
        code.block = stopping
        self._set("halt")
        code.jump(again)
        code.block = again
        times.come(later, again)
        code.branch(code.compare("eq", self._read("working"), _i64(0)), leave, asleep)

    def _pause(self) -> None:
        """The instruction that tells the processor that a loop waits."""
        name, operands = "llvm.x86.sse2.pause", list[Reg]()
        if self.arm:
            name, operands = "llvm.aarch64.hint", [self.code.constant("i32", 1)]
        self.code.declare(f"void @{name}({', '.join(each.type for each in operands)})", name)
        self.code.do(f"call void @{name}({', '.join(map(str, operands))})")

    def _loaded(self, name: str, kind: str = "ptr") -> Reg:
        return self.code.load(kind, self.shared[name])

    def _read(self, name: str) -> Reg:
        return self.code.let(f"load atomic i64, {self.shared[name]} seq_cst, align 8", "i64", pure=False)

    def _set(self, name: str) -> None:
        self.code.do(f"store atomic i64 1, {self.shared[name]} seq_cst, align 8")

    def _count(self, name: str, how: str, by: Reg | None = None) -> Reg:
        """Change a number atomically; returns its old value."""
        return self.code.let(f"atomicrmw {how} {self.shared[name]}, {by or _i64(1)} seq_cst", "i64", pure=False)


def _i64(value: int) -> Reg:
    return Reg(str(value), "i64")


def _at(code: FunctionBuilder, base: Reg, offset: int) -> Reg:
    return code.offset(base, _i64(offset), "i8")
