"""Threads that launch kernels with atomics have their turns, lose no update, and never wait for nobody."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.backend.process import run
from tests.native.interrupts import interrupted
from tests.native.launches import add
from triton_lab.backend.plugin import launcher
from triton_lab.interpreter import memory_access


@triton.jit
def count(x, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + i, i < n, 0), 1, i < n)


@triton.jit
def swap(lock, out):
    tl.store(out, tl.atomic_cas(lock, 0, 1))


def at_once(*works: Callable[[], object]) -> None:
    """Each on a thread of its own, begun together."""
    gate = threading.Barrier(len(works))
    threads = [threading.Thread(target=lambda work=work: (gate.wait(), work()), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize(("engine", "n"), [("numpy", 4096), ("native", 1 << 20)])
def test_no_update_is_lost(engine: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    write = memory_access.write

    def late(*operands: Any) -> None:
        time.sleep(1e-4)  # between what is read and what is written another thread comes in
        write(*operands)

    monkeypatch.setattr(memory_access, "write", late)
    x, bins = torch.arange(n, dtype=torch.int32) % 16, torch.zeros(16, dtype=torch.int32)
    with lab.limits(engine=engine):
        count[(n // 256,)](x, bins, n, BLOCK=256)
        at_once(*[lambda: [count[(n // 256,)](x, bins, n, BLOCK=256) for _ in range(20)]] * 2)
    assert bins.tolist() == [41 * n // 16] * 16


@contextlib.contextmanager
def halfway(launch: Callable[[], object]) -> Iterator[None]:
    """Inside, another thread is in the midst of ``launch``."""
    here, on = threading.Event(), threading.Event()
    own = threading.Thread(target=launch, daemon=True)

    def wait(_: int, __: int) -> None:
        if threading.current_thread() is own:
            here.set()
            on.wait(60)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(launcher, "progress", wait)
        own.start()
        assert here.wait(60)
        try:
            yield
        finally:
            on.set()
            own.join(60)
            assert not own.is_alive()


@pytest.mark.parametrize("first", ["numpy", "native"])
@pytest.mark.parametrize("second", ["numpy", "native"])
def test_one_waits_until_the_other_has_ended_whatever_runs_it(first: str, second: str) -> None:
    x, bins, lock, out = torch.zeros(256, dtype=torch.int32), *(torch.zeros(1, dtype=torch.int32) for _ in range(3))
    with lab.limits(engine=second):
        swap[(1,)](lock, out)
    late = threading.Thread(target=lambda: swap[(1,)](lock, out), daemon=True)
    counting = halfway(lambda: count[(1,)](x, bins, 256, BLOCK=256))
    with lab.limits(engine=first), counting, lab.limits(engine=second):
        late.start()
        late.join(0.3)
        assert late.is_alive()
    late.join(60)
    assert not late.is_alive() and bins.item() == 256 and out.item() == 1


def test_kernels_without_atomics_wait_for_nobody() -> None:
    bins, ones, out = torch.zeros(1, dtype=torch.int32), torch.ones(64), torch.zeros(64)
    with halfway(lambda: count[(1,)](torch.zeros(256, dtype=torch.int32), bins, 256, BLOCK=256)):
        add[(1,)](ones, ones, out, 64, BLOCK=64)
    assert (out == 2).all()


def test_a_launch_inside_of_another_one_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    x, bins, lock, out = torch.zeros(256, dtype=torch.int32), *(torch.zeros(1, dtype=torch.int32) for _ in range(3))

    def inside(_: int, __: int) -> None:
        monkeypatch.setattr(launcher, "progress", None)
        swap[(1,)](lock, out)

    monkeypatch.setattr(launcher, "progress", inside)
    at_once(lambda: count[(1,)](x, bins, 256, BLOCK=256))
    assert (bins.item(), lock.item()) == (256, 1)


def test_an_interrupt_at_any_point_leaves_the_turn_to_others() -> None:
    lock, out = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)

    def launch() -> None:
        swap[(1,)](lock, out)

    launch()
    at = 0
    while (
        found := interrupted(launch, at, ("/plugin/launcher", "/plugin/recorders", "/plugin/serial", "threading.py"))
    )[0]:
        where, told = found
        assert told, where
        at_once(launch)
        at += 1
    assert at > 10


def test_the_child_of_a_fork_does_not_wait_for_a_thread_that_it_has_not(tmp_path) -> None:
    script = """
        import os, threading
        import torch, triton, triton.language as tl
        from triton_lab.backend.plugin import launcher
        import triton_lab as lab

        @triton.jit
        def swap(lock, out):
            tl.store(out, tl.atomic_cas(lock, 0, 1))

        lab.limits(engine="numpy")
        lock, out = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
        here, on = threading.Event(), threading.Event()
        launcher.progress = lambda _, __: (here.set(), on.wait())
        other = threading.Thread(target=lambda: swap[(1,)](lock, out))
        other.start()
        here.wait()
        launcher.progress = None
        child = os.fork()
        if not child:
            swap[(1,)](lock, out)
            os._exit(7 + out.item())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        on.set()
        other.join()
        print(status)
    """
    assert run(script, folder=tmp_path, seconds=60, PYTHONWARNINGS="ignore") == "8"
