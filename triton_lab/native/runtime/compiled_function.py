"""A generated function in memory: from the cache on disk, else compiled now and stored there."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import time
from collections.abc import Generator
from typing import Any

from triton_lab.ir import Plan
from triton_lab.native.function_contract import STOPPED, Generated, Guard, RegionSlot, Signature
from triton_lab.native.llvm import jit
from triton_lab.native.runtime import code_cache
from triton_lab.native.threads import thread_team

_FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    ctypes.c_char_p,  # arguments
    ctypes.c_int64,  # first
    ctypes.c_int64,  # end
    ctypes.c_char_p,  # grid
    ctypes.c_char_p,  # regions
    ctypes.c_void_p,  # scratch
    ctypes.c_void_p,  # fault
)
_ALIGNED = 64
# The rounds of loops before a function first asks whether to go on, and the seconds between later questions.
_FIRST_ROUNDS, _ASK_SECONDS = 64, 0.1


class Built:
    """A kernel's function for launches of one signature; several threads may call it at once."""

    def __init__(self, made: Generated, code: bytes) -> None:
        """Link ``code``. Raises CannotCompile if it does not run here."""
        self.made = made
        self._linked = jit.Linked(code, made.symbol)
        self._function = _FUNCTION(self._linked.address)
        thread_team.make_ready()

    def __call__(
        self, arguments: bytes, grid: bytes, regions: bytes, first: int, end: int
    ) -> tuple[int, tuple[int, int, int]]:
        """Run programs ``first`` to ``end - 1``. Returns how far it came, and why it stopped (see `function_contract`).

        The reason is the guard, when it failed, and an address. Raises what a signal handler raises meanwhile, mostly
        KeyboardInterrupt; its ``kernel_at`` says which program ran, and which loop.
        """
        room = _room()
        numbers = room.numbers
        scratch = room.scratch(self.made.scratch)
        came = self._function(arguments, first, end, grid, regions, scratch, ctypes.addressof(numbers))
        guard, when, where = numbers[0], numbers[1], numbers[4]
        if came < end and guard == STOPPED:
            # A second interrupt may have ended this room's generator: the room is not used again.
            raise _at(room.error or KeyboardInterrupt(), came, when)
        _rooms.append(room)
        return came, (guard, when, where)

    def together(
        self, arguments: bytes, grid: bytes, regions: bytes, first: int, end: int, step: int, threads: int
    ) -> tuple[int, list[thread_team.Failed]]:
        """The same on several threads, each of which takes ``step`` programs at a time.

        Returns the first program that no thread has taken, and which of the others failed.
        """
        room = _room()
        with thread_team.borrowed(threads) as ours:
            launch, numbers = (arguments, grid, regions), ctypes.addressof(room.numbers)
            function, scratch = self._linked.address, self.made.scratch
            following, failed = ours.run(function, launch, (first, end, step), scratch, numbers)
        stopped = [each for each in failed if each.why[0] == STOPPED]
        if stopped or room.error is not None:
            came, when = (stopped[0].came, stopped[0].why[1]) if stopped else (first, None)
            raise _at(room.error or KeyboardInterrupt(), came, when)
        _rooms.append(room)
        return following, failed


def _at(error: BaseException, program: int, loop: int | None) -> BaseException:
    """``error`` with the place in the launch where it was raised."""
    error.kernel_at = program, loop  # type: ignore[attr-defined]
    return error


def _room() -> _Room:
    try:
        room = _rooms.pop()
    except IndexError:
        room = _Room()
    room.begin()
    return room


class _Room:
    """What one call of a function works with: scratch memory, and numbers by which it asks now and then whether to go
    on.

    Python handles its signals then.
    """

    def __init__(self) -> None:
        # A generator waits inside its `try`, so a signal that has come is raised there. In a function it would be
        # raised on entry, from where nothing can pass into machine code.
        answers = self._answers()
        next(answers)
        self._ask = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(answers.send)
        self.numbers = (ctypes.c_int64 * 5)(0, 0, 0, ctypes.cast(self._ask, ctypes.c_void_p).value or 0)
        self.error: BaseException | None = None
        self._rounds = _FIRST_ROUNDS
        self._since = 0.0
        self._bytes = ctypes.create_string_buffer(_ALIGNED)

    def begin(self) -> None:
        self.error = None
        self._since = time.perf_counter()
        self._rounds = self.numbers[2] = _FIRST_ROUNDS

    def scratch(self, size: int) -> int:
        """The address of ``size`` bytes."""
        if len(self._bytes) < size + _ALIGNED:
            self._bytes = ctypes.create_string_buffer(size + _ALIGNED)
        return -(-ctypes.addressof(self._bytes) // _ALIGNED) * _ALIGNED

    def _answers(self) -> Generator[None, int, None]:
        while True:
            try:
                while True:  # inside `try`: signals are also raised where a loop repeats
                    yield
                    now = time.perf_counter()
                    seconds, self._since = now - self._since, now
                    if seconds < _ASK_SECONDS / 4:
                        self._rounds *= 4
                    elif seconds > _ASK_SECONDS:
                        self._rounds = max(1, self._rounds // 2)
                    self.numbers[2] = self._rounds
            except GeneratorExit:
                return
            except BaseException as error:
                self.error, self.numbers[2] = error, 0


# Free rooms. Each serves one thread and one call at a time: a signal handler may call again.
_rooms: list[_Room] = []


def host_signature(groups: tuple[tuple[int, tuple[int, ...]], ...]) -> Signature:
    """The signature of functions for this processor."""
    target = jit.host()
    if target.arm:
        return Signature(groups, 16, 32)
    halves = target.has("f16c")
    if target.has("avx512f"):
        return Signature(groups, 64, 32, halves=halves)
    return Signature(groups, 32 if target.has("avx2") else 16, 16, fused=target.has("fma"), halves=halves)


def build(plan: Plan, signature: Signature) -> Built:
    """From the cache, else compiled now. Raises Unsupported and CannotCompile."""
    return kept(plan, signature) or compiled(plan, signature)


def kept(plan: Plan, signature: Signature) -> Built | None:
    """The function from the cache; None if it has no usable one."""
    found = code_cache.find(_key(plan, signature))
    if found is None:
        return None
    try:
        return Built(_read(found[0]), found[1])
    except (jit.CannotCompile, ValueError, KeyError, TypeError):
        return None


def compiled(plan: Plan, signature: Signature) -> Built:
    """Compiled now, and kept. Raises Unsupported and CannotCompile."""
    from triton_lab.native.lowering.kernel_function import generate  # not for what is read from the cache

    made = generate(plan, signature)
    code = jit.object_code(made.text, jit.host())
    built = Built(dataclasses.replace(made, text=""), code)
    code_cache.keep(_key(plan, signature), _written(made), code)
    return built


def _key(plan: Plan, signature: Signature) -> str:
    return code_cache.key((plan.text, signature, jit.host(), jit.version()))


def _written(made: Generated) -> bytes:
    fields = dataclasses.asdict(made)
    del fields["text"]
    return json.dumps(fields).encode()


def _read(notes: bytes) -> Generated:
    fields: dict[str, Any] = json.loads(notes)
    fields["regions"] = tuple(RegionSlot(**one) for one in fields["regions"])
    fields["guards"] = tuple(Guard(**one) for one in fields["guards"])
    return Generated(text="", **fields)
