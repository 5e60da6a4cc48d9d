"""A notebook's kernel gets ready for pictures while it is idle, and only one that means to use the lab."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

from triton_lab.notebook.startup.warmup import MODULES, Ready
from triton_lab.views.frontend_presence import TARGET
from triton_lab.views.notebook_output import HTML, SCENE, WIDGET

ROOT = Path(__file__).parents[3]


class Loop:
    """An event loop's ``call_later``, whose time passes when told to."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, seconds: float, then: Callable[[], None]) -> Loop:
        self.waiting.append((seconds, then))
        return self

    def cancel(self) -> None:
        self.waiting.clear()

    def passes(self) -> None:
        ((_, then),) = self.waiting
        self.waiting.clear()
        then()


def ready(*steps: Callable[[], None]) -> tuple[Loop, Ready]:
    def each() -> Iterator[None]:
        for step in steps:
            step()
            yield

    loop = Loop()
    return loop, Ready(lambda: loop.call_later, each())


def test_a_step_waits_for_an_idle_kernel_and_a_cell_goes_first() -> None:
    done: list[int] = []
    loop, mine = ready(lambda: done.append(1), lambda: done.append(2))
    mine.idle()
    assert not done and loop.waiting[0][0] >= 0.1
    loop.passes()
    assert done == [1]
    mine.busy()
    assert not loop.waiting
    mine.idle()
    loop.passes()
    assert done == [1, 2]
    loop.passes()
    assert not loop.waiting, "nothing is left"
    mine.idle()
    assert not loop.waiting


