"""What processes that begin warm (`tests.warm`) have imported of Triton and of the lab, for two kinds of tests.

Each function is called once, in the process that the others are forks of. None launches a kernel.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

from tests import warm

# What a launch imports, its checks, and the process of a script with the report of its launches.
LAUNCH = (
    *("torch", "triton", "triton.compiler.code_generator", "triton.experimental.gluon.nvidia.hopper"),
    *("triton_lab", "triton_lab.backend.plugin.launcher", "triton_lab.backend.plugin.array_arguments"),
    *("triton_lab.backend.plugin.triton_cache", "triton_lab.backend.targets.offload", "triton_lab.native.engine"),
    *("triton_lab.launch.checks.check_run", "triton_lab.launch.diagnosis.tried_fixes"),
)
SCRIPT = (
    *("triton_lab.command.main", "triton_lab.command.run_and_check", "triton_lab.command.launch_listener"),
    *("triton_lab.command.launch_rows", "triton_lab.command.sarif", "triton_lab.command.exception_text"),
    *("triton_lab.backend.plugin.recorders", "triton_lab.testing", "rich.console"),
)


def launches() -> None:
    """For processes that launch kernels; the scripts of `triton-lab check` and `triton-lab run` become forks, too."""
    _import(*LAUNCH, *SCRIPT)
    _compute_once()
    from tests.command import forked_script

    forked_script.install()


def kernels() -> None:
    """For notebooks' kernels: what warms one up while it is idle."""
    from ipykernel.zmqshell import ZMQInteractiveShell

    from triton_lab.notebook.cell import excepthook
    from triton_lab.notebook.startup import warmup

    _import(*LAUNCH, *warmup.MODULES, "triton_lab.magics")
    _compute_once()
    # The lab shows errors in the shell that there is when it is imported.
    start = ZMQInteractiveShell.__init__

    def started(self, *arguments, **settings) -> None:
        start(self, *arguments, **settings)
        excepthook.tell(self)

    ZMQInteractiveShell.__init__ = started


def offer_kernel(folder: Path) -> None:
    """Python for Jupyter, in a folder of `JUPYTER_PATH`: its kernels are forks of what `kernels` prepares."""
    from jupyter_client.kernelspec import get_kernel_spec

    spec = get_kernel_spec("python3").to_dict()
    spec["argv"] = warm.command(*spec["argv"][1:], modules=warm.KERNEL)
    place = folder / "kernels" / "python3"
    place.mkdir(parents=True)
    (place / "kernel.json").write_text(json.dumps(spec))


def _compute_once() -> None:
    """What each process with a launch finds out: its operations, and Triton's key, for which it reads all of Triton's
    files, a library of 300 MB among them."""
    from triton.runtime.cache import triton_key

    from triton_lab.interpreter import ops

    ops.load_all()
    triton_key()


def _import(*modules: str) -> None:
    for module in modules:
        importlib.import_module(module)
