"""Real schedulers and workers of Dask's, in processes of their own, with certificates made for the occasion."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import distributed

from triton_lab.processes.descendants import descendants

ROOT = Path(__file__).parents[2]
# In the environment of all that is started here, and of what that starts.
_TOKEN = ("TRITON_LAB_TESTS", uuid.uuid4().hex)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@dataclass
class Certificates:
    """An authority's, and one that it has signed, as files."""

    folder: Path

    def __post_init__(self) -> None:
        made = distributed.Security.temporary()
        self.folder.mkdir()
        for name, text in (("ca", made.tls_ca_file), ("cert", made.tls_client_cert), ("key", made.tls_client_key)):
            self.file(name).write_text(text)

    def file(self, name: str) -> Path:
        return self.folder / f"{name}.pem"

    @property
    def options(self) -> list[str]:
        files = (("--tls-ca-file", "ca"), ("--tls-cert", "cert"), ("--tls-key", "key"))
        return [word for option, name in files for word in (option, str(self.file(name)))]

    @property
    def security(self) -> Any:
        return distributed.Security(
            tls_ca_file=str(self.file("ca")),
            tls_client_cert=str(self.file("cert")),
            tls_client_key=str(self.file("key")),
            require_encryption=True,
        )


@dataclass
class Processes:
    """What has been started, until the end of a test."""

    folder: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, module: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{module}-{len(self.running)}.log").open("wb")
        paths = os.pathsep.join([str(ROOT), str(plugin(self.folder)), os.environ.get("PYTHONPATH", "")])
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *arguments],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": paths,
                _TOKEN[0]: _TOKEN[1],
                **environment,
            },
        )
        log.close()
        self.running.append(process)
        return process

    def close(self) -> None:
        for process in reversed(self.running):
            process.kill()
            process.wait()


def jobs_running() -> int:
    """How many processes there are that do a job now, of workers that were started here."""
    return sum(_does_a_job(process) for process in Path("/proc").glob("[0-9]*"))


def does_a_job(worker: subprocess.Popen[bytes]) -> bool:
    """Whether one of a worker's processes does a job now."""
    return any(_does_a_job(Path("/proc") / str(one.number)) for one in descendants(worker.pid))


def _does_a_job(process: Path) -> bool:
    try:
        parent = re.search(r"^PPid:\t(\d+)", (process / "status").read_text(), re.MULTILINE)
        ours = "=".join(_TOKEN).encode() in (process / "environ").read_bytes()
        names = [(one / "cmdline").read_bytes() for one in (process, Path("/proc") / parent[1])] if parent else [b""]
        return ours and all(b"triton_lab.remote.job_process" in name for name in names)
    except OSError:  # it has just ended
        return False


def plugin(folder: Path) -> Path:
    """A folder in which Triton finds the GPU that is none."""
    found = folder / "plugin" / "fakegpu-1.dist-info"
    if not found.exists():
        found.mkdir(parents=True)
        (found / "METADATA").write_text("Metadata-Version: 2.1\nName: fakegpu\nVersion: 1\n")
        (found / "entry_points.txt").write_text("[triton.backends]\nfakegpu = tests.remote.fakegpu\n")
    return found.parent


@dataclass
class Shared:
    """A scheduler with workers."""

    address: str
    certificates: Certificates
    processes: Processes
    worker: subprocess.Popen[bytes] | None = None

    def add_worker(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """Another worker, once it is known to the scheduler."""
        with distributed.Client(
            self.address, security=self.certificates.security, set_as_default=False, timeout=120
        ) as client:
            before = len(client.scheduler_info(n_workers=-1)["workers"])
            process = self.processes.start(
                *("dask_worker", self.address, "--no-nanny", "--no-dashboard", "--nthreads", "1"),
                *self.certificates.options,
                *arguments,
                **{"TRITON_LAB_FAKE_GPU": "1", **environment},
            )
            client.wait_for_workers(before + 1, timeout=120)
        return process


def _address(known: Path, scheduler: subprocess.Popen[bytes]) -> str:
    """Where a scheduler that has just been started listens, as it writes into a file."""
    end = time.monotonic() + 120
    while time.monotonic() < end and scheduler.poll() is None:
        with contextlib.suppress(OSError, ValueError):  # not there yet, or half of it
            return str(json.loads(known.read_text())["address"])
        time.sleep(0.05)
    raise RuntimeError("the scheduler did not start")


@contextlib.contextmanager
def shared(folder: Path, *worker: str, **environment: str) -> Iterator[Shared]:
    """A scheduler that speaks TLS, with one worker, whose command line ends so."""
    folder.mkdir(exist_ok=True)
    processes, certificates = Processes(folder), Certificates(folder / "certificates")
    known = folder / "scheduler.json"
    try:
        scheduler = processes.start(
            *("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--protocol", "tls", "--no-dashboard"),
            *("--no-show", "--scheduler-file", str(known)),
            *certificates.options,
        )
        # It chooses a free port itself: one that is looked for before may be taken in between.
        made = Shared(_address(known, scheduler), certificates, processes)
        made.worker = made.add_worker(*worker, **environment)
        yield made
    finally:
        processes.close()