def test_what_fails_is_left_to_the_cell_that_needs_it() -> None:
    loop, mine = ready(lambda: 1 // 0)  # type: ignore[arg-type,return-value]
    mine.idle()
    loop.passes()
    assert not loop.waiting


def test_a_step_says_nothing(capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder) -> None:
    import logging
    import warnings

    def loud() -> None:
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        logging.getLogger("matplotlib.font_manager").warning("building the font cache")

    loop, mine = ready(loud)
    mine.idle()
    loop.passes()
    assert capfd.readouterr() == ("", "") and not recwarn.list
    assert not logging.getLogger("matplotlib.font_manager").disabled


def test_nothing_is_imported_before_torch_and_triton_are(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, mine = ready(lambda: None)
    monkeypatch.delitem(sys.modules, "torch")
    mine.idle()
    assert not loop.waiting


def test_what_is_got_ready_exists() -> None:
    code = (
        f"import importlib\nfor name in {MODULES}: importlib.import_module(name)\n"
        "from triton_lab.notebook.startup import warmup as ready"
    )
    subprocess.run([sys.executable, "-c", code + "\nlist(ready.steps())"], check=True, env=os.environ, cwd=ROOT)


KERNEL = """%%triton
@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)
double[(2,)](torch.ones(10), 10, BLOCK=8)
"""
# What a cell prints of itself: which of the heavy modules are there.
HEAVY = (
    "import sys, json\n"
    "print(json.dumps(sorted({'numpy', 'torch', 'matplotlib.figure', 'anywidget'} & set(sys.modules))))"
)


class Kernel:
    """A notebook's kernel as a wheel's environment starts it, from the side of a front end."""

    def __init__(self, folder: Path) -> None:
        startup = folder / "profile_default/startup"
        startup.mkdir(parents=True)
        (startup / "50-triton-lab.py").symlink_to(ROOT / "triton_lab/notebook/startup/ipython_startup.py")
        self.manager = KernelManager(kernel_name="python3")
        env = os.environ | {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder), "JPY_SESSION_NAME": "/a.ipynb"}
        self.manager.start_kernel(env=env, stderr=subprocess.DEVNULL)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def run(self, code: str) -> list[dict[str, Any]]:
        """The messages that a cell leads to."""
        name, found = self.client.execute(code), []
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != name:
                continue
            found.append(message)
            if message["content"].get("execution_state") == "idle":
                assert "error" not in [one["msg_type"] for one in found], found
                return found

    def heavy(self) -> list[str]:
        return list(json.loads(self.said(HEAVY)))

    def said(self, code: str) -> str:
        """What a cell prints."""
        return "".join(one["content"]["text"] for one in self.run(code) if one["msg_type"] == "stream")

    def announce(self) -> None:
        """What JupyterLab's extension does when it sees a ``%%triton`` cell."""
        content = {"comm_id": "a", "target_name": TARGET, "data": {}}
        self.client.shell_channel.send(self.client.session.msg("comm_open", content))


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    started = Kernel(tmp_path)
    yield started
    started.client.stop_channels()
    started.manager.shutdown_kernel(now=True)


def test_a_fresh_kernel_shows_its_first_scene_before_it_imports_matplotlib(kernel: Kernel) -> None:
    kernel.announce()
    assert kernel.heavy() == [], "the extension's comm imports nothing"
    kernel.run(
        "import torch, triton, triton.language as tl\n"
        # No sign of work, however slow it is.
        "from triton_lab.notebook.cell import progress_line as progress; progress.PATIENCE = 600\n"
        "shell = get_ipython(); send = shell.display_pub.publish\n"
        "def publish(data, *rest, **more):\n"
        "    import sys; seen.append('matplotlib' in sys.modules); send(data, *rest, **more)\n"
        "seen = []; shell.display_pub.publish = publish"
    )
    shown = [one for one in kernel.run(KERNEL) if one["msg_type"] in ("display_data", "update_display_data")]
    assert [one["msg_type"] for one in shown] == ["display_data", "update_display_data", "update_display_data"]
    # The open tab, then the others too, then the PNG, and the words that its picture has.
    first, whole, complete = (one["content"] for one in shown)
    assert [*first["data"]] == [SCENE, "text/plain"], "no widget for a front end that draws scenes"
    assert len(str(whole["data"][SCENE])) > len(str(first["data"][SCENE]))
    assert whole["data"] | {SCENE: None} == first["data"] | {SCENE: None}
    late = {kind: complete["data"][kind] for kind in (HTML, "image/png", "text/plain")}
    assert complete["data"] == whole["data"] | late, "nothing is drawn anew"
    assert late["text/plain"].startswith(whole["data"]["text/plain"] + "\n")
    assert first["transient"] == whole["transient"] == complete["transient"]
    assert first["metadata"] == whole["metadata"] == {"triton_lab": {"target": "cpu"}}
    assert "image/png" in complete["metadata"]
    assert kernel.said("print(seen)") == "[False, False, True]\n"


def test_an_idle_kernel_with_the_extension_loaded_gets_ready(kernel: Kernel) -> None:
    kernel.run("%load_ext triton_lab\nimport torch, triton, triton.language as tl")
    ended = "from triton_lab.notebook.startup import warmup as ready; import asyncio\n"
    ended += "while not any(one._done for _, one in ready._ready.values()):\n    one._step()\n"
    kernel.run(ended.replace("while", "(_, one), = ready._ready.values()\nwhile"))
    assert "matplotlib.figure" in kernel.heavy() and "anywidget" in kernel.heavy()
    # No sign of work, however slow it is.
    kernel.run("from triton_lab.notebook.cell import progress_line as progress; progress.PATIENCE = 600")
    (shown,) = [one for one in kernel.run(KERNEL) if one["msg_type"] == "display_data"]
    # The HTML has all that a front end shows which has not announced itself.
    assert {SCENE, HTML, "image/png"} <= shown["content"]["data"].keys() and WIDGET not in shown["content"]["data"]


def test_a_kernel_without_the_lab_in_use_is_left_alone(kernel: Kernel) -> None:
    kernel.run("import torch, triton")
    assert "matplotlib.figure" not in kernel.heavy()
    assert kernel.said("from triton_lab.notebook.startup import warmup as ready; print(ready._ready)") == "{}\n"
