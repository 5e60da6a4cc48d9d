"""What is done in the background comes after what came before, and never while the process ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

from triton_lab.native import pool


def test_jobs_are_done_in_order_on_one_thread_of_low_priority() -> None:
    background = pool.Background()
    seen: list[tuple[int, str, int]] = []
    for number in range(5):
        background.submit(
            lambda number=number: seen.append(
                (number, threading.current_thread().name, os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
            )
        )
    background.wait()
    assert [each[0] for each in seen] == list(range(5))
    assert {each[1] for each in seen} == {"triton-lab native"}
    assert min(each[2] for each in seen) >= 10 or os.getpriority(os.PRIO_PROCESS, 0) >= 10
    background.close()


def test_after_the_end_nothing_is_begun() -> None:
    background = pool.Background()
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


def test_a_process_ends_while_a_job_runs_and_others_wait() -> None:
    program = """
import time
from triton_lab.native.pool import background
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
from triton_lab.native import pool
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
print(idle, busy)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "1 0\n"
