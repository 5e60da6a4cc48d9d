"""What is done in the background comes after what came before, and never while the process ends."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from triton_lab.native.runtime import background_compiler


def test_jobs_are_done_in_order_on_one_thread() -> None:
    background = background_compiler.Background()
    seen: list[tuple[int, str]] = []
    for number in range(5):
        background.submit(lambda number=number: seen.append((number, threading.current_thread().name)))
    background.wait()
    assert [each[0] for each in seen] == list(range(5))
    assert {each[1] for each in seen} == {"triton-lab native"}
    background.close()


def test_a_job_that_fails_is_told_and_the_others_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    background = background_compiler.Background()
    background.submit(lambda: 1 // 0)
    background.wait()
    assert [each.exc_type for each in told] == [ZeroDivisionError]
    background.close()


def test_threads_take_short_turns_while_there_is_a_job_and_nobodys_choice_is_undone() -> None:
    before = sys.getswitchinterval()
    background = background_compiler.Background()
    seen: list[float] = []
    try:
        background.submit(lambda: seen.append(sys.getswitchinterval()))
        background.wait()
        background.submit(lambda: None)
        background.wait()
        background.submit(lambda: sys.setswitchinterval(0.002))
        background.wait()
        background.close()
        assert seen[0] < 0.001 and abs(sys.getswitchinterval() - 0.002) < 1e-6
    finally:
        sys.setswitchinterval(before)


def test_after_the_end_nothing_is_begun() -> None:
    background = background_compiler.Background()
    begun = threading.Event()
    release = threading.Event()
    late: list[int] = []
    background.submit(lambda: (begun.set(), release.wait()))
    background.submit(lambda: late.append(1))
    begun.wait()
    closing = threading.Thread(target=background.close)
    closing.start()
    while not background.closed:
        pass
    release.set()
    closing.join()
    assert not late and not background.submit(lambda: late.append(2))


def test_who_waits_for_a_job_hears_what_it_raised() -> None:
    background = background_compiler.Background()
    with pytest.raises(ZeroDivisionError):
        background.finish(lambda: 1 // 0)
    seen: list[str] = []
    assert background.finish(lambda: seen.append(threading.current_thread().name)) and seen == ["triton-lab native"]
    background.close()
    assert not background.finish(lambda: seen.append("late")) and len(seen) == 1


def test_a_second_thread_does_nothing() -> None:
    """An interrupt may come when a thread has begun and nobody knows yet."""
    background = background_compiler.Background()
    background._has_begun = False
    for _ in range(3):
        background.wait()
        background._has_begun = False
    threads: set[int] = set()
    for _ in range(20):
        background.submit(lambda: threads.add(threading.get_ident()))
    background.wait()
    background.close()
    assert len(threads) == 1


def test_a_process_ends_while_a_job_runs_and_others_wait() -> None:
    program = """
import time
from triton_lab.native.runtime.background_compiler import background
background.submit(lambda: (time.sleep(0.3), print("done", flush=True)))
background.submit(lambda: print("never"))
while not background.busy:
    time.sleep(0.01)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "done\n" and not done.stderr


def test_the_child_of_a_fork_compiles_nothing_if_a_compilation_was_going_on() -> None:
    program = """
import os, threading
from triton_lab.native.runtime import background_compiler as pool
def child():
    number = os.fork()
    if not number:
        os._exit(int(pool.background.submit(lambda: None)))
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
idle = child()
release = threading.Event()
pool.background.submit(release.wait)
while not pool.background.busy:
    pass
busy = child()
release.set()
pool.background.wait()
print(idle, busy)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "1 0\n"
