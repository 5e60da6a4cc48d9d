"""Threads of torch's that share a launch: each program is taken once, and all stop when they must."""

from __future__ import annotations

import ctypes
import functools
import itertools
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.native.function_contract import STOPPED
from triton_lab.native.llvm import jit
from triton_lab.native.runtime import code_cache
from triton_lab.native.threads import scheduler, thread_team
from triton_lab.native.threads.scheduler import FaultNumbers

_KERNEL = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
    *[ctypes.c_void_p] * 4,
)
_ASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@pytest.fixture(autouse=True)
def ready() -> None:
    thread_team.make_ready()
    assert thread_team.size() == torch.get_num_threads()


def run(
    kernel: Callable[[int, int, FaultNumbers], int],
    programs: tuple[int, int, int],
    threads: int,
    ask: Callable[[], int] = int,
) -> tuple[int, list[thread_team.Failed]]:
    """`Team.run` with a kernel in Python: it is told which programs to run, and its thread's fault."""

    def running(_a: int, first: int, end: int, _g: int, _r: int, _s: int, fault: int) -> int:
        return kernel(first, end, FaultNumbers.from_address(fault))

    def asked(rounds: int) -> None:
        ctypes.c_int64.from_address(rounds).value = ask()

    function, answers = _KERNEL(running), _ASK(asked)
    first = FaultNumbers(ask=ctypes.cast(answers, ctypes.c_void_p).value, rounds=1)
    with thread_team.borrowed(threads) as ours:
        address = ctypes.cast(function, ctypes.c_void_p).value or 0
        return ours.run(address, (b"", b"", b""), programs, 100, ctypes.addressof(first))


def go_on(fault: FaultNumbers) -> bool:
    """What a kernel's function does once in some rounds of a loop: whether it may go on."""
    fault.rounds = 0
    _ASK(fault.ask)(ctypes.addressof(fault) + scheduler.offset(FaultNumbers, "rounds"))
    return bool(fault.rounds)


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_several_threads_are_at_work_at_once(threads: int) -> None:
    together, seen = threading.Barrier(threads), list[int]()

    def kernel(first: int, end: int, fault: FaultNumbers) -> int:
        seen.append(threading.get_ident())
        together.wait(20)
        return end

    assert run(kernel, (0, threads, 1), threads) == (threads, [])
    assert len(set(seen)) == threads and threading.get_ident() in seen


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 50), st.integers(0, 60), st.integers(1, 70), st.integers(2, 4), st.sets(st.integers(0, 109)))
def test_each_program_runs_once_or_is_left(first: int, count: int, step: int, threads: int, failing: set[int]) -> None:
    """Where programs fail: those that nobody ran are just those that are said to be left."""
    ran: list[int] = []

    def kernel(begin: int, end: int, fault: FaultNumbers) -> int:
        for program in range(begin, end):
            if program in failing:
                fault.guard, fault.when, fault.where = program, 0, 2 * program
                return program
            ran.append(program)
        return end

    following, failed = run(kernel, (first, first + count, step), threads)
    left = [program for each in failed for program in range(each.came, each.until)]
    left += range(following, first + count)
    assert Counter(ran + left) == Counter(range(first, first + count))
    assert {each.came for each in failed} <= failing
    assert all(each.why == (each.came, 0, 2 * each.came) for each in failed)
    if failing.isdisjoint(range(first, first + count)):
        assert following == first + count and not failed
    else:
        # All before the first that failed have run: the caller goes on from there.
        assert min(left) == min(failing & set(range(first, first + count)))


def test_where_the_first_thread_is_stopped_the_others_stop_in_the_midst_of_a_program() -> None:
    together, here = threading.Barrier(3), threading.get_ident()

    def kernel(first: int, end: int, fault: FaultNumbers) -> int:
        together.wait(20)
        while threading.get_ident() != here and go_on(fault):
            pass
        fault.guard, fault.when, fault.where = STOPPED, 7, 0
        return first

    following, failed = run(kernel, (0, 100, 1), 3)
    assert following == 3 and sorted(failed) == [(first, first + 1, (STOPPED, 7, 0)) for first in range(3)]


def test_where_a_program_fails_the_others_end_theirs() -> None:
    together, ended = threading.Barrier(3), list[int]()

    def kernel(first: int, end: int, fault: FaultNumbers) -> int:
        together.wait(20)
        if first == 1:
            fault.guard, fault.when, fault.where = 5, 0, 0
            return first
        time.sleep(0.3)  # until the other one has failed
        assert go_on(fault)
        ended.append(first)
        return end

    following, failed = run(kernel, (0, 100, 1), 3, ask=lambda: 1)
    assert (following, failed) == (3, [(1, 2, (5, 0, 0))]) and sorted(ended) == [0, 2]


