"""Several threads run a launch as one does: the same results, the same errors, and an interrupt stops them all."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
import torch

import triton_lab as lab
from tests.native.launches import add, gather, on_both, shifted
from triton_lab.backend.plugin import launcher
from triton_lab.examples import Example, all_examples
from triton_lab.native import engine
from triton_lab.native.lowering import guards
from triton_lab.native.runtime import native_launch
from triton_lab.native.threads import thread_team, work_queue
from triton_lab.native.threads.work_queue import Left


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Launches are shared among four threads however small they are; by launch the first program that was shared."""
    for seconds in ("_WORTH_SECONDS", "_TELLING_SECONDS", "_FINDING_SECONDS"):
        monkeypatch.setattr(native_launch, seconds, 0.0)
    monkeypatch.setattr(work_queue, "_TAKEN_SECONDS", 0.0)
    monkeypatch.setattr(work_queue, "_PARTS", 10**6)
    monkeypatch.setattr(thread_team, "size", lambda: 4)
    found: list[int] = []
    share = work_queue.shared

    def sharing(call, programs, *how):
        found.append(programs[0])
        return share(call, programs, *how)

    monkeypatch.setattr(native_launch, "shared", sharing)
    return found


def _results(each: Example) -> tuple[torch.Tensor, ...]:
    result = each.run(**each.inputs("small", 0, "cpu"))
    return result if isinstance(result, tuple) else (result,)


# Addresses in swizzled groups and loops, products, two kernels; one whose programs may not be shared.
EXAMPLES = {"softmax", "matmul_backward", "attention_causal", "prefix_sum", "split_k_matmul"}


@pytest.mark.parametrize("each", [each for each in all_examples() if each.name in EXAMPLES], ids=lambda each: each.name)
def test_examples_have_equal_bits_on_any_number_of_threads(each: Example, shared, monkeypatch) -> None:
    with lab.limits(engine="native"):
        several = _results(each)
        monkeypatch.setattr(thread_team, "size", lambda: 1)
        one = _results(each)
    torch.testing.assert_close(several, one, rtol=0, atol=0, equal_nan=True)


def test_a_launch_is_shared_where_its_programs_keep_apart(shared) -> None:
    x, y, out = torch.rand(50_000), torch.rand(50_000), torch.zeros(50_000)
    error, ran = on_both(lambda: add[(782,)](x, y, out, 50_000, BLOCK=64), out)
    assert not error and ran.engine == "native" and len(shared) == 1


def test_a_launch_like_one_that_took_long_is_shared_from_its_first_program_on(shared) -> None:
    x, y, out = torch.rand(50_000), torch.rand(50_000), torch.zeros(60_000)
    with lab.limits(engine="native"):
        for n in (48_000, 50_000, 50_000, 49_600, 49_600):
            add[(782,)](x, y, out, n, BLOCK=64)
            assert torch.equal(out[:n], (x + y)[:n])
    assert [each > 0 for each in shared[1:]] == [True, False, True, False]


def test_progress_is_told_by_the_thread_that_launches(shared, monkeypatch) -> None:
    told: list[tuple[int, int, str]] = []
    who = threading.current_thread
    monkeypatch.setattr(launcher, "progress", lambda done, total: told.append((done, total, who().name)))
    x, out = torch.rand(6400), torch.zeros(6400)
    with lab.limits(engine="native"):
        add[(100,)](x, x, out, 6400, BLOCK=64)
    counts = [done for done, _, _ in told]
    assert counts == sorted(counts) and counts[-1] == 100 and len(shared) == 1
    assert {each[1:] for each in told} == {(100, who().name)}


def test_in_place_each_program_may_read_what_it_writes_and_no_other(shared) -> None:
    x = torch.arange(4096.0)
    on_both(lambda: add[(64,)](x, x, x, 4000, BLOCK=64), x)
    assert len(shared) == 1
    with lab.limits(engine="native"):
        shifted[(64,)](x, 4000, BLOCK=64)
    assert len(shared) == 1


@pytest.mark.parametrize("programs", [(3, 40, 70), (0, 127), (100,), ()])
def test_programs_that_fail_are_told_as_on_one_thread(programs: tuple[int, ...], shared) -> None:
    x, out, where = torch.rand(8192), torch.zeros(8192), torch.arange(8192, dtype=torch.int32)
    for program in programs:
        where[program * 64 + 5] = 10**6
    error, ran = on_both(lambda: gather[(128,)](x, where, out, 8192, BLOCK=64))
    assert ran.engine == "native" and bool(error) == bool(programs)
    if programs:
        assert f"of program ({programs[0]}, 0, 0)" in error
        assert (out[: programs[0] * 64] == x[: programs[0] * 64]).all()


