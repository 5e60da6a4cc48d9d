"""The process that a worker keeps ready, and the one that it forks for each job.

The first imports what jobs of its kind need, and then reads requests, a line of JSON each, from standard input: the
``folder`` with the files ``job`` and, perhaps, ``shared``, and ``memory``, the bytes that the job may take over what
is there already. It forks; the new process does that one job, writes the file ``answer``, and is gone, with whatever
it did to itself and to the GPU. The first answers in lines of JSON on what was its standard output: ``pid`` at the
begin, ``status`` at the end. It ends when nobody asks any more, and takes a job that still runs with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import re
import resource
import select
import signal
import sys
import traceback
import warnings
from pathlib import Path

from triton_lab.remote.job import FORMAT, Answer, Called, Job, Raised

READY = 180.0  # seconds that it may take to import what jobs need
IDLE = 900.0  # and that it waits for another request
PRINTED = 1 << 20  # bytes that are kept of what a job prints
_PAUSE = 0.005


def main() -> None:
    kind = sys.argv[2]
    told = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    _get_ready(kind)
    while select.select([sys.stdin], [], [], IDLE)[0]:
        line = sys.stdin.readline()
        if not line:
            return
        with warnings.catch_warnings():
            # NumPy's threads are there, and know what a fork is.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            _work(**json.loads(line))
        told.write(json.dumps({"pid": pid}) + "\n")
        told.write(json.dumps({"status": _status(pid)}) + "\n")


def _get_ready(kind: str) -> None:
    """Import what jobs need. CUDA must not begin before the fork."""
    if kind == "cpu":
        import triton_lab.launch.part
        import triton_lab.remote.on_cpu
    else:
        import torch  # noqa: F401

        import triton_lab.remote.on_gpu  # noqa: F401


def _status(pid: int) -> int:
    """How the process ended, as `os.waitpid` has it; where nobody is there any more to be told, it is ended too."""
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return status
        if select.select([sys.stdin], [], [], _PAUSE)[0] and not os.read(0, 1):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            os._exit(0)


def _work(folder: str, memory: int) -> None:
    """Do the job in ``folder``; the process ends."""
    code = 1
    try:
        os.setsid()
        said = os.open(Path(folder) / "said", os.O_RDWR | os.O_CREAT | os.O_APPEND)
        null = os.open(os.devnull, os.O_RDONLY)
        for old, new in ((null, 0), (said, 1), (said, 2)):
            os.dup2(old, new)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        answer = _answer(Path(folder), memory)
        _write(Path(folder), answer)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _answer(folder: Path, memory: int) -> Answer:
    job: Job = pickle.loads((folder / "job").read_bytes())
    if job.format != FORMAT:
        return Answer(
            failure=Raised("RuntimeError", "the notebook and this worker have different versions of triton-lab")
        )
    try:
        if job.kind == "cpu":
            _bound(memory)
            if isinstance(job.work, Called):
                from triton_lab.remote import on_call

                return on_call.perform(job.work, folder / "shared")
            from triton_lab.remote import on_cpu

            return on_cpu.perform(job)
        _bound_gpu(memory)
        from triton_lab.remote import on_gpu

        return on_gpu.perform(job)
    except MemoryError as error:
        return Answer(failure=Raised("MemoryError", str(error)))
    except Exception as error:  # compilers and drivers raise whatever they like
        plain = error.args if all(type(one) in (int, float, str) for one in error.args) else ()
        return Answer(failure=Raised(type(error).__name__, str(error), plain))


def _bound(memory: int) -> None:
    """Let this process take so many bytes over what it has."""
    found = re.search(r"^VmData:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    has = int(found[1]) << 10 if found else 0
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = has + memory
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


def _bound_gpu(memory: int) -> None:
    """The same for the CPU's memory once the GPU's driver has taken its own, and for the GPU's."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.init()  # type: ignore[no-untyped-call]
        _, total = torch.cuda.mem_get_info()
        torch.cuda.set_per_process_memory_fraction(min(1.0, memory / total))
    _bound(memory)


def _write(folder: Path, answer: Answer) -> None:
    sys.stdout.flush()
    part = folder / "answer.part"
    part.write_bytes(pickle.dumps(answer, protocol=5))
    part.rename(folder / "answer")
