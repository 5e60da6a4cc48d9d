"""Launches that would never end, take all memory, or run side by side."""

from __future__ import annotations

import re
import sys
import threading
import tracemalloc

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton_lab as lab
from tests.backend.process import run
from triton_lab.backend.plugin import launcher
from triton_lab.backend.plugin.terminal_progress import Bar, bar
from triton_lab.interpreter.kernel_errors import StepLimit


@triton.jit
def count_to(out, n):
    i = 0
    while i < n:
        i += 1
    tl.store(out, i)


@triton.jit
def number(out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, offsets, mask=offsets < n)


@triton.jit
def locked(lock, total):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + 1)
    tl.atomic_xchg(lock, 0)


@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


def test_without_a_limit_a_loop_goes_on_as_long_as_it_wants():
    out = torch.zeros(1, dtype=torch.int32)
    count_to[(1,)](out, 5000)
    assert out.item() == 5000


def test_a_limit_on_steps_ends_a_launch_that_wants_more():
    out = torch.zeros(1, dtype=torch.int32)
    with lab.limits(max_steps=100):
        count_to[(1,)](out, 50)
        with pytest.raises(StepLimit, match="more than 100"):
            count_to[(1,)](out, 5000)
    count_to[(1,)](out, 5000)


def test_limits_nest_and_end_with_their_blocks():
    before = launcher.limits
    with lab.limits(max_steps=100, max_bytes=1 << 20):
        with lab.limits(max_steps=10):
            assert (launcher.limits.steps, launcher.limits.memory) == (10, 1 << 20)
            lab.limits(max_steps=None)
            assert (launcher.limits.steps, launcher.limits.memory) == (None, 1 << 20)
        assert launcher.limits.steps == 100
    assert launcher.limits == before


def test_a_limit_may_be_set_for_good():
    lab.limits(max_steps=10)
    try:
        with pytest.raises(StepLimit):
            count_to[(1,)](torch.zeros(1, dtype=torch.int32), 50)
    finally:
        lab.limits(max_steps=None)


@pytest.mark.parametrize("wrong", [{"max_steps": 0}, {"max_steps": -1}, {"max_bytes": 0}])
def test_a_limit_that_allows_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match=r"(max_steps|max_bytes)="):
        lab.limits(**wrong)


def peak(launch) -> int:
    """The most bytes that Python and NumPy held at once during ``launch``."""
    tracemalloc.start()
    try:
        launch()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_million_programs_run_in_bounded_memory():
    out = torch.zeros(4 * 10**6, dtype=torch.int32)
    number[(1,)](out, 4, BLOCK=4)
    assert peak(lambda: number[(10**6,)](out, out.numel(), BLOCK=4)) < 100 << 20
    assert torch.equal(out, torch.arange(4 * 10**6, dtype=torch.int32))


def test_the_memory_of_a_launch_can_be_bounded_further():
    out = torch.zeros(1 << 20, dtype=torch.int32)
    number[(1,)](out, 4, BLOCK=1024)
    free = peak(lambda: number[(1024,)](out, out.numel(), BLOCK=1024))
    with lab.limits(max_bytes=1 << 16):
        assert peak(lambda: number[(1024,)](out, out.numel(), BLOCK=1024)) < free / 2
    assert torch.equal(out, torch.arange(1 << 20, dtype=torch.int32))


def test_programs_that_do_not_have_to_wait_are_not_kept():
    lock, total = torch.zeros(1, dtype=torch.int32), torch.zeros(1)
    locked[(1,)](lock, total)
    few, many = (peak(lambda n=n: locked[(n,)](lock, total)) for n in (10, 2000))
    assert total.item() == 2011
    assert many < few + (1 << 20)


def test_progress_is_told_after_each_batch(monkeypatch):
    told = []
    monkeypatch.setattr(launcher, "progress", lambda done, total: told.append((done, total)))
    out = torch.zeros(1 << 20, dtype=torch.int32)
    number[(1 << 12,)](out, out.numel(), BLOCK=256)
    done = [d for d, _ in told]
    assert {total for _, total in told} == {1 << 12}
    assert done == sorted(done) and done[-1] == 1 << 12 and len(done) > 1


def test_progress_of_programs_that_may_wait_is_told_as_each_ends(monkeypatch):
    monkeypatch.setattr(launcher.limits, "engine", "numpy")  # the other one tells of several at once
    told = []
    monkeypatch.setattr(launcher, "progress", lambda done, total: told.append((done, total)))
    locked[(5,)](torch.zeros(1, dtype=torch.int32), torch.zeros(1))
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]


