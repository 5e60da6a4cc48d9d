"""A Dask scheduler, and a job on its way there and back: queued, running, lost, cancelled."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from triton_lab.backend.targets.active_target import TargetError
from triton_lab.localization import N_, _, translated
from triton_lab.remote import scheduler_client, scheduler_connection, worker_task
from triton_lab.remote.job import JobAnswer
from triton_lab.remote.job_answers import answer_of
from triton_lab.remote.queue_display import waiting
from triton_lab.remote.queue_position import PREFIX, QueuePosition, forbid_retries, place
from triton_lab.remote.remote_errors import DataError, RemoteError
from triton_lab.remote.worker_limits import BESIDE, PRINTED, READY

RESOURCE = "GPU"
"""The Dask resource of a worker with a GPU: ``--resources "GPU=1"``."""
LOST = 15.0  # seconds after which a job is given up, if no worker can run it or its worker is silent
_PAUSE = 0.5
_PLACE = 1 << 16  # bytes of a scheduler's report on a job


@dataclass
class Cluster:
    """A scheduler, by its address and security, and the limits of each job: seconds and bytes.

    ``kind`` is the kind of workers: ``"gpu"``, or ``"cpu"`` for any worker.
    """

    address: str
    kind: str
    security: Any
    seconds: float
    memory: int
    _client: Any = None
    _lock: Any = field(default_factory=threading.Lock)

    def client(self) -> Any:
        """A connected client; it connects again if the connection was lost. Raises TargetError."""
        with self._lock:
            if self._client is not None and self._client.status == "running":
                return self._client
            self._forget()
            self._client = scheduler_client.connected(self.address, self.security)
            try:
                self._client.sync(
                    self._client._run_on_scheduler, forbid_retries, callback_timeout=scheduler_client.CONNECT
                )
            except Exception as error:
                self._forget()
                raise TargetError(
                    _(
                        "the scheduler {address} refuses to install the job plugin ({error}). It needs the same "
                        "triton-lab as this notebook, and Dask's setting distributed.scheduler.pickle"
                    ).format(address=self.address, error=f"{error!s:.200}")
                ) from None
            return self._client

    def close(self) -> None:
        """End the connection."""
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close(timeout=1)

    def check(self) -> None:
        """Raise TargetError if no worker can run a job."""
        told = self.client().scheduler_info(n_workers=-1)
        try:
            offers = [one.get("resources", {}).get(RESOURCE) for one in told["workers"].values()]
        except (AttributeError, KeyError, TypeError):
            raise TargetError(
                _("the scheduler {address} does not list its workers").format(address=self.address)
            ) from None
        if not offers:
            raise TargetError(
                _("the scheduler {address} has no worker now: {start}").format(
                    address=self.address, start=translated(_START[self.kind])
                )
            )
        if self.kind == "gpu" and not any(offers):
            raise TargetError(
                _("no worker of the scheduler {address} offers a GPU: {start}").format(
                    address=self.address, start=translated(_START["gpu"])
                )
            )

    def run(self, job: bytes, kernel: str, only: str | None = None) -> JobAnswer:
        """Run ``job``, a packed `Job`, on the worker ``only`` or on any suitable one; returns its answer.

        Raises RemoteError if the job is lost, TargetError if no scheduler can be reached. An interrupt cancels the
        job.
        """
        with waiting(kernel, self.kind) as told:
            (answer,) = self._answers(self.client(), [job], kernel, told, workers=only)
        return answer

    def run_all(self, jobs: Sequence[bytes], name: str, shared: bytes, ended: Callable[[int], None]) -> list[JobAnswer]:
        """Run all ``jobs``, which share the packed bytes ``shared``; those travel once. Returns their answers.

        ``ended`` is called with the number of finished jobs. Raises as `run` does, and cancels the other jobs then.
        """
        answers = []
        for answer in self.each(jobs, name, shared):
            answers.append(answer)
            ended(len(answers))
        return answers

    def each(self, jobs: Sequence[bytes], name: str, shared: bytes = b"") -> Iterator[JobAnswer]:
        """Like `run_all`, but yields the answers one by one."""
        client = self.client()
        with _large():
            there = client.scatter(shared, hash=False) if shared else b""
        yield from self._answers(client, jobs, name, lambda _: None, there)

    def _answers(
        self,
        client: Any,
        jobs: Sequence[bytes],
        name: str,
        told: Callable[[QueuePosition], None],
        *shared: Any,
        workers: str | None = None,
    ) -> Iterator[JobAnswer]:
        """Send all jobs at once; yields the answers in order."""
        futures = []
        try:
            with _large():
                for job in jobs:
                    key = f"{PREFIX}{self.kind}-{name}-{uuid.uuid4().hex}"
                    sent = client.submit(
                        worker_task.perform,
                        job,
                        self.kind,
                        self.seconds,
                        self.memory,
                        *shared,
                        key=key,
                        pure=False,
                        resources={RESOURCE: 1} if self.kind == "gpu" else None,
                        workers=workers,
                    )
                    futures.append(sent)
            for future in futures:
                self._wait(client, future.key, name, _ended(future), told)
                yield self._result(client, future, name)
        finally:
            for future in futures:
                _let_go(future)

    def _wait(
        self, client: Any, key: str, kernel: str, ended: threading.Event, told: Callable[[QueuePosition], None]
    ) -> None:
        """Wait until the job ends. Raises RemoteError when it cannot end any more."""
        well = time.monotonic()  # the last time without trouble
        running: float | None = None
        while not ended.wait(_PAUSE):
            now = time.monotonic()
            found = _placed(client, key)
            if found is None or not found.able or found.silent > LOST:
                if now - well > LOST:
                    raise RemoteError(self._lost(kernel, found))
                continue
            well = now
            told(found)
            running = None if found.before or not found.worker else (running or now)
            if running is not None and now - running > self.seconds + LOST + READY:
                raise RemoteError(self._lost(kernel, found))

    def _lost(self, kernel: str, found: QueuePosition | None) -> str:
        if found is None:
            return _(
                "the scheduler {address} was lost during the launch of {kernel}. Nothing was written to "
                "the tensors; the next launch connects again."
            ).format(address=self.address, kernel=kernel)
        if found.able:
            return _(
                "the launch of {kernel} was given up: its worker {worker} no longer answers. Nothing was written to "
                "the tensors. Launch it again, and tell the worker's administrator."
            ).format(kernel=kernel, worker=found.worker)
        return _(
            "the launch of {kernel} was withdrawn: its worker is gone, and no other suitable worker "
            "came within {lost} s. Nothing was written to the tensors. Launch it again when a worker "
            "is there."
        ).format(kernel=kernel, lost=f"{LOST:g}")

    def _result(self, client: Any, future: Any, kernel: str) -> JobAnswer:
        import distributed

        try:
            result = future.result(timeout=scheduler_client.CONNECT + LOST)
        except (distributed.CancelledError, TimeoutError, OSError) as error:
            raise RemoteError(
                _(
                    "the result of the launch of {kernel} was lost on the way back ({type}). Nothing was "
                    "written to the tensors. Launch it again."
                ).format(kernel=kernel, type=type(error).__name__)
            ) from None
        except Exception:  # not read here: only Dask fails like this, since a job's own failures are data
            raise RemoteError(self._failure(kernel, _placed(client, future.key))) from None
        try:
            most = self.memory + BESIDE
            return answer_of(scheduler_connection.opened(result, most + 2 * PRINTED + BESIDE), most)
        except (scheduler_connection.Refused, DataError) as error:
            raise RemoteError(
                _(
                    "the answer to the launch of {kernel} cannot be read: {error}. Nothing was written to "
                    "the tensors. The workers need the same triton-lab as this notebook."
                ).format(kernel=kernel, error=error)
            ) from None

    def _failure(self, kernel: str, found: QueuePosition | None) -> str:
        if found is not None and found.killed:
            return _(
                "the launch of {kernel} was given up: the worker ended during the launch, and a launch "
                "is not repeated on another worker. Nothing was written to the tensors. The worker's log "
                "says why it ended."
            ).format(kernel=kernel)
        why = "no reason given" if found is None or not found.error else found.error
        return _(
            "the launch of {kernel} failed outside its process ({why}). The scheduler and its "
            "workers need the same triton-lab as this notebook. Nothing was written to the tensors."
        ).format(kernel=kernel, why=why)


_START = {
    "cpu": N_("start one with `dask worker`, as docs/shared-gpu.md describes"),
    "gpu": (
        f'start one with `dask worker ... --nthreads 1 --resources "{RESOURCE}=1"`, as docs/shared-gpu.md describes'
    ),
}


def _large() -> Any:
    """Within the context, Dask does not warn about large messages."""
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})


def _ended(future: Any) -> threading.Event:
    ended = threading.Event()
    future.add_done_callback(lambda _: ended.set())
    return ended


def _placed(client: Any, key: str) -> QueuePosition | None:
    """The position of a job; None if the scheduler does not report it."""
    if client.status != "running":
        return None
    try:
        told = client.sync(client._run_on_scheduler, place, key, callback_timeout=scheduler_client.CONNECT)
        return QueuePosition.read(scheduler_connection.opened(told, _PLACE))
    except Exception:  # the connection may break in many ways
        return None


def _let_go(future: Any) -> None:
    """Cancel a job; if it is still running, its process is ended."""
    try:
        if not future.done():
            future.client.cancel([future], asynchronous=False)
    except Exception:  # without a connection, the scheduler notices by itself
        pass
    future.release()
