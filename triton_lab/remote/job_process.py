"""The process that a worker keeps ready, and the process that it forks for each job.

The first process imports what jobs of its kind need. Then it reads requests from the socket that is its standard
input: one JSON message each, with open files: the job, the data it shares with others, its output, and its answer. It
forks a process that `contain`s the job. That one does the job, writes the answer, and ends, with everything it has
started and done to itself and to the GPU. The first process answers in lines of JSON on its original standard output:
``pid`` at the start, ``status`` at the end. It ends after a while without requests, or with its worker, and then also
ends a running job.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

from triton_lab.localization import _
from triton_lab.processes import isolation, linux
from triton_lab.processes.descendants import end_descendants
from triton_lab.remote import job_folders, worker_limits
from triton_lab.remote.job import FORMAT, Called, CompiledJob, Job, JobAnswer, Raised, ShardWork
from triton_lab.remote.remote_errors import DataError
from triton_lab.remote.wire_data import NotData, packed, unpacked

FILES = ("job", "shared", "said", "answer")
_PAUSE = 0.005
_FIRST_FILE = 3


def main() -> None:
    kind, folder = sys.argv[2], Path(sys.argv[3])
    told = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    asked = socket.socket(fileno=os.dup(0))
    linux.end_with_parent()
    linux.take_in_orphans()
    apart = "apart" in sys.argv[4:] and isolation.namespaces_exist()
    _get_ready(kind)
    while select.select([asked], [], [], worker_limits.IDLE)[0]:
        line, files, _, _ = socket.recv_fds(asked, worker_limits.REQUEST, len(FILES))
        if not line:
            job_folders.remove(folder)
            return
        request = json.loads(line)
        with warnings.catch_warnings():
            # Python warns about forks with threads; NumPy's threads are safe in a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            _contain(request, files, told, apart)
        for file in files:
            os.close(file)
        told.write(json.dumps({"status": _status(pid, asked, folder)}) + "\n")


def _get_ready(kind: str) -> None:
    """Import what jobs need. CUDA must not be initialised before the fork."""
    if kind == "cpu":
        import triton_lab.remote.cpu_job
    else:
        import torch  # noqa: F401

        import triton_lab.remote.gpu_job
    import triton_lab.remote.wire_records  # noqa: F401


def _status(pid: int, asked: socket.socket, folder: Path) -> int:
    """Wait for the job; returns its status from `os.waitpid`. If the worker is gone, end this process and the job."""
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            end_descendants()  # of a job that has ended the process which it was to be ended by
            return status
        if select.select([asked], [], [], _PAUSE)[0] and not asked.recv(1):
            end_descendants()
            job_folders.remove(folder)
            os._exit(0)


def _contain(request: dict[str, Any], files: list[int], told: Any, apart: bool) -> None:
    """Run in the process forked for a job: have the job done, and end with its status."""
    code = 1
    try:
        linux.end_with_parent()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        folder = Path(request["folder"])
        status = isolation.contain(
            lambda: _work(folder, request["memory"], files),
            lambda child: told.write(json.dumps({"pid": child}) + "\n"),
            apart=apart,
            private=folder,
            hidden=job_folders.all_of(folder),
        )
        code = os.waitstatus_to_exitcode(status)
        if code < 0:  # end by the job's signal
            with contextlib.suppress(OSError, ValueError):
                signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code & 0xFF)


def _work(folder: Path, memory: int, files: list[int]) -> int:
    """Do the job; returns the exit code. It keeps no open files but its own."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    job, shared, said, answer = (os.fdopen(os.dup(file), mode) for file, mode in zip(files, _MODES, strict=True))
    for old, new in ((null, 0), (said.fileno(), 1), (said.fileno(), 2)):
        os.dup2(old, new)
    _close_others(job.fileno(), shared.fileno(), answer.fileno())
    worker_limits.bound_to(resource.RLIMIT_FSIZE, memory + worker_limits.BESIDE)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    try:
        made = packed(_answer(job.read(), shared.read(), memory))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    answer.write(made)
    answer.flush()
    return 0


_MODES = ("rb", "rb", "ab", "wb")


def _close_others(*kept: int) -> None:
    """Close the files of the parent processes, above all the connection to the worker."""
    most = max(map(int, os.listdir("/proc/self/fd")), default=_FIRST_FILE)
    for file in range(_FIRST_FILE, most + 1):
        if file not in kept:
            with contextlib.suppress(OSError):
                os.close(file)


def _answer(job: bytes, shared: bytes, memory: int) -> JobAnswer:
    try:
        return _done(job, shared, memory)
    except MemoryError as error:
        return JobAnswer(failure=Raised("MemoryError", str(error)))
    except NotData as error:
        return JobAnswer(
            failure=Raised("TypeError", _("the returned value cannot be sent: {error}").format(error=error))
        )
    except Exception as error:  # compilers, drivers and a notebook's functions raise errors of any type
        plain = error.args if all(type(one) in (int, float, str) for one in error.args) else ()
        return JobAnswer(failure=Raised(type(error).__name__, _text(error), plain))


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception as other:
        return f"(no message: {type(other).__name__})"


def _done(packed_job: bytes, shared: bytes, memory: int) -> JobAnswer:
    try:
        job = unpacked(packed_job, len(packed_job))
    except DataError:
        job = None
    if type(job) is not Job or job.format != FORMAT:
        return JobAnswer(
            failure=Raised("RuntimeError", _("the notebook and this worker have different versions of triton-lab"))
        )
    if isinstance(job.work, CompiledJob):
        worker_limits.bound_gpu(memory)
        from triton_lab.remote import gpu_job

        return gpu_job.perform(job)
    worker_limits.bound_memory(memory)
    if isinstance(job.work, Called):
        from triton_lab.remote import call_job

        return call_job.perform(job.work)
    from triton_lab.remote import cpu_job

    return cpu_job.perform_shard(job.work, shared) if isinstance(job.work, ShardWork) else cpu_job.perform(job)