def test_programs_that_a_guard_stops_for_nothing_run_once(shared, monkeypatch) -> None:
    """In place, so that a program that ran twice would show."""
    require = guards.Guards.require

    def failing(self, ok, op, what, *where):
        # Every seventh program is NumPy's.
        if ok.literal != 1 and what == "bounds" and not failing.done:
            failing.done = True
            code = self.code
            number = next(block.phis[0][0].split(" ")[0] for block in code.blocks if block.label.startswith("program"))
            rest = code.let(f"urem i64 {number}, 7", "i64")
            ok = code.op("and", ok, code.compare("ne", rest, code.constant("i64", 3)))
        require(self, ok, op, what, *where)

    failing.done = False
    monkeypatch.setattr(guards.Guards, "require", failing)
    monkeypatch.setattr(engine, "_kernel_of", engine.NativeKernel)
    monkeypatch.setattr("triton_lab.native.runtime.code_cache.find", lambda name: None)
    monkeypatch.setattr("triton_lab.native.runtime.code_cache.keep", lambda *all: None)
    for batch in (1, 5, None):
        failing.done = False
        monkeypatch.setattr(launcher.limits, "batch", batch)
        x = torch.arange(6400.0)
        error, ran = on_both(lambda: add[(100,)](x, x, x, 6400, BLOCK=64), x)  # noqa: B023
        assert not error and ran.handed > 0 and (batch != 1 or ran.handed == 14)


@pytest.mark.parametrize("endless", [range(1, 64), range(20, 21)], ids=["all", "one"])
def test_an_interrupt_stops_all_threads_and_tells_the_loop(endless: range, shared) -> None:
    """Of one endless program among many the first thread has mostly nothing to do but to wait for another one."""
    out, turns = torch.zeros(64, dtype=torch.int64), torch.full((64,), 11)
    with lab.limits(engine="native"):
        own = each_counts()
        own[(64,)](out, turns)
        assert (out == 11).all()
        turns[endless.start : endless.stop] = 10**12
        began: list[float] = []

        def interrupt() -> None:
            began.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        for _ in range(3):
            threading.Timer(0.3, interrupt).start()
            with pytest.raises(KeyboardInterrupt) as raised:
                own[(64,)](out, turns)
            assert time.monotonic() - began[-1] < 1
            told = str(raised.value)
            assert "counts_each, program (" in told and "while i < n" in told
            assert len(endless) > 1 or f"program ({endless[0]}, 0, 0)" in told
        turns.fill_(12)
        own[(64,)](out, turns)
    assert (out == 12).all() and len(shared) == 5


def test_an_interrupt_between_calls_of_several_threads_tells_the_program(shared, monkeypatch) -> None:
    firsts = []

    def interrupted(call: object, programs: tuple[int, int], *_: object) -> None:
        firsts.append(programs[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(native_launch, "shared", interrupted)
    x, out = torch.rand(6400), torch.zeros(6400)
    with lab.limits(engine="native"), pytest.raises(KeyboardInterrupt) as raised:
        add[(100,)](x, x, out, 6400, BLOCK=64)
    assert f"add, program ({firsts[-1]}, 0, 0)" in str(raised.value)


def each_counts():
    from tests.interpreter.support import kernel_from

    return kernel_from(
        "@triton.jit\n"
        "def counts_each(out, turns):\n"
        "    i = tl.full((), 0, tl.int64)\n"
        "    n = tl.load(turns + tl.program_id(0))\n"
        "    while i < n:\n"
        "        i += 1\n"
        "    tl.store(out + tl.program_id(0), i)\n"
    )


def test_what_is_left_is_taken_once() -> None:
    left = Left(((0, 10), (20, 30), (12, 12)))
    assert left.count == 20 and left.first == (0, 10)
    left.drop(3)
    assert left.first == (3, 10)
    assert left.take(3, 6) == range(3, 6) and left.first == (6, 10)
    assert left.take(8, 25).tolist() == [8, 9, 20, 21, 22, 23, 24]
    left.drop(8)
    assert left.first == (25, 30) and left.count == 5
    left.drop(30)
    assert not left and left.count == 0
