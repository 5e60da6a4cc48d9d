"""Programs that wait run together up to where they wait, wherever in the kernel that is, and in ascending order."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.interpreter.support import bit_equal
from triton_lab.backend.plugin import launcher
from triton_lab.examples import example
from triton_lab.interpreter import runtime_values
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.machine import Machine
from triton_lab.interpreter.program_strands import Strand


@triton.jit
def enter(lock):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass


@triton.jit(noinline=True)
def append(lock, count, out, value):
    enter(lock)
    at = tl.load(count)
    tl.store(out + at, value)
    tl.store(count, at + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def in_a_call_in_a_loop(lock, count, out, LOCKS: tl.constexpr, TIMES: tl.constexpr):
    pid = tl.program_id(0)
    mine = pid % LOCKS
    for k in range(TIMES + mine):
        if (pid + k) % 3 != 0:
            append(lock + mine, count + mine, out + mine * 256, pid * 16 + k)


@pytest.mark.parametrize("locks", [1, 4, 32])
def test_a_lock_taken_in_a_function_in_a_branch_in_a_loop(locks):
    programs = 32

    def run():
        lock, count = torch.zeros(locks, dtype=torch.int32), torch.zeros(locks, dtype=torch.int32)
        out = torch.full((locks, 256), -1, dtype=torch.int32)
        in_a_call_in_a_loop[(programs,)](lock, count, out, LOCKS=locks, TIMES=2)
        assert not lock.any()
        # What one program adds stays in order, and nothing is lost.
        for mine in range(locks):
            wanted = [
                pid * 16 + k for pid in range(mine, programs, locks) for k in range(2 + mine) if (pid + k) % 3 != 0
            ]
            found = out[mine, : count[mine]].tolist()
            assert sorted(found) == sorted(wanted)
            for pid in range(programs):
                assert [v for v in found if v // 16 == pid] == [v for v in wanted if v // 16 == pid]
        return out.sort(dim=1).values

    bit_equal(run)


@triton.jit
def all_wait_for_all(count, x, out, N: tl.constexpr):
    pid = tl.program_id(0)
    k = tl.arange(0, N)
    for phase in range(3):
        tl.store(x + phase * N + pid, pid * (phase + 1))
        tl.debug_barrier()
        tl.atomic_add(count, 1)
        while tl.atomic_add(count, 0) < N * (phase + 1):
            pass
        total = tl.sum(tl.load(x + phase * N + k))
        tl.store(out + phase * N + pid, total)


def test_a_barrier_of_the_whole_grid():
    def run():
        out = torch.zeros(3, 16, dtype=torch.int32)
        all_wait_for_all[(16,)](torch.zeros(1, dtype=torch.int32), torch.zeros(3, 16, dtype=torch.int32), out, N=16)
        assert out.tolist() == [[120 * phase] * 16 for phase in (1, 2, 3)]
        return out

    bit_equal(run)


@triton.jit
def look_back(flags, sums, x, out, descending: tl.constexpr, N: tl.constexpr):
    pid = tl.program_id(0)
    place = N - 1 - pid if descending else pid
    before = 0
    if place > 0:
        while tl.atomic_add(flags + place - 1, 0, sem="acquire") == 0:
            pass
        before = tl.load(sums + place - 1)
    else:
        tl.store(out, 0)
    after = before + tl.load(x + place)
    tl.store(out + place, before)
    tl.store(sums + place, after)
    tl.debug_barrier()
    tl.atomic_xchg(flags + place, 1, sem="release")


@pytest.mark.parametrize("descending", [False, True])
def test_each_waits_for_the_one_before(descending):
    n = 64
    x = torch.arange(1, n + 1, dtype=torch.int32)

    def run():
        out = torch.zeros(n, dtype=torch.int32)
        look_back[(n,)](torch.zeros(n, dtype=torch.int32), torch.zeros_like(x), x, out, descending, n)
        assert torch.equal(out, (x.cumsum(0) - x).int())
        return out

    bit_equal(run)


@triton.jit
def two_returns(flag, out):
    pid = tl.program_id(0)
    if pid == 2:
        tl.store(out + pid, 7)
        tl.atomic_xchg(flag, 1)
        return
    while tl.atomic_add(flag, 0) == 0:
        pass
    if pid == 0:
        return
    tl.store(out + pid, pid)


def test_programs_that_return_early_and_programs_that_wait_for_them():
    def run():
        out = torch.full((5,), -1, dtype=torch.int32)
        two_returns[(5,)](torch.zeros(1, dtype=torch.int32), out)
        assert out.tolist() == [-1, 1, 7, 3, 4]
        return out

    bit_equal(run)


@triton.jit
def never(flag, out):
    pid = tl.program_id(0)
    for k in range(pid):
        if k == 2:
            while tl.atomic_add(flag, 0) == 0:
                pass
    tl.store(out + pid, 1)


def test_a_deadlock_names_those_that_wait_and_lets_the_others_end():
    out = torch.zeros(6, dtype=torch.int32)
    with pytest.raises(KernelError, match="waits for another") as caught:
        never[(6,)](torch.zeros(1, dtype=torch.int32), out)
    assert caught.value.programs.tolist() == [3, 4, 5]
    assert out.tolist() == [1, 1, 1, 0, 0, 0]


def operations(run, monkeypatch):
    """How many operations ``run`` takes, programs that run together counted once."""
    count = 0
    original = Frame.finish

    def counted(self, *arguments):
        nonlocal count
        count += 1
        return original(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Frame, "finish", counted)
        run()
    return count


def test_as_many_run_together_as_there_are_locks(monkeypatch):
    monkeypatch.setattr(launcher.limits, "engine", "numpy")  # the other one runs them one after the other
    page = example("layer_norm_backward")
    inputs = page.inputs("small", 0, "cpu")
    programs = len(inputs["x"])
    together = operations(lambda: page.run(**inputs, groups=64), monkeypatch)
    queued = operations(lambda: page.run(**inputs, groups=1), monkeypatch)
    monkeypatch.setattr(launcher.limits, "batch", 1)
    alone = operations(lambda: page.run(**inputs, groups=1), monkeypatch)
    # With a lock for each program all take as many operations as one does; with one for all their ends come in turns.
    assert together < 3 * alone / programs
    assert queued < 0.6 * alone


@triton.jit
def all_wait_for_the_last(flag, out, N: tl.constexpr):
    pid = tl.program_id(0)
    if pid == N - 1:
        tl.atomic_xchg(flag, 1)
    while tl.atomic_add(flag, 0) == 0:
        pass
    tl.store(out + pid, pid)


def test_who_waits_under_an_observer_is_not_asked_after_every_program(monkeypatch):
    """Of all that wait at one place one is asked: the asking grows as the grid, not as its square."""
    asked = []
    original = Strand.run

    def counted(self):
        asked.append(self)
        return original(self)

    monkeypatch.setattr(Strand, "run", counted)

    def asks(programs: int) -> int:
        asked.clear()
        out = torch.zeros(programs, dtype=torch.int32)
        with triton_lab.record():
            all_wait_for_the_last[(programs,)](torch.zeros(1, dtype=torch.int32), out, programs)
        assert torch.equal(out, torch.arange(programs, dtype=torch.int32))
        return len(asked)

    few, many = asks(16), asks(64)
    assert many < 5 * few


def test_a_loop_comes_round_with_the_same_values_if_each_is_the_same():
    one, same, other = np.array([1, 2]), np.array([1, 2]), np.array([1, 3])
    block, twin = (AffineBlock(np.array([1]), (1,), (4,)) for _ in range(2))
    assert runtime_values.same((), ()) and runtime_values.same((one, block), (same, block))
    assert not runtime_values.same((one,), (other,)) and not runtime_values.same((block,), (twin,))
    assert not runtime_values.same((one,), (one[:1],)) and not runtime_values.same((one,), (one[None],))
    assert not runtime_values.same((block,), (one,)) and not runtime_values.same((one,), (block,))
    # All of them count, not the first or the last alone.
    assert not runtime_values.same((other, one, one), (one, same, same)) and not runtime_values.same(
        (one, other), (same, one)
    )
    # Bits are compared: a NaN is itself, and the zeros are two.
    assert runtime_values.same((np.array([np.nan]),), (np.array([np.nan]),))
    assert not runtime_values.same((np.array([0.0]),), (np.array([-0.0]),))


def test_without_an_observer_nobody_is_asked_before_all_have_begun(monkeypatch):
    def hurried(*_):
        raise AssertionError("asked again")

    monkeypatch.setattr(Machine, "_hurried", hurried)
    monkeypatch.setattr(launcher.limits, "batch", 1)
    test_each_waits_for_the_one_before(True)
