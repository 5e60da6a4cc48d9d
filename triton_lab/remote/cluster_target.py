"""The shared machine as Triton's device: Triton's front end runs here, the launch runs there."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from triton_lab.backend.driver import CPUDriver
from triton_lab.backend.identity import DEVICE
from triton_lab.backend.plugin import launcher
from triton_lab.backend.plugin.device_mirror import Mirrors
from triton_lab.backend.plugin.kernel_arguments import ArgumentError, leaves
from triton_lab.backend.plugin.kernel_loading import Loaded
from triton_lab.backend.plugin.launch_regions import regions_of
from triton_lab.backend.plugin.launcher import Launcher, prepared
from triton_lab.backend.plugin.recorders import LaunchCall, recorders
from triton_lab.backend.plugin.terminal_progress import bar
from triton_lab.backend.source.pointer_preview import follows_pointers
from triton_lab.backend.targets import benchmark_events
from triton_lab.backend.targets.gpu_timer import Time
from triton_lab.localization import _
from triton_lab.remote.cluster import Cluster
from triton_lab.remote.job import (
    CompiledJob,
    Interpreted,
    Job,
    JobAnswer,
    Sent,
    ShardWork,
)
from triton_lab.remote.job_answers import check_done, put
from triton_lab.remote.job_arguments import argument_of
from triton_lab.remote.remote_errors import DataError, RemoteError, raised
from triton_lab.remote.scheduler_address import check_address
from triton_lab.remote.scheduler_client import installed
from triton_lab.remote.wire_data import packed, unpacked

# A job is compiled again for at most so many GPUs of other architectures.
_OTHERS = 3
# The assumed GPU of a worker, until it reports its own.
_FIRST: tuple[str, int | str, int] = ("cuda", 90, 32)


class ClusterDevice(int):
    """A number that identifies a cluster; Triton keeps the kernels for each device number apart."""

    def __new__(cls, driver: RemoteDriver) -> ClusterDevice:
        made = super().__new__(cls, DEVICE)
        made.driver = driver
        return made

    driver: RemoteDriver

    def __eq__(self, other: object) -> bool:
        return type(other) is ClusterDevice and other.driver is self.driver

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("triton_lab", id(self.driver)))


class RemoteDriver(CPUDriver):
    """Acts as the CPU's driver here; its launches run on a cluster's workers."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__()
        self.cluster = cluster
        self.kind = cluster.kind
        # The GPU of the last worker.
        self.target = _FIRST
        self._device = ClusterDevice(self)

    @property
    def name(self) -> str:
        """The name under which autotuners store their choices."""
        return f"{self.kind} at {self.cluster.address}"

    def launcher_cls(self, source: Any, metadata: Any) -> Any:
        if metadata.target.backend != self.get_current_target().backend:
            return super().launcher_cls(source, metadata)
        from triton_lab.backend.plugin.kernel_loading import announce

        announce(source, metadata)
        return RemoteLauncher(self, source, metadata)

    def get_current_device(self) -> int:
        return self._device

    @classmethod
    def is_active(cls) -> bool:
        return False


