"""isl is stopped in the middle of a question: by the clock, and by a signal."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from time import thread_time

import islpy as isl
import pytest

from tests.polyhedral.core.test_isl_effort import MEET, SIZES
from tests.wordings import Wording
from triton_lab.polyhedral.core import isl_effort
from triton_lab.polyhedral.core.isl_abort import stop_at, stoppable
from triton_lab.polyhedral.core.isl_effort import TooHard

HARD = f"isl.Set({SIZES!r}).subtract(isl.Set({MEET!r}))"
IN_A_FORK = f"""
import os
import islpy as isl
from triton_lab.polyhedral.core.isl_effort import TooHard, effort
with effort("before"):
    isl.Set("{{ : }}")
if os.fork() == 0:
    try:
        with effort("the question", 10**9, 0.2):
            {HARD}
    except TooHard as answer:
        os.write(1, str(answer).encode())
    os._exit(0)
os.wait()
"""

needs_abort = pytest.mark.skipif(not stoppable(), reason="this C library, or this islpy, has no way in")


def _hard() -> isl.Set:
    return isl.Set(SIZES).subtract(isl.Set(MEET))


def test_on_linux_isl_can_be_stopped() -> None:
    assert stoppable() or sys.platform != "linux"


@needs_abort
def test_time_ends_a_question_whatever_its_count() -> None:
    start = thread_time()
    with pytest.raises(TooHard, match=r"^a question: "), isl_effort.effort("a question", 10**9, 0.2):
        _hard()
    assert 0.1 < thread_time() - start < 1
    assert not isl.Set(MEET).is_empty()


@needs_abort
def test_a_question_within_another_ends_first() -> None:
    with isl_effort.effort("outside", 10**9, 5):
        with pytest.raises(TooHard, match="inside"), isl_effort.effort("inside", 10**9, 0.1):
            _hard()
        assert not isl.Set(MEET).is_empty()


@needs_abort
def test_the_time_of_a_series_is_that_of_all() -> None:
    def ask() -> None:
        with isl_effort.series("all", 0.4):
            for _ in range(100):
                with suppress(TooHard), isl_effort.effort("one", 10**9, 0.15):
                    _hard()
                isl_effort.check_time("all")

    start = thread_time()
    with pytest.raises(TooHard, match="all: "):
        ask()
    assert thread_time() - start < 1


@needs_abort
def test_an_interrupt_ends_a_long_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later tries may take seconds: the signal itself ends them."""
    # A question that ends first leaves the signal to whatever runs next, and that ends the worker.
    monkeypatch.setattr(isl_effort, "SECONDS", 1000)
    monkeypatch.setattr(isl_effort, "_MOST_OPERATIONS", 10**12)
    killer = subprocess.Popen(["sh", "-c", f"sleep 0.8; kill -INT {os.getpid()}"])
    try:
        with pytest.raises(KeyboardInterrupt):
            isl_effort.answered("a question", _hard, 1000)
    finally:
        killer.wait()
    assert isl.DEFAULT_CONTEXT.get_max_operations() == 0
    assert not isl.Set(MEET).is_empty()


@needs_abort
def test_a_fork_has_a_timer_of_its_own(wording: Wording) -> None:
    done = subprocess.run([sys.executable, "-c", IN_A_FORK], capture_output=True, text=True, check=False, timeout=60)
    assert not done.returncode, done.stderr
    wording(done.stdout, question="the question")


def test_no_time_is_left_armed() -> None:
    with isl_effort.effort("a question", seconds=0.05):
        isl.Set("{ : }")
    end = thread_time() + 0.1
    while thread_time() < end:
        isl.Set("{ [i] : i > 0 }")
    stop_at(float("inf"))
