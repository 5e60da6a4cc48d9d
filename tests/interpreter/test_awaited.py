"""Programs that do something while they wait: others have their turn, and a deadlock is told all the same."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.interpreter.kernel_errors import Deadlock, KernelError

# More looks than anybody takes before others have a turn.
MANY = tl.constexpr(600)
WAYS = {"together": {}, "one by one": {"batch": 1}, "recorded": {}}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """Programs run in one batch, or each in its own, or under an observer."""
    with lab.limits(engine="numpy"), contextlib.ExitStack() as stack:
        if request.param == "one by one":
            monkeypatch.setattr(lab.backend.plugin.launcher.limits, "batch", 1)
        if request.param == "recorded":
            stack.enter_context(lab.record())
        yield


def zeros(*counts: int) -> list[torch.Tensor]:
    return [torch.zeros(count, dtype=torch.int32) for count in counts]


# Waits that end.


@triton.jit
def looks(flag, counter, out):
    """The first program counts how often it looks for what the last one says."""
    if tl.program_id(0) == 0:
        while tl.atomic_add(flag, 0) == 0:
            tl.atomic_add(counter, 1)
        tl.store(out, 7)
    elif tl.program_id(0) == tl.num_programs(0) - 1:
        tl.atomic_xchg(flag, 1)


@pytest.mark.parametrize("shared", [False, True])
def test_who_counts_in_memory_while_it_waits_leaves_the_turn_to_others(shared: bool, way: None) -> None:
    both, (counter, out) = torch.zeros(2, dtype=torch.int32), zeros(1, 1)
    flag, counter = (both[:1], both[1:]) if shared else (both, counter)
    looks[(5,)](flag, counter, out)
    assert flag[0] == 1 and out.item() == 7 and counter.item() > 0


@triton.jit
def gives_up(flag, counter, out, HOW: tl.constexpr):
    """Nobody sets the flag: it is left, or set, when it was looked at many times."""
    if HOW == "condition":
        while (tl.atomic_add(flag, 0) == 0) & (tl.load(counter, volatile=True) < MANY):
            tl.atomic_add(counter, 1)
    elif HOW == "branch":
        while tl.atomic_add(flag, 0) == 0:
            if tl.atomic_add(counter, 1) == MANY:
                tl.atomic_xchg(flag, 1)
    elif HOW == "value":
        while tl.atomic_add(flag, 0) == 0:
            tl.atomic_max(flag, (tl.atomic_add(counter, 1) >= MANY).to(tl.int32))
    elif HOW == "address":
        while tl.atomic_add(flag + tl.load(counter, volatile=True) // MANY, 0) == 0:
            tl.atomic_add(counter, 1)
    elif HOW == "mask":
        while tl.atomic_add(flag, 0) == 0:
            tl.store(flag, 1, mask=tl.atomic_add(counter, 1) >= MANY)
    elif HOW == "register":
        n = 0
        while tl.atomic_add(flag, 0) == 0:
            n += 1
            tl.store(counter, n)
            if n == MANY:
                tl.atomic_xchg(flag, 1)
    elif HOW == "inner":
        while tl.atomic_add(flag, 0) == 0:
            n = tl.atomic_add(counter, 1)
            for _ in range(MANY, n):
                tl.atomic_xchg(flag, 1)
    tl.store(out, 7)


@pytest.mark.parametrize("how", ["condition", "branch", "value", "address", "mask", "register", "inner"])
def test_a_counter_in_memory_may_end_the_wait(how: str, way: None) -> None:
    flag, counter, out = zeros(8, 1, 1)
    flag[1:] = 1
    gives_up[(1,)](flag, counter, out, HOW=how)
    assert out.item() == 7 and counter.item() >= MANY.value


@triton.jit
def relayed(flag, counter, relay):
    """What the first program counts is handed on by the second, for which the third waits, who lets all go."""
    p = tl.program_id(0)
    while tl.atomic_add(flag, 0) == 0:
        if p == 0:
            tl.atomic_add(counter, 1)
        elif p == 1:
            tl.store(relay, tl.load(counter, volatile=True))
        else:
            if tl.load(relay, volatile=True) > MANY:
                tl.atomic_xchg(flag, 1)


def test_a_counter_may_end_the_wait_by_way_of_others(way: None) -> None:
    flag, counter, relay = zeros(1, 1, 1)
    relayed[(3,)](flag, counter, relay)
    assert flag.item() == 1 and relay.item() > MANY.value


@triton.jit
def asserted(flag, counter):
    while tl.atomic_add(flag, 0) == 0:
        tl.device_assert(tl.atomic_add(counter, 1) < MANY, "too many looks")


def test_an_assertion_that_ends_the_wait_is_told(way: None) -> None:
    flag, counter = zeros(1, 1)
    with pytest.raises(KernelError, match="too many looks"):
        asserted[(1,)](flag, counter, debug=True)
    assert counter.item() == MANY.value + 1


@triton.jit
def locked(lock, total, spins, TICKETS: tl.constexpr):
    """Each program adds its number many times, under a lock; it counts how often it has asked for that."""
    p = tl.program_id(0)
    for _ in range(3):
        if TICKETS:
            mine = tl.atomic_add(lock, 1)
            while tl.atomic_add(lock + 1, 0) != mine:
                tl.atomic_add(spins + p, 1)
        else:
            while tl.atomic_cas(lock, 0, 1) == 1:
                tl.atomic_add(spins + p, 1)
        found = tl.load(total)
        for _ in range(300):
            found += 1
        tl.store(total, found + p)
        tl.debug_barrier()
        if TICKETS:
            tl.atomic_add(lock + 1, 1)
        else:
            tl.atomic_xchg(lock, 0)


@pytest.mark.parametrize("tickets", [False, True])
def test_locks_whose_looks_are_counted(tickets: bool, way: None) -> None:
    lock, total, spins = zeros(2, 1, 20)
    locked[(20,)](lock, total, spins, TICKETS=tickets)
    assert total.item() == 3 * sum(range(20)) + 3 * 20 * 300


@triton.jit
def queued(head, work, done, looks, n):
    """Programs take tasks from a queue; the last one puts them there, one by one, as the others have done them."""
    p, last = tl.program_id(0), tl.num_programs(0) - 1
    if p == last:
        for k in range(n):
            tl.store(work + k, k + 1)
            tl.debug_barrier()
            tl.atomic_add(head, 1)
            while tl.atomic_add(done, 0) != k + 1:
                tl.atomic_add(looks + p, 1)
    else:
        mine = p
        while mine < n:
            while tl.atomic_add(head, 0) <= mine:
                tl.atomic_add(looks + p, 1)
            tl.store(work + mine, tl.load(work + mine) * 10)
            tl.debug_barrier()
            tl.atomic_add(done, 1)
            mine += last


def test_producers_and_consumers_that_count_their_looks(way: None) -> None:
    head, work, done, looked = zeros(1, 12, 1, 4)
    queued[(4,)](head, work, done, looked, 12)
    assert work.tolist() == [10 * (k + 1) for k in range(12)]


# Waits that do not.


@triton.jit
def endless(flag, counter, HOW: tl.constexpr):
    n = 0
    while tl.atomic_add(flag, 0) == 0:
        if HOW == "memory":
            tl.atomic_add(counter + tl.program_id(0), 1)
        elif HOW == "register":
            n += 1
        elif HOW == "both":
            n += 1
            tl.store(counter + tl.program_id(0), n)
        elif HOW == "copied":
            tl.store(counter + 4 + tl.program_id(0), tl.atomic_add(counter + tl.program_id(0), 1))
    tl.store(counter + tl.program_id(0), n)


@pytest.mark.parametrize("how", ["memory", "register", "both", "copied"])
def test_a_deadlock_is_told_whatever_is_counted_meanwhile(how: str, way: None) -> None:
    flag, counter = zeros(1, 8)
    with pytest.raises(Deadlock, match=r"kernel endless, program \(0, 0, 0\)"):
        endless[(4,)](flag, counter, HOW=how)


@triton.jit
def crossed(locks, spins):
    """Two programs, each of which takes first what the other one takes last, and counts while it waits."""
    p = tl.program_id(0)
    while tl.atomic_cas(locks + p, 0, 1) == 1:
        tl.atomic_add(spins, 1)
    while tl.atomic_add(locks + 2, 0) < 2:
        tl.atomic_max(locks + 2, tl.atomic_add(locks, 0) + tl.atomic_add(locks + 1, 0))
    while tl.atomic_cas(locks + 1 - p, 0, 1) == 1:
        tl.atomic_add(spins + 1 + p, 1)


def test_locks_that_are_taken_crosswise(way: None) -> None:
    locks, spins = zeros(3, 3)
    with pytest.raises(Deadlock) as raised:
        crossed[(2,)](locks, spins)
    assert "and 1 other" in str(raised.value) and "locks + 1 - p" in str(raised.value)
    assert locks.tolist() == [1, 1, 2]


def interrupted(launch: Callable[[], object], seconds: float) -> str:
    """What an interrupt says that comes so much later.

    It comes again as long as it is not heard: what is raised in a finalizer Python hands to its hook, and drops.
    """
    over = threading.Event()

    def drop(unraisable: Any) -> None:
        if unraisable.exc_type is not KeyboardInterrupt:
            dropped(unraisable)

    def press() -> None:
        while not over.wait(seconds):
            os.kill(os.getpid(), signal.SIGINT)

    def stop(*_: object) -> None:
        if not over.is_set():
            raise KeyboardInterrupt

    presses, before = threading.Thread(target=press), signal.signal(signal.SIGINT, stop)
    dropped, sys.unraisablehook = sys.unraisablehook, drop
    presses.start()
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            launch()
    finally:
        over.set()
        presses.join()
        sys.unraisablehook = dropped
        signal.signal(signal.SIGINT, before)
    return str(raised.value)


def test_a_wait_that_nobody_can_tell_is_interrupted_with_the_line_of_its_loop(way: None) -> None:
    (both,) = zeros(8)
    told = interrupted(lambda: endless[(4,)](both[:1], both[1:], HOW="memory"), 2.0)
    head, code, _, turns, hint = told.split("\n")
    assert re.search(r"endless, program \([0-3], 0, 0\)$", head)
    assert code.strip() == "while tl.atomic_add(flag, 0) == 0:"
    assert re.search(r" ran [\d,]+ times; flag ", turns) and "--limit" in hint


@triton.jit
def at_work(lock, x, out, n):
    """Who has waited for the lock, and is at work."""
    p = tl.program_id(0)
    if p == 0:
        while tl.atomic_add(lock, 0) == 0:
            pass
        for k in range(n):
            tl.store(out, tl.load(out) + tl.load(x) * k)
    else:
        tl.atomic_xchg(lock, 1)


def test_who_waits_no_more_is_not_told_to_wait(way: None) -> None:
    lock, x, out = zeros(1, 1, 1)
    at_work[(2,)](lock, x, out, 1)
    lock.zero_()
    told = interrupted(lambda: at_work[(2,)](lock, x, out, 10**9), 1.0)
    assert "tl.store(out, tl.load(out) + tl.load(x) * k)" in told or "for k in range(n):" in told
