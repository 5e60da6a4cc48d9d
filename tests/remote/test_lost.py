"""Between a notebook and a worker: a clear error within the limit, nothing lost, the next launch runs."""

from __future__ import annotations

import _thread
import contextlib
import functools
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import triton_lab as lab
from tests.kernels import double
from tests.remote.kernels import counts, takes_memory
from tests.wordings import Wording

pytest.importorskip("distributed", reason="needs Dask: pip install 'triton-lab[dask]'")

from tests.remote.clusters import Certificates, Shared, does_a_job, free_port, jobs_running, shared
from triton_lab.remote import cluster, queue_display, scheduler_client

LONG = 1 << 30


def at(school: Shared, kind: str = "cpu", **options: Any) -> Any:
    return lab.target(kind, scheduler=school.address, security=school.certificates.security, **options)


def runs() -> bool:
    """Whether the next launch does what it should."""
    y = torch.zeros(4)
    double[(1,)](torch.ones(4), y, 4, BLOCK=4)
    return y.tolist() == [2] * 4


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    assert condition()


@contextlib.contextmanager
def once_it_runs(action: Callable[[], object]) -> Iterator[None]:
    """Do it as soon as a job runs that is begun inside, and this thread waits for it."""
    wait_for(lambda: jobs_running() == 0)
    here, over = threading.get_ident(), threading.Event()

    def wait() -> None:
        wait_for(lambda: over.is_set() or (jobs_running() > 0 and waits(here)))
        if not over.is_set():
            action()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        over.set()  # an interrupt that comes later would be for nobody
        thread.join()


def waits(thread: int) -> bool:
    """Whether it stands still until a job has ended; Dask, which it asks in between, may lose an interrupt."""
    frame = sys._current_frames()[thread]
    codes = [each.f_code for each, _ in traceback.walk_stack(frame)]
    return codes[0].co_filename == threading.__file__ and cluster.Cluster._wait.__code__ in codes[:4]


@pytest.mark.parametrize("address", ["tcp://gpu.example.org:8786", "ws://10.0.0.1:8786"])
def test_what_is_not_encrypted_is_refused(address: str, wording: Wording) -> None:
    with wording.raises(ValueError, address=f"'{address}'", scheme=address.partition(":")[0]):
        lab.target("gpu", scheduler=address)
    with pytest.raises(ValueError, match="Give one like 'tls://"):
        lab.target("gpu", scheduler="gpu.example.org")
    with pytest.raises(ValueError, match="choose 'gpu', or 'cpu'"):
        lab.target("auto", scheduler="tls://gpu.example.org:8786")


def test_without_dask_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(lab.TargetError, match=r"pip install 'triton-lab\[dask\]'"):
        lab.target("gpu", scheduler="tls://gpu.example.org:8786")


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch, school: Shared, wording: Wording) -> None:
    monkeypatch.setattr(scheduler_client, "CONNECT", 1.0)
    start = time.monotonic()
    address = f"tls://127.0.0.1:{free_port()}"
    with wording.raises(lab.TargetError, address=address, seconds="1 s"):
        lab.target("cpu", scheduler=address, security=school.certificates.security)
    assert time.monotonic() - start < 10
    assert lab.target() == "cpu" and runs()


def test_certificates_of_another_authority(monkeypatch: pytest.MonkeyPatch, school: Shared, tmp_path: Path) -> None:
    monkeypatch.setattr(scheduler_client, "CONNECT", 2.0)
    with pytest.raises(lab.TargetError, match="certificates"):
        lab.target("cpu", scheduler=school.address, security=Certificates(tmp_path / "other").security)


def test_no_worker_offers_a_gpu(tmp_path: Path, wording: Wording) -> None:
    with shared(tmp_path / "none") as made, wording.raises(lab.TargetError, address=made.address):
        at(made, "gpu")


