"""Which engine runs what: native code where it can, NumPy where it cannot, and nobody sees a difference."""

from __future__ import annotations

import mmap
import os
import signal
import threading
import time

import numpy as np
import pytest
import torch

import triton_lab as lab
from tests.backend.process import finished
from tests.interpreter.support import kernel_from
from tests.native.launches import add, chased, counted, gather, on_both, outcome, shifted, wrapping
from tests.wordings import Wording
from triton_lab.backend.plugin import launcher
from triton_lab.native import engine, native_kernel
from triton_lab.native.runtime import background_compiler, compiled_function


@pytest.fixture(autouse=True)
def short_memory():
    engine.lately.clear()


def sums(n: int = 5000):
    x, y, out = torch.rand(n), torch.rand(n), torch.zeros(n)
    return lambda: add[(-(-n // 1024),)](x, y, out, n, BLOCK=1024), out


# What is the same.


def test_a_launch_that_can_be_is_native_and_gives_the_same() -> None:
    launch, out = sums()
    error, ran = on_both(launch, out)
    assert not error and (ran.engine, ran.why, ran.handed) == ("native", "", 0)


def test_a_store_out_of_bounds_is_told_in_the_same_words_and_later_programs_do_not_run() -> None:
    x, y, out = torch.rand(5000), torch.rand(5000), torch.zeros(4096 + 300)
    error, ran = on_both(lambda: add[(5,)](x, y, out, 5000, BLOCK=1024))
    assert "lane 300 of program (4, 0, 0)" in error
    assert ran.engine == "native" and ran.handed == 1


def test_programs_before_the_one_that_fails_have_stored_as_if_one_ran_after_the_other() -> None:
    x, y, out = torch.rand(5000), torch.rand(5000), torch.zeros(3 * 1024)
    _, held = outcome(lambda: add[(5,)](x, y, out, 5000, BLOCK=1024), out)
    with lab.limits(engine="native"):
        _, native = outcome(lambda: add[(5,)](x, y, out, 5000, BLOCK=1024), out)
    assert (native[0] == (x + y)[: 3 * 1024].view(torch.uint8).numpy()).all()
    assert held[0].shape == native[0].shape


def test_a_lane_that_goes_astray_through_memory_is_told_in_the_same_words() -> None:
    x, out, where = torch.rand(5000), torch.zeros(5000), torch.arange(5000, dtype=torch.int32)
    where[4321] = 5007
    error, _ = on_both(lambda: gather[(5,)](x, where, out, 5000, BLOCK=1024))
    assert "element 5007 of x" in error and "program (4, 0, 0)" in error
    where[4321] = -1
    error, _ = on_both(lambda: gather[(5,)](x, where, out, 5000, BLOCK=1024))
    assert "element -1 of x" in error


@pytest.mark.parametrize("step", [1, 2**22 + 3, 2**31 - 1, -(2**31)])
def test_offsets_that_wrap_read_what_they_read_on_numpy(step: int) -> None:
    x, out = torch.arange(1024.0), torch.zeros(1024)
    error, _ = on_both(lambda: wrapping[(1,)](x, out, step, BLOCK=1024), out)
    assert not error


def test_memory_that_is_read_and_written_by_one_program_is_read_first() -> None:
    x = torch.arange(3000.0)
    error, ran = on_both(lambda: shifted[(1,)](x, 3000, BLOCK=4096), x)
    assert not error and ran.engine == "native"


@pytest.mark.parametrize("first", [1, 3])
def test_tensors_that_share_storage_at_any_distance_come_out_alike(first: int) -> None:
    whole = torch.rand(4096)
    x, y, out = whole[first : first + 1000], whole[:1000], whole[first * 2 : first * 2 + 1000]
    error, _ = on_both(lambda: add[(1,)](x, y, out, 1000, BLOCK=1024), whole)
    assert not error


@pytest.mark.parametrize("first", range(1, 4))
def test_addresses_need_no_more_than_their_elements_alignment(first: int) -> None:
    x, y, out = (torch.rand(1100)[first:] for _ in range(3))
    error, ran = on_both(lambda: add[(2,)](x, y, out, 1000, BLOCK=512), out)
    assert not error and ran.engine == "native" and not ran.handed


def test_an_address_between_elements_is_told_in_the_same_words() -> None:
    class Odd:
        """A pointer two bytes behind an element."""

        def __init__(self, base: torch.Tensor) -> None:
            self.base, self.dtype = base, base.dtype

        def data_ptr(self) -> int:
            return self.base.data_ptr() + 2

    x, y, out = torch.rand(1000), torch.rand(1000), torch.zeros(1000)
    error, _ = on_both(lambda: add[(1,)](Odd(x), y, out, 999, BLOCK=1024))
    assert "aligned" in error


def test_null_pointers_are_told_in_the_same_words() -> None:
    y, out = torch.rand(1000), torch.zeros(1000)
    nothing = torch.empty(0)
    error, ran = on_both(lambda: add[(1,)](nothing, y, out, 1000, BLOCK=1024), out)
    assert error and ran.handed == 1
    error, ran = on_both(lambda: add[(1,)](nothing, y, out, 0, BLOCK=1024), out)
    assert not error and not ran.handed


@pytest.mark.filterwarnings("ignore:The given buffer is not writable")
def test_memory_that_may_only_be_read_is_not_written() -> None:
    mapped = mmap.mmap(-1, 4096, prot=mmap.PROT_READ)
    out = torch.frombuffer(np.frombuffer(mapped, np.float32), dtype=torch.float32)
    x = torch.rand(1024)
    error, ran = on_both(lambda: add[(1,)](x, x, out, 1024, BLOCK=1024))
    assert "read" in error and ran.handed == 1
    own = torch.zeros(1024)
    error, ran = on_both(lambda: add[(1,)](out, out, own, 1024, BLOCK=1024), own)
    assert not error and not ran.handed


# What makes a program NumPy's.


def test_what_runs_behind_a_program_that_failed_is_native_again(monkeypatch) -> None:
    monkeypatch.setattr(launcher.limits, "batch", 1)
    x, out, where = torch.rand(3000), torch.zeros(3000), torch.arange(3000, dtype=torch.int32)

    calls: list[range] = []
    from triton_lab.interpreter.machine import Machine

    run = Machine.run
    monkeypatch.setattr(Machine, "run", lambda self, programs=None: (calls.append(programs), run(self, programs))[1])
    where[1500] = 10**6
    with lab.limits(engine="native"), pytest.raises(lab.KernelError, match=r"program \(1, 0, 0\)"):
        gather[(3,)](x, where, out, 3000, BLOCK=1024)
    assert calls == [range(1, 2)]
    assert (out[:1024] == x[:1024]).all() and not out[1024:].any()


def test_a_launch_with_limits_is_numpys(wording: Wording) -> None:
    launch, _ = sums()
    with lab.limits(engine="native", max_steps=100):
        launch()
    assert engine.lately[-1].engine == "numpy"
    wording(engine.lately[-1].why)


def test_a_recorded_launch_is_native_where_places_depend_on_no_memory() -> None:
    launch, _ = sums()
    with lab.limits(engine="native"), lab.record() as launches:
        launch()
    assert launches[0].events and engine.lately[-1].engine == "native"


def test_a_recorded_launch_whose_places_depend_on_memory_is_numpys() -> None:
    x, where, out = torch.rand(3000), torch.arange(3000), torch.zeros(3000)
    with lab.limits(engine="native"), lab.record() as launches:
        gather[(3,)](x, where, out, 3000, BLOCK=1024)
    assert launches[0].events and engine.lately[-1].why == "it is recorded"


def test_a_recorded_launch_that_fails_is_numpys() -> None:
    x, out = torch.rand(3000), torch.zeros(3000)
    with lab.limits(engine="native"), lab.record() as launches, pytest.raises(lab.KernelError):
        add[(4,)](x, x, out, 4000, BLOCK=1024)
    assert launches[0].tape.stopped is not None and len(launches[0].findings) == 1
    assert engine.lately[-1].why == "it is recorded" and not out.any()


def test_a_kernel_whose_addresses_depend_on_what_it_wrote_is_native() -> None:
    x, out = torch.arange(64).flip(0).contiguous() % 40, torch.zeros(64, dtype=torch.int64)
    x[0] = 5
    error, ran = on_both(lambda: chased[(1,)](x, out, BLOCK=32), out)
    assert not error and ran.engine == "native"


def test_without_llvmlite_numpy_runs_everything_and_the_doctor_says_so(wording: Wording) -> None:
    script = """
        import sys
        sys.modules["llvmlite"] = None
        import importlib.util
        import torch
        import triton_lab as lab
        from tests.native.launches import add
        x, out = torch.rand(100), torch.zeros(100)
        with lab.limits(engine="native"):
            add[(1,)](x, x, out, 100, BLOCK=128)
        assert (out == 2 * x).all()
        (ran,) = lab.engines().launches
        print(ran.engine, ran.why, sep=": ")
    """
    done = finished(script, TRITON_DEFAULT_BACKEND="triton_lab")
    chosen, _, why = done.stdout.partition(": ")
    assert chosen == "numpy", done.stderr
    wording(why.partition(":")[0], package="llvmlite")


# Interrupts.


@pytest.mark.parametrize("programs", [1, 1000])
def test_an_interrupt_ends_a_native_launch(programs: int) -> None:
    out = torch.zeros(1, dtype=torch.int64)
    with lab.limits(engine="native"):
        counted[(0,)](out, 10**12)  # all is compiled
        began: list[float] = []

        def interrupt() -> None:
            began.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.2, interrupt)
        timer.start()
        with pytest.raises(KeyboardInterrupt) as raised:
            counted[(programs,)](out, 10**12)
        assert time.monotonic() - began[0] < 20  # as it is, the kernel would count for hours
        where, code, *_ = str(raised.value).splitlines()
        assert "launches.py, line " in where and where.endswith("counted, program (0, 0, 0)")
        assert code.strip() == "while i < n:" and raised.value.kernel_line == where
        counted[(1,)](out, 11)
    assert out.item() == 11


def test_an_interrupt_between_programs_tells_the_kernel_and_how_far_it_came(monkeypatch) -> None:
    x, out = torch.rand(4096), torch.zeros(4096)
    with lab.limits(engine="native"):
        add[(4,)](x, x, out, 4096, BLOCK=1024)
        for call in ("__call__", "together"):  # on how many threads it runs, the time of the first launch decides
            monkeypatch.setattr(compiled_function.Built, call, lambda *_: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt) as raised:
            add[(4,)](x, x, out, 4096, BLOCK=1024)
    assert "def add(" in str(raised.value) and "add, program (0, 0, 0)" in str(raised.value)


def test_a_compilation_goes_on_when_who_waits_for_it_is_interrupted(monkeypatch) -> None:
    kernel, out = kernel_from(COUNTS + "# interrupted\n"), torch.zeros(64, dtype=torch.int32)
    build, begun, release = compiled_function.build, [], threading.Event()

    def slow(*given):
        begun.append(1)
        os.kill(os.getpid(), signal.SIGINT)
        release.wait()
        return build(*given)

    monkeypatch.setattr(compiled_function, "build", slow)
    with lab.limits(engine="native"):
        with pytest.raises(KeyboardInterrupt):
            kernel[(1,)](out, 7, B=64)
        release.set()
        kernel[(1,)](out, 7, B=64)
    assert engine.lately[-1].engine == "native" and begun == [1]


def test_several_threads_launch_one_kernel_at_once() -> None:
    launches = [sums(3000) for _ in range(4)]

    def work(number: int) -> None:
        for _ in range(20):
            launches[number][0]()

    with lab.limits(engine="native"):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert all(ran.engine == "native" for ran in engine.lately)
    assert all(out.any() for _, out in launches)


# Heat.


def test_a_kernel_turns_native_once_it_has_cost_enough_and_not_before(monkeypatch) -> None:
    monkeypatch.setattr(native_kernel, "WARM_SECONDS", 0.0)
    monkeypatch.setattr(native_kernel, "HOT_SECONDS", 1e-9)
    kernel, out = kernel_from(COUNTS), torch.zeros(64, dtype=torch.int32)
    told = []
    for turn in range(5):
        with lab.limits(engine="auto"):
            kernel[(1,)](out, 2 * turn + 3, B=64)  # 1 and multiples of 16 would be other kernels
        assert (out == torch.arange(64) + 2 * turn + 3).all()
        told.append(engine.lately[-1].why)
        background_compiler.background.wait()
    assert told == [native_kernel.COLD] * 2 + [""] * 3


def test_nothing_is_compiled_for_a_kernel_that_runs_once(monkeypatch) -> None:
    monkeypatch.setattr(background_compiler.background, "submit", pytest.fail)
    kernel, out = kernel_from(COUNTS + "# once\n"), torch.zeros(64, dtype=torch.int32)
    with lab.limits(engine="auto"):
        kernel[(1,)](out, 7, B=64)
    assert (engine.lately[-1].engine, engine.lately[-1].why) == ("numpy", native_kernel.COLD)


def test_a_kernel_that_cannot_be_compiled_is_tried_once_and_says_why(monkeypatch) -> None:
    monkeypatch.setattr(native_kernel, "WARM_SECONDS", 0.0)
    monkeypatch.setattr(native_kernel, "HOT_SECONDS", 0.0)
    tried: list[int] = []

    def refused(*_) -> None:
        tried.append(1)
        raise native_kernel.Unsupported("no such operation")

    monkeypatch.setattr(compiled_function, "build", refused)
    monkeypatch.setattr(compiled_function, "kept", lambda *_: None)
    kernel, out = kernel_from(COUNTS + "# refused\n"), torch.zeros(64, dtype=torch.int32)
    with lab.limits(engine="auto"):
        for _ in range(3):
            kernel[(1,)](out, 7, B=64)
            background_compiler.background.wait()
    assert len(tried) == 1 and engine.lately[-1].why == "no such operation"


def test_under_auto_what_is_cut_into_batches_stays_numpys(monkeypatch) -> None:
    monkeypatch.setattr(native_kernel, "WARM_SECONDS", 0.0)
    launch, _ = sums()
    with lab.limits(engine="native"):
        launch()
    with lab.limits(engine="auto"):
        launch()
        assert engine.lately[-1].engine == "native"
        monkeypatch.setattr(launcher.limits, "batch", 3)
        launch()
    assert engine.lately[-1].engine == "numpy"


COUNTS = """
@triton.jit
def counts(out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, i + n)
"""


def test_an_engine_that_there_is_not_is_refused_with_those_there_are(wording: Wording) -> None:
    with wording.raises(ValueError, given="engine='llvm'", engines="'auto', 'numpy', 'native'"):
        lab.limits(engine="llvm")
    done = finished("import triton_lab.backend.plugin.launcher", TRITON_LAB_ENGINE="fast")
    assert "TRITON_LAB_ENGINE='fast'" in done.stderr


def test_the_environment_chooses_too() -> None:
    script = "from triton_lab.backend.plugin import launcher; print(launcher.limits.engine)"
    assert finished(script, TRITON_LAB_ENGINE="native").stdout == "native\n"
    assert finished(script).stdout == "auto\n"