class RemoteLauncher(Launcher):
    """Sends each launch to a worker. A recorded launch also runs here on the CPU, where it can be observed."""

    def __init__(self, driver: RemoteDriver, source: Any, metadata: Any) -> None:
        super().__init__(source, metadata)
        self.driver = driver

    def launch(self, function: Loaded, grid: tuple[int, int, int], objects: Sequence[Any]) -> None:
        """Run the kernel over ``grid``. Raises KernelError, ArgumentError, RemoteError, and GPU drivers' errors."""
        if not recorders.hearing() or benchmark_events.is_trial():
            self.run(function, grid, objects)
        elif self.driver.kind == "cpu":
            # An observed launch must run here, and its result is the same.
            super().launch(function, grid, objects)
        else:
            from triton_lab.backend.targets import both_targets

            both_targets.launch(self, grid, (), objects, functools.partial(self.run, function, grid, objects))

    def run(
        self, function: Loaded, grid: tuple[int, int, int], objects: Sequence[Any], seconds: float = 0.0
    ) -> tuple[Time, str]:
        """Launch the kernel there, and write the returned bytes into the tensors.

        Returns its time, measured for ``seconds``, and the place where it ran.
        """
        if 0 in grid:
            return Time.of([0.0]), ""
        self._check_pointers()
        mirrors = Mirrors()
        call = None
        if self.driver.kind == "cpu":
            call = prepared(self.source, self.metadata, function, grid, objects, mirrors)
            regions = call.memory.regions
        else:
            regions = regions_of(leaves(self.source.signature, objects), mirrors)
        try:
            memory = tuple(Sent(one.start, one.data.tobytes(), one.writable) for one in regions if one.size)
            self._check_size(memory)
            answer = self._on_cpu(call, memory) if call is not None else self._on_gpu(grid, objects, memory, seconds)
            sys.stdout.write(answer.printed)
            if answer.failure is not None:
                raise raised(answer, call, self.metadata.name) from None
            put(answer, regions)
            mirrors.write_back()
        finally:
            if call is not None:
                call.memory.resolve = None
        time = replace(Time.of(answer.times, answer.device), compile=answer.compile)
        benchmark_events.spend(time.median)
        return time, " at ".join(filter(None, (answer.device, answer.worker)))

    def apart(self, call: LaunchCall, work: Callable[[Any, Any], Any], whole: Any, parts: Sequence[Any]) -> list[Any]:
        """Run each part as a job for the CPU. Raises RemoteError before anything is written."""
        from triton_lab.launch.sharding.shard import perform

        assert work is perform  # workers know only this function: no function travels with a launch
        name = call.metadata.name
        jobs = [packed(Job(name, call.grid, (), ShardWork(part))) for part in parts]
        with bar(name, launcher.progress) as told:
            answers = self.driver.cluster.run_all(
                jobs, name, packed(whole), lambda ended: None if told is None else told(ended, len(parts))
            )
        for answer in answers:
            if answer.failure is not None:
                raise raised(answer, None, name) from None
        return [self._done(answer, whole, part) for answer, part in zip(answers, parts, strict=True)]

    def _done(self, answer: JobAnswer, whole: Any, part: range) -> Any:
        try:
            return check_done(unpacked(answer.returned, self.driver.cluster.memory), whole, part)
        except DataError as error:
            raise RemoteError(
                _(
                    "the result of {worker} for the launch of {name} cannot be read: {error}. Nothing was "
                    "written to the tensors"
                ).format(worker=answer.worker, name=self.metadata.name, error=error)
            ) from None

    def _on_cpu(self, call: Any, memory: tuple[Sent, ...]) -> JobAnswer:
        owners = [None if at is None else tuple(one.start for one in at if one.size) for at in call.owners]
        values = tuple(value for leaf in call.leaves for value in leaf.values)
        work = Interpreted(call.executable.plan.text, values, tuple(owners), launcher.limits)
        return self._sent(Job(self.metadata.name, call.grid, memory, work))

    def _on_gpu(
        self, grid: tuple[int, int, int], objects: Sequence[Any], memory: tuple[Sent, ...], seconds: float
    ) -> JobAnswer:
        only = None
        for _unused in range(_OTHERS):
            answer = self._sent(Job(self.metadata.name, grid, memory, self._work(objects, seconds)), only)
            if answer.other is None:
                return answer
            self.driver.target, only = answer.other, answer.worker
        raise RemoteError(
            _(
                "the launch of {name} found no matching GPU: the workers' GPU changed each time the "
                "launch was prepared for one. Nothing was written to the tensors. Launch it again."
            ).format(name=self.metadata.name)
        )

    def _work(self, objects: Sequence[Any], seconds: float) -> CompiledJob:
        """The kernel as Triton's front end reads it for the worker's GPU, and the arguments."""
        import triton

        from triton_lab.compiled.architecture import Architecture
        from triton_lab.compiled.front_end import read
        from triton_lab.compiled.launch_compilation import chosen_options, had

        backend, arch, lanes = self.driver.target
        architecture = Architecture(str(arch), backend, arch, lanes, None)
        given = had(chosen_options(self.metadata), architecture, {})
        request = read(self.source, architecture, given)
        signature = tuple(self.source.signature.items())
        arguments = tuple(argument_of(name, type, one) for (name, type), one in zip(signature, objects, strict=True))
        return CompiledJob(
            request.module, self.driver.target, request.options, triton.__version__, signature, arguments, seconds
        )

    def _sent(self, job: Job, only: str | None = None) -> JobAnswer:
        return self.driver.cluster.run(packed(job), job.kernel, only)

    def _check_size(self, memory: Sequence[Sent]) -> None:
        size, most = sum(len(sent.data) for sent in memory), self.driver.cluster.memory
        if size > most:
            raise ArgumentError(
                _(
                    "the tensors of {name}, with all of their storages, have {size} MB, but a job may have "
                    "at most {most} MB. Allow more with lab.target(..., max_bytes=...)"
                ).format(name=self.metadata.name, size=f"{size / 2**20:.0f}", most=f"{most / 2**20:.0f}")
            )

    def _check_pointers(self) -> None:
        """Raise ArgumentError for a kernel that follows addresses in memory: what they point to would not travel."""
        if any(type in ("*i64", "*u64") for type in self.source.signature.values()) and follows_pointers(self.source):
            raise ArgumentError(
                _(
                    "the kernel {name} uses addresses that it loads from memory, but the memory behind them is not "
                    "sent to a worker. Pass the tensors themselves, or run the kernel on this machine's target 'cpu'"
                ).format(name=self.metadata.name)
            )


_drivers: list[RemoteDriver] = []


def driver_of(cluster: Cluster) -> RemoteDriver:
    """The driver for such a cluster. It is made once, since Triton keeps compiled kernels by driver."""
    for driver in _drivers:
        known = driver.cluster
        if (known.address, known.kind, known.security) == (cluster.address, cluster.kind, cluster.security):
            known.seconds, known.memory = cluster.seconds, cluster.memory
            return driver
    _drivers.append(RemoteDriver(cluster))
    return _drivers[-1]


def shared_driver(
    kind: str, scheduler: str, security: Any, insecure: bool, max_seconds: float, max_bytes: int
) -> RemoteDriver:
    """The driver for a scheduler, which was asked whether it has workers of that ``kind``, ``"cpu"`` or ``"gpu"``.

    Raises ValueError for an address that is not safe, TargetError where Dask, the scheduler or such a worker is not
    there.
    """
    check_address(scheduler, insecure)
    installed()
    driver = driver_of(Cluster(scheduler, kind, security, max_seconds, max_bytes))
    driver.cluster.check()
    return driver


def disconnect() -> None:
    """End all connections; the next launch connects again."""
    for driver in _drivers:
        driver.cluster.close()