def test_a_job_that_takes_too_long_is_ended(school: Shared, wording: Wording) -> None:
    at(school, max_seconds=1)
    assert runs()
    x = torch.zeros(1, dtype=torch.int64)
    start = time.monotonic()
    assert school.worker is not None
    with pytest.raises(lab.RemoteError) as caught:
        counts[(1,)](x, LONG)
    wording(re.sub(r"tls://\S+\d", "WORKER", str(caught.value)), kernel="counts", seconds="1 s")
    assert time.monotonic() - start < 10
    assert x.item() == 0 and runs()


def test_a_job_that_takes_too_much_memory_is_refused_it(school: Shared) -> None:
    at(school, max_bytes=8 << 20)
    with pytest.raises((lab.KernelError, lab.RemoteError), match="out of memory"):
        takes_memory[(64,)](torch.zeros(1), N=1024)
    assert runs()


def test_an_interrupt_takes_a_job_back(school: Shared) -> None:
    at(school)
    assert runs()
    interrupt = once_it_runs(lambda: _thread.interrupt_main(signal.SIGINT))
    with interrupt, pytest.raises(KeyboardInterrupt):
        counts[(1,)](torch.zeros(1, dtype=torch.int64), LONG)
    wait_for(lambda: jobs_running() == 0)
    assert runs()


def test_the_place_in_the_queue_is_told(school: Shared, monkeypatch: pytest.MonkeyPatch, wording: Wording) -> None:
    told: list[str] = []
    monkeypatch.setattr(queue_display, "listener", told.append)
    at(school, max_seconds=5)
    assert runs()
    failed: list[BaseException] = []

    def long() -> None:
        try:
            counts[(1,)](torch.zeros(1, dtype=torch.int64), LONG)
        except lab.RemoteError as error:
            failed.append(error)

    at_work, placed = threading.Event(), cluster._placed

    def watched(client: Any, key: str) -> Any:
        found = placed(client, key)
        if "counts" in key and found is not None and found.worker:
            at_work.set()
        return found

    monkeypatch.setattr(cluster, "_placed", watched)
    other = threading.Thread(target=long)
    other.start()
    assert at_work.wait(60)  # the long one has the worker, and nothing came before it
    assert runs()
    other.join()
    assert failed and "more than 5 s" in str(failed[0])
    wording(told[0], kernel="double", jobs="1 job")
    assert told[-1] == ""


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Shared]:
    with shared(tmp_path / "small") as made:
        yield made


def test_a_worker_that_is_killed_in_mid_job_and_one_that_comes_after_it(small: Shared, wording: Wording) -> None:
    at(small)
    assert runs()
    x = torch.zeros(1, dtype=torch.int64)
    assert small.worker is not None
    killed = once_it_runs(small.worker.kill)
    with killed, wording.raises(lab.RemoteError, kernel="counts"):
        counts[(1,)](x, LONG)
    wait_for(lambda: jobs_running() == 0)
    assert x.item() == 0
    small.worker = small.add_worker()
    assert runs()
    # With another worker there, that one does not try what may have ended the first.
    both = (small.worker, small.add_worker())
    busy = lambda: next(one for one in both if does_a_job(one))  # noqa: E731
    with (
        once_it_runs(lambda: busy().kill()),
        wording.raises(lab.RemoteError, kernel="counts"),
    ):
        counts[(1,)](x, LONG)
    wait_for(lambda: sum(one.poll() is None for one in both) == 1)
    assert x.item() == 0 and runs()


def test_a_worker_that_does_not_answer_any_more(small: Shared) -> None:
    at(small)
    assert runs() and small.worker is not None
    stopped = once_it_runs(functools.partial(small.worker.send_signal, signal.SIGSTOP))
    with stopped, pytest.raises(lab.RemoteError, match=r"counts .*tls://"):
        counts[(1,)](torch.zeros(1, dtype=torch.int64), LONG)


def test_a_scheduler_that_ends_in_mid_job(small: Shared) -> None:
    at(small)
    assert runs()
    x = torch.zeros(1, dtype=torch.int64)
    with (
        once_it_runs(small.processes.running[0].kill),
        pytest.raises(lab.RemoteError, match=r"lost.*Nothing was written"),
    ):
        counts[(1,)](x, LONG)
    assert x.item() == 0
    with lab.target("cpu"):
        assert runs()