class Terminal:
    def __init__(self, is_terminal: bool = True) -> None:
        self.text = ""
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_a_bar_appears_after_a_second_and_is_wiped_away():
    now = [0.0]
    terminal = Terminal()
    drawn = Bar("kernel", terminal, lambda: now[0])
    for done, now[0] in ((1, 0.5), (2, 0.9)):
        drawn(done, 10)
    assert terminal.text == ""
    now[0] = 2.0
    drawn(5, 10)
    assert terminal.text.endswith(f"kernel [{'#' * 15}{'.' * 15}] 5 of 10 programs, 2 s left")
    now[0] = 2.05
    drawn(6, 10)
    assert "6 of 10" not in terminal.text, "drawn ten times a second at most"
    drawn.close()
    assert terminal.text.endswith("\r\x1b[2K")


def test_a_bar_is_for_terminals_that_nobody_else_speaks_for(monkeypatch):
    for stream, wanted in ((Terminal(), Bar), (Terminal(False), type(None)), (None, type(None))):
        monkeypatch.setattr(sys, "stderr", stream)
        with bar("kernel", None) as told:
            assert type(told) is wanted
    monkeypatch.setattr(sys, "stderr", Terminal())
    with bar("kernel", print) as told:
        assert told is print


INTERRUPTED = """
import os, signal, threading, time
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, n):
{body}

x = torch.zeros(1 << 16, dtype=torch.int32)
def interrupt():
    global sent
    time.sleep(0.5)
    sent = time.process_time()  # of work, however busy the machine is
    os.kill(os.getpid(), signal.SIGINT)

kernel[(0,)](x, 1000)  # all is compiled and imported
threading.Thread(target=interrupt).start()
try:
    kernel[({programs},)](x, 1000)
    print("ended")
except KeyboardInterrupt as error:
    print("in time" if time.process_time() - sent < 1 else "late")
    print(str(error).split("\\n")[0].rpartition("/")[2])
kernel[(0,)](x, 1000)
print("alive")
"""


@pytest.mark.parametrize(
    ("programs", "body"),
    [
        (1, ["i = 0", "while i < n:", "    i = i ^ 1", "tl.store(x, i)"]),
        (4096, ["for i in range(1 << 30):", "    tl.store(x + tl.arange(0, 16), tl.load(x + tl.arange(0, 16)) + i)"]),
        (64, ["while tl.atomic_add(x, 1) >= 0:", "    pass"]),
        (1 << 30, ["tl.store(x + tl.arange(0, 16384), tl.arange(0, 16384))"]),
    ],
    ids=["while", "for", "waiting", "programs"],
)
def test_an_interrupt_stops_a_launch_within_a_second(tmp_path, programs, body):
    script = INTERRUPTED.format(programs=programs, body="\n".join("    " + line for line in body))
    told, where, alive = run(script, folder=tmp_path).split("\n")
    assert (told, alive) == ("in time", "alive")
    of_the_body = "|".join(str(number + 1) for number, line in enumerate(script.split("\n")) if line[4:] in body)
    first = r"(, program \(\d+, 0, 0\))?" if "atomic" in body[0] else ""  # once programs have waited
    assert re.fullmatch(f"script.py, line ({of_the_body}), in kernel kernel{first}", where)


def test_threads_may_launch_at_once():
    errors: list[BaseException] = []
    results: dict[int, bool] = {}

    def work(seed: int) -> None:
        try:
            for turn in range(20):
                x = torch.full((1000,), float(seed * 100 + turn))
                y = torch.zeros(1000)
                add[(triton.cdiv(1000, 64),)](x, y, 1000, BLOCK=64)
                if not torch.equal(y, x + 1):
                    raise AssertionError(f"thread {seed}, turn {turn}")
            results[seed] = True
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and len(results) == 6


def test_a_record_hears_of_the_launches_of_all_threads():
    with lab.record() as launches:
        threads = [
            threading.Thread(
                target=lambda: add[(1,)](torch.zeros(4), torch.zeros(4), 4, BLOCK=4), name=f"worker {number}"
            )
            for number in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(launch.thread for launch in launches) == ["worker 0", "worker 1", "worker 2"]


def test_interpreting_and_compiling_for_a_gpu_take_turns():
    def compiled() -> bytes:
        source = ASTSource(add, {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 64})
        return triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"enable_fp_fusion": True}).asm["cubin"]

    cubins = []
    for _ in range(3):
        x, y = torch.arange(100.0), torch.zeros(100)
        add[(2,)](x, y, 100, BLOCK=64)
        assert torch.equal(y, x + 1)
        cubins.append(compiled())
    assert np.all([cubin == cubins[0] for cubin in cubins])
    assert lab.target() == "cpu"
