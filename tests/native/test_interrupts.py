"""An interrupt at any point of a launch is told, and the next launch is as if there had been none."""

from __future__ import annotations

import faulthandler
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import triton_lab as lab
from tests.interpreter.support import kernel_from
from tests.native.interrupts import interrupted
from tests.native.launches import add, counted
from triton_lab.native import engine, native_kernel
from triton_lab.native.llvm import jit
from triton_lab.native.runtime import background_compiler, compiled_function, native_launch
from triton_lab.native.threads import thread_team, work_queue

# What is ours in a launch, and what of Python's it rests on.
FILES = ("/native/", "threading.py", "queue.py", "contextlib.py")


@pytest.fixture(autouse=True)
def no_hanging() -> Iterator[None]:
    """Where something waits for ever, the process says where, and ends."""
    faulthandler.dump_traceback_later(300, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def at_every_point(act: Callable[[], object], check: Callable[[str], None], files: tuple[str, ...] = FILES) -> int:
    """``act`` with an interrupt at each point in turn, and ``check`` after each; how many points there are."""
    at = 0
    while (found := interrupted(act, at, files))[0]:
        where, told = found
        assert told, f"an interrupt is lost at {where}"
        check(where)
        at += 1
    return at


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches are shared among three threads however small they are, in calls of a few programs."""
    for seconds in ("BRIEF_SECONDS", "_WORTH_SECONDS", "_TELLING_SECONDS", "_FINDING_SECONDS"):
        monkeypatch.setattr(native_launch, seconds, 0.0)
    monkeypatch.setattr(work_queue, "_TAKEN_SECONDS", 0.0)
    monkeypatch.setattr(work_queue, "CALL_SECONDS", 1e-5)
    monkeypatch.setattr(native_launch, "CALL_SECONDS", 1e-5)
    monkeypatch.setattr(thread_team, "size", lambda: 3)


# Launches of one size share what is known of their pace.
@pytest.mark.parametrize(("how", "n", "points"), [("brief", 1022, 5), ("alone", 1023, 20), ("shared", 1024, 20)])
def test_at_any_point_of_a_launch(
    how: str, n: int, points: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "shared":
        request.getfixturevalue("in_pieces")
    monkeypatch.setattr(native_launch, "BRIEF_SECONDS", 60.0 if how == "brief" else 0.0)
    x, out = torch.rand(n), torch.zeros(n)

    def launch() -> None:
        add[(16,)](x, x, out, n, BLOCK=64)

    def check(where: str) -> None:
        out.zero_()
        launch()
        assert torch.equal(out, 2 * x) and engine.lately[-1].engine == "native", where

    with lab.limits(engine="native"):
        launch()
        launch()
        assert at_every_point(launch, check) > points


def test_at_any_point_where_a_loop_asks_whether_to_go_on() -> None:
    """Where the one that answers was ended, later launches ran for ever, or ended as if they were interrupted."""
    out = torch.zeros(1, dtype=torch.int64)

    def launch() -> None:
        counted[(2,)](out, 10**5)

    def check(where: str) -> None:
        out.zero_()
        launch()
        assert out.item() == 10**5, where

    with lab.limits(engine="native"):
        launch()
        # How many calls a launch takes hangs on how long its programs took before.
        assert at_every_point(launch, check, ("native/runtime/compiled_function.py",)) > 12


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_meets_another_one_where_a_loop_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one comes while the first is written down."""
    out = torch.zeros(1, dtype=torch.int64)
    room_of = compiled_function._Room

    class Room(room_of):
        """Two interrupts at once, in the first call."""

        told = 0

        @property
        def error(self) -> BaseException | None:
            return self._error

        @error.setter
        def error(self, error: BaseException | None) -> None:
            self._error = error
            if error is not None:
                raise KeyboardInterrupt

        @property
        def _rounds(self) -> int:
            Room.told += 1
            if Room.told == 1:
                raise KeyboardInterrupt
            return self._few

        @_rounds.setter
        def _rounds(self, rounds: int) -> None:
            self._few = rounds

    monkeypatch.setattr(compiled_function, "_rooms", [])
    with lab.limits(engine="native"):
        counted[(0,)](out, 10**12)
        monkeypatch.setattr(compiled_function, "_Room", Room)
        with pytest.raises(KeyboardInterrupt):
            counted[(1,)](out, 10**12)
        counted[(1,)](out, 10**5 + 1)
    assert out.item() == 10**5 + 1


FRESH = """
@triton.jit
def fresh(out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, i * n + NUMBER)
"""


def llvm_is_free() -> bool:
    """Whether another thread comes to LLVM."""
    came = threading.Event()
    threading.Thread(target=lambda: (jit.object_code("", jit.host()), came.set()), daemon=True).start()
    return came.wait(20)


def test_at_any_point_of_a_compilation_that_a_launch_waits_for() -> None:
    """LLVM's lock stayed taken where one came as the launch had just taken it; no other thread compiled any more."""
    out = torch.zeros(64, dtype=torch.int32)
    waiting = ("native/engine.py", "native/runtime/background_compiler.py", "llvmlite")
    for at in range(1000):
        kernel = kernel_from(FRESH.replace("NUMBER", str(at)))
        with lab.limits(engine="numpy"):
            kernel[(1,)](out, 7, B=64)
        with lab.limits(engine="native"):
            where, told = interrupted(lambda: kernel[(1,)](out, 7, B=64), at, waiting)  # noqa: B023
            if not where:
                break
            assert told, f"an interrupt is lost at {where}"
            assert llvm_is_free(), where
            kernel[(1,)](out, 7, B=64)
        assert (out == torch.arange(64) * 7 + at).all() and engine.lately[-1].engine == "native", where
    assert at > 20


def test_at_any_point_where_a_launch_has_a_kernel_compiled_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    out = torch.zeros(64, dtype=torch.int32)
    monkeypatch.setattr(native_kernel, "WARM_SECONDS", 0.0)
    monkeypatch.setattr(native_kernel, "HOT_SECONDS", 0.0)
    for at in range(1000):
        kernel = kernel_from(FRESH.replace("NUMBER", str(-1 - at)))
        with lab.limits(engine="numpy"):
            kernel[(1,)](out, 7, B=64)
        monkeypatch.setattr(
            background_compiler, "background", background_compiler.Background()
        )  # its thread has not begun
        with lab.limits(engine="auto"):
            where, told = interrupted(lambda: kernel[(1,)](out, 7, B=64), at, (*FILES, "llvmlite"))  # noqa: B023
            for _ in range(2):
                kernel[(1,)](out, 7, B=64)
                background_compiler.background.wait()
        background_compiler.background.close()
        assert engine.lately[-1].engine == "native", where
        if not where:
            break
        assert told, f"an interrupt is lost at {where}"
    assert at > 20


def test_a_signal_that_comes_just_before_a_wait_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has looked for signals then, and the system has nobody to wake: it was met when the waiting was over."""
    release = threading.Event()

    class Late(queue.SimpleQueue):  # type: ignore[type-arg]
        def get(self, *given: Any, **named: Any) -> Any:
            if threading.current_thread() is not threading.main_thread():
                return super().get(*given, **named)
            # What another thread gets wakes nobody.
            try:
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
                if not sent:
                    sent.append(1)
                    threading.Timer(0.2, signal.pthread_kill, (other, signal.SIGINT)).start()
                return super().get(*given, **named)
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

    sent: list[int] = []
    sleeper = threading.Thread(target=release.wait, daemon=True)
    sleeper.start()
    other = sleeper.ident
    background = background_compiler.Background()
    monkeypatch.setattr(background_compiler.queue, "SimpleQueue", Late)
    try:
        with pytest.raises(KeyboardInterrupt):
            background.finish(release.wait)
    finally:
        release.set()
        background.close()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # whatever the interrupt left undone above
    assert sent
