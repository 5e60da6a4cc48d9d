"""A `%%triton` cell in a kernel of its own, as JupyterLab runs it, from the side of a front end that draws scenes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).parents[1]
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\ntorch.set_num_threads(1)"
CELL = """%%triton
@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)
add[(8,)](torch.rand(1000), torch.rand(1000), torch.empty(1000), 1000, BLOCK=128)
"""
IDLE = 60.0  # seconds at most that a kernel takes to get ready


def time_runs(idle: bool) -> list[list[float]]:
    """Seconds of the processor from Run to the live picture and to the PNG, and the clock's to the first: of a run, and
    of one after it.
    """
    with _kernel() as (client, process):
        message = client.session.msg("comm_open", {"comm_id": "a", "target_name": "triton_lab.views", "data": {}})
        client.shell_channel.send(message)
        list(_messages(client, IMPORTS))
        if idle:
            _until_quiet(process)
        return [_timed(client, process) for _ in range(2)]


def _timed(client: BlockingKernelClient, process: int) -> list[float]:
    start, shown = _seconds(process), []
    clock, seen = time.monotonic(), []
    for kind, content in _messages(client, CELL):
        if kind in ("display_data", "update_display_data") and len(content["data"]) > 1:  # no sign of work
            shown.append(_seconds(process) - start)
            seen.append(time.monotonic() - clock)
    return [shown[0], shown[-1], seen[0]]


def _until_quiet(process: int) -> None:
    """Wait until the kernel has not worked for a second."""
    end, before = time.monotonic() + IDLE, -1.0
    while time.monotonic() < end and before != (now := _seconds(process)):
        before = now
        time.sleep(1.5)


def _seconds(process: int) -> float:
    """What the process has computed so far, in its own and the system's name."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _messages(client: BlockingKernelClient, code: str) -> Iterator[tuple[str, Any]]:
    name = client.execute(code)
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != name:
            continue
        if message["msg_type"] == "error":
            raise RuntimeError(message["content"]["evalue"])
        yield message["msg_type"], message["content"]
        if message["content"].get("execution_state") == "idle":
            return


@contextmanager
def _kernel() -> Iterator[tuple[BlockingKernelClient, int]]:
    """A kernel as a wheel's environment starts it, and its process."""
    with TemporaryDirectory() as folder:
        startup = Path(folder) / "profile_default/startup"
        startup.mkdir(parents=True)
        (startup / "50-triton-lab.py").symlink_to(ROOT / "triton_lab/notebook/startup/ipython_startup.py")
        manager = KernelManager(kernel_name="python3")
        env = os.environ | {"PYTHONPATH": str(ROOT), "IPYTHONDIR": folder, "JPY_SESSION_NAME": "/a.ipynb"}
        manager.start_kernel(env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
            yield client, manager.provisioner.process.pid  # type: ignore[union-attr,attr-defined]
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
