"""Kernels whose programs wait for one another: native where none has to, else NumPy's as if nothing had happened."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
import torch

import triton_lab as lab
from tests.native import waits
from tests.native.launches import on_both
from triton_lab.examples import example
from triton_lab.interpreter.machine import Machine
from triton_lab.native import engine
from triton_lab.native.lowering import progress_guard
from triton_lab.native.runtime import compiled_function
from triton_lab.native.runtime.transaction import WAITED


def whole(size: int | tuple[int, ...] = 1, fill: int = 0) -> torch.Tensor:
    return torch.full((size,) if isinstance(size, int) else size, fill, dtype=torch.int32)


def natively(launch, *tensors: torch.Tensor) -> None:
    """Both engines do the same, without an error."""
    error, ran = on_both(launch, *tensors)
    assert not error and (ran.engine, ran.why, ran.handed) == ("native", "", 0)


def by_numpy(launch, *tensors: torch.Tensor, why: str = WAITED) -> str:
    """The native engine begins, puts everything back and leaves the launch to NumPy; the error, if there is one."""
    error, ran = on_both(launch, *tensors)
    assert (ran.engine, ran.why, ran.handed) == ("numpy", why, 0)
    return error


# Nobody has to wait.


@pytest.mark.parametrize(
    ("name", "options"), [("layer_norm_backward", {}), ("producer_consumer", {"consumers_first": False})]
)
def test_examples_that_wait_are_native_and_repeat_bit_by_bit(name, options) -> None:
    page = example(name)
    inputs = {**page.inputs("small", 0, "cpu"), **options}
    engine.lately.clear()
    with lab.limits(engine="native"):
        page.check_on(**inputs)
        first, second = page.run(**inputs), page.run(**inputs)
    assert {(ran.engine, ran.why) for ran in engine.lately} == {("native", "")}
    torch.testing.assert_close(first, second, rtol=0, atol=0)


@pytest.mark.parametrize("n", [16, 11])
def test_sums_under_a_lock(n: int) -> None:
    x, lock, total = torch.arange(40 * 16, dtype=torch.int32), whole(), whole(16, 5)
    natively(lambda: waits.locked[(40,)](lock, total, x, n, ROW=16), lock, total)


def test_a_lock_that_is_taken_by_an_exchange() -> None:
    lock, total = whole(), whole()
    natively(lambda: waits.exchanged[(9,)](lock, total), lock, total)


def test_two_locks_at_once() -> None:
    locks, total = whole(3), whole(3)
    natively(lambda: waits.two_locks[(20,)](locks, total), locks, total)


def test_tickets_are_served_in_their_order() -> None:
    tickets, serving, order = whole(), whole(), whole(30)
    natively(lambda: waits.ticketed[(30,)](tickets, serving, order), tickets, serving, order)


@pytest.mark.parametrize("how", waits.FLAGGED)
def test_a_flag_that_a_lower_program_sets_is_there(how: str) -> None:
    flags, out = whole(12), whole(12)
    natively(lambda: waits.FLAGGED[how][(12,)](flags, out, HOW=how, BACKWARDS=False), flags, out)


def test_who_takes_the_next_tile_until_there_is_none_does_not_wait() -> None:
    counter, x, out = whole(), torch.arange(500, dtype=torch.int32), whole(500)
    natively(lambda: waits.persistent[(4,)](counter, x, out, 500), counter, out)


def test_who_looks_for_a_place_in_a_table_does_not_wait() -> None:
    keys, counts, x = whole(64, -1), whole(64), torch.arange(200, dtype=torch.int32) % 48
    natively(lambda: waits.hashed[(200,)](keys, counts, x, SIZE=64), keys, counts)


# Somebody has to.


@pytest.mark.parametrize("how", waits.FLAGGED)
def test_a_flag_that_a_later_program_sets_is_waited_for(how: str) -> None:
    flags, out = whole(12), whole(12)
    assert not by_numpy(lambda: waits.FLAGGED[how][(12,)](flags, out, HOW=how, BACKWARDS=True), flags, out)


def test_what_falls_twice_is_left_to_numpy_for_its_grid_alone(monkeypatch) -> None:
    calls: list[int] = []
    call = compiled_function.Built.__call__

    def counted(self, *arguments):
        calls.append(1)
        return call(self, *arguments)

    monkeypatch.setattr(compiled_function.Built, "__call__", counted)
    flags, out = whole(7), whole(7)

    def launch(programs: int) -> engine.EngineRun:
        flags.zero_()
        with lab.limits(engine="native"):
            waits.flagged[(programs,)](flags, out, HOW="volatile", BACKWARDS=True)
        return engine.lately[-1]

    assert launch(1).engine == "native"
    assert [launch(7).why for _ in range(2)] == [WAITED] * 2
    calls.clear()
    assert launch(7).why.startswith(f"{WAITED}, ") and not calls
    assert launch(1).engine == "native" and calls


def test_two_falls_count_if_they_come_one_after_the_other() -> None:
    lock, total, x = whole(), whole(16), torch.arange(4 * 16, dtype=torch.int32)
    for taken in (1, 0, 1, 0, 1, 0):
        lock.fill_(taken)
        with lab.limits(engine="native"):
            if taken:
                with pytest.raises(lab.KernelError, match="waits for another"):
                    waits.locked[(4,)](lock, total, x, 16, ROW=16)
            else:
                waits.locked[(4,)](lock, total, x, 16, ROW=16)
        assert engine.lately[-1].engine == ("numpy" if taken else "native")


@pytest.mark.parametrize("programs", [5, 3000])
def test_a_deadlock_is_told_in_the_same_words_and_leaves_the_same_memory(programs: int) -> None:
    flag, out = whole(), whole(programs)
    error = by_numpy(lambda: waits.never[(programs,)](flag, out), flag, out)
    assert "waits for another" in error


@pytest.mark.parametrize("programs", [5, 3000])
def test_who_waits_for_memory_that_nobody_writes_to_is_told_with_all_others(programs: int) -> None:
    flag, out = whole(2), whole(programs)
    error, ran = on_both(lambda: waits.never_written[(programs,)](flag, out), out)
    assert "waits for another" in error
    assert (ran.engine, ran.handed) == ("native", programs - 3)  # and those before are not run again


def test_a_wait_that_writes_meanwhile_is_left_in_the_end(monkeypatch) -> None:
    monkeypatch.setattr(progress_guard, "_MOST_ROUNDS", 1000)
    left: list[int] = []
    flag, spins = whole(), whole()
    monkeypatch.setattr(Machine, "run", lambda machine, programs=None: left.append(spins.item()))
    with lab.limits(engine="native"):
        waits.counting[(1,)](flag, spins)
    assert left == [0]


# What waits for nobody.


def test_a_search_in_memory_that_nobody_writes_to_is_no_wait() -> None:
    x = torch.arange(0, 3000, 3, dtype=torch.int32)
    wanted, out = torch.randint(-5, 3100, (200,), dtype=torch.int32), whole(200)
    natively(lambda: waits.searched[(200,)](x, wanted, out, 1000), out)
    with lab.limits(engine="native"):
        waits.searched[(200,)](x, wanted, out, 1000)
    assert (out == torch.searchsorted(x, wanted)).all()


def test_a_list_is_followed_to_its_end() -> None:
    following, out, steps = torch.arange(-1, 99, dtype=torch.int32), whole(100), whole(100)
    natively(lambda: waits.followed[(100,)](following, out, steps), out, steps)
    with lab.limits(engine="native"):
        waits.followed[(100,)](following, out, steps)
    assert (out == torch.arange(1, 101)).all() and (steps == 2 * out).all()


def test_a_list_that_bites_its_tail_is_left_as_any_loop_is_by_an_interrupt() -> None:
    following = torch.tensor([1, 2, 0], dtype=torch.int32)
    interrupted(lambda: waits.followed[(1,)](following, whole(), whole()), "while at >= 0:")


# Interrupts.


def interrupted(launch, line: str) -> None:
    """An interrupt ends ``launch`` within a second, in the loop that begins with ``line``."""
    began: list[float] = []

    def interrupt() -> None:
        began.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    with lab.limits(engine="native"):
        timer = threading.Timer(0.3, interrupt)
        timer.start()
        with pytest.raises(KeyboardInterrupt) as raised:
            launch()
    assert time.monotonic() - began[0] < 1
    assert str(raised.value).splitlines()[1].strip() == line


def test_an_interrupt_ends_a_launch_that_would_be_put_back_and_leaves_what_it_came_to() -> None:
    lock, out = whole(), torch.zeros(1, dtype=torch.int64)
    with lab.limits(engine="native"):
        waits.long_under_a_lock[(0,)](lock, out, 10**12)  # all is compiled
    interrupted(lambda: waits.long_under_a_lock[(3,)](lock, out, 10**12), "while i < n:")
    assert lock.item() == 1
    lock.zero_()
    natively(lambda: waits.long_under_a_lock[(3,)](lock, out, 1000), lock, out)


def test_a_loop_of_which_nothing_but_a_block_changes_does_not_wait() -> None:
    x, out = torch.arange(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    error, ran = on_both(lambda: waits.doubled_until[(1,)](x, torch.tensor([1000]), out, BLOCK=64), out)
    assert not error and ran.engine == "native" and not ran.handed