def test_the_first_thread_asks_while_it_waits_for_others() -> None:
    """Mostly it has nothing to do but to wait; if it meets the long program itself, it asks there."""
    asked: list[int] = []

    def kernel(first: int, end: int, fault: FaultNumbers) -> int:
        if first == 3:
            while go_on(fault):
                pass
            fault.guard = STOPPED
            return first
        return end

    def ask() -> int:
        asked.append(threading.get_ident())
        return 0

    for _ in range(5):
        following, failed = run(kernel, (0, 4, 1), 2, ask)
        assert following == 4 and [each.came for each in failed] == [3]
    assert len(asked) == 5 and set(asked) == {threading.get_ident()}


def test_threads_of_the_user_have_teams_of_their_own() -> None:
    wrong: list[object] = []

    def work() -> None:
        for _ in range(50):
            ran: list[int] = []

            def kernel(first: int, end: int, fault: FaultNumbers, ran: list[int] = ran) -> int:
                ran.extend(range(first, end))
                return end

            if run(kernel, (0, 40, 3), 2) != (40, []) or sorted(ran) != list(range(40)):
                wrong.append(ran)

    users = [threading.Thread(target=work) for _ in range(3)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert not wrong


def test_each_thread_has_scratch_of_its_own_that_is_aligned() -> None:
    ours = thread_team.Team(thread_team._ways, 3)
    function = _KERNEL(lambda a, first, end, g, r, s, fault: end)
    for size in (1, 64, 65, 10_000, 100):
        fault = FaultNumbers()
        ours.run(ctypes.cast(function, ctypes.c_void_p).value, (b"",) * 3, (0, 1, 1), size, ctypes.addressof(fault))
        starts = [seat.scratch for seat in ours._seats]
        assert all(start % 64 == 0 for start in starts)
        assert all(after - before >= size for before, after in itertools.pairwise(starts))
        end = ctypes.addressof(ours._scratch) + len(ours._scratch)
        assert starts[0] >= ctypes.addressof(ours._scratch) and starts[-1] + size <= end


def test_the_code_is_compiled_once_and_again_where_what_was_kept_is_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    monkeypatch.setattr(jit, "object_code", lambda *given: compiled.append("") or object_code(*given))
    for _ in range(2):
        forget(monkeypatch)
        thread_team.make_ready()
    assert len(compiled) == 2 and thread_team.size() == torch.get_num_threads()
    monkeypatch.setattr(code_cache, "find", lambda name: (b"", b"no object code"))
    forget(monkeypatch)
    thread_team.make_ready()
    assert len(compiled) == 4 and thread_team.size() == torch.get_num_threads()


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the team forget its code. The code itself stays: teams of other tests call it."""
    monkeypatch.setattr(thread_team, "_linked", functools.cache(thread_team._linked.__wrapped__))
    monkeypatch.setattr(thread_team, "_ways", None)


object_code = jit.object_code


def test_the_code_for_arm64_compiles() -> None:
    for made in (scheduler.take(arm=True), scheduler.look()):
        assert jit.made_for(jit.object_code(made.text, jit.ARM64), jit.ARM64)


def test_without_openmp_there_is_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_team, "_openmp", lambda: None)
    monkeypatch.setattr(thread_team, "_ways", None)
    thread_team.make_ready()
    assert thread_team.size() == 1


def test_the_child_of_a_fork_has_one_thread() -> None:
    """OpenMP's threads did not follow it, and it would wait for them for ever."""
    program = """
import os, torch
import triton_lab as lab
from tests.native.launches import add
from triton_lab.native.runtime import compiled_function as built
from triton_lab.native.runtime import native_launch as running
from triton_lab.native.threads import thread_team as team
running._WORTH_SECONDS = running._TELLING_SECONDS = running._FINDING_SECONDS = 0.0
torch.set_num_threads(2)
together, calls = built.Built.together, []
built.Built.together = lambda self, *given: calls.append(1) or together(self, *given)

def launch():
    x, out = torch.rand(6400), torch.zeros(6400)
    with lab.limits(engine="native"):
        add[(100,)](x, x, out, 6400, BLOCK=64)
    return len(calls), bool((out == 2 * x).all())

mine = launch()
child = os.fork()
if not child:
    shared, right = launch()
    os._exit(10 * (shared - mine[0]) + right)
print(*mine, team.size(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "1 True 2 1\n"
