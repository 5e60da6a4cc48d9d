"""Interrupts at any moment of a question: nothing of it is left afterwards."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.polyhedral.core.test_isl_effort import MEET, SIZES
from triton_lab.polyhedral.core.isl_abort import stoppable

# Prints how many interrupts came, and what they left: the timer rings once within the time that the questions take.
INTERRUPTED = f"""
import json, random, signal, sys, threading
from collections import Counter
from contextlib import suppress
from time import perf_counter
import islpy as isl
from triton_lab.polyhedral.core import isl_effort

isl_effort.SECONDS = 1.0

def short():
    for _ in range(50):
        isl_effort.answered("a question", lambda: isl.Set("{{ [i] : i > 0 }}"))

def tall():
    isl_effort.answered("a question", lambda: isl.Set({MEET!r}).is_empty(), 50)

def long():
    with suppress(isl_effort.TooHard):
        isl_effort.answered("a question", lambda: isl.Set({SIZES!r}).subtract(isl.Set({MEET!r})), 1000)

def within():
    for _ in range(20):
        with isl_effort.series("all"), isl_effort.effort("outside"):
            isl_effort.answered("inside", lambda: isl.Set("{{ : }}"))

def ring(*_):
    raise KeyboardInterrupt

def other(done):
    with isl_effort.effort("other"):
        done.append(True)

def left():
    context = isl.DEFAULT_CONTEXT
    if context.get_max_operations() != 0:
        yield "limit"
    if threading.stack_size() != 0:
        yield "stack"
    if context.aborted():
        yield "mark"
    done = []
    thread = threading.Thread(target=other, args=(done,), daemon=True)
    thread.start()
    thread.join(10)
    if not done:
        yield "turn"
    if signal.set_wakeup_fd(-1) != -1:
        yield "file"

signal.signal(signal.SIGALRM, ring)
ask, moments = {{f.__name__: f for f in (short, tall, long, within)}}[sys.argv[1]], random.Random(0)


def seconds():
    start = perf_counter()
    ask()
    return perf_counter() - start

took = min(seconds() for _ in range(4))  # the first one also imports; any may be slow where others compute
found = Counter(interrupts=0)
for _ in range(int(sys.argv[2])):
    came = None
    try:
        signal.setitimer(signal.ITIMER_REAL, moments.uniform(1e-5, took))
        try:
            ask()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt as interrupt:
        came = interrupt
        found["interrupts"] += 1
    if sys.argv[1] == "within":
        came = None  # what `with` has not ended ends with the traceback
    found.update(left())
print(json.dumps(found))
"""


@pytest.mark.skipif(not stoppable(), reason="this C library, or this islpy, has no way in")
@pytest.mark.parametrize(("asks", "times"), [("short", 100), ("tall", 100), ("long", 8), ("within", 100)])
def test_an_interrupt_leaves_nothing(asks: str, times: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, asks, str(times)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("interrupts") >= times // 8
    assert found == {}
