"""What processes that begin warm (`tests.warm`) have imported of Triton and of the lab, for three kinds of tests.

Each function is called once, in the process that the others are forks of. None launches a kernel.
"""

from __future__ import annotations

import importlib

# What a launch imports.
LAUNCH = (
    *("torch", "triton", "triton.compiler.code_generator", "triton.experimental.gluon.nvidia.hopper"),
    *("triton_lab", "triton_lab.backend.plugin.launcher", "triton_lab.backend.plugin.array_arguments"),
    *("triton_lab.backend.plugin.triton_cache", "triton_lab.backend.targets.offload", "triton_lab.native.engine"),
)
# What a script's process imports besides, and the report of its launches.
SCRIPT = (
    *("triton_lab.command.main", "triton_lab.command.run_and_check", "triton_lab.command.launch_listener"),
    *("triton_lab.command.launch_rows", "triton_lab.command.sarif", "triton_lab.command.exception_text"),
    *("triton_lab.backend.plugin.recorders", "triton_lab.launch.checks.check_run", "rich.console"),
    *("triton_lab.launch.diagnosis.tried_fixes", "triton_lab.testing"),
)


def launches() -> None:
    """For processes that launch kernels."""
    _import(*LAUNCH)
    from triton.runtime.cache import triton_key

    from triton_lab.interpreter import ops

    ops.load_all()
    # Each process that compiles a kernel reads all of Triton's files for this, its library of 300 MB among them.
    triton_key()


def scripts() -> None:
    """For `triton-lab check` and `triton-lab run`, whose scripts become forks, too."""
    launches()
    _import(*SCRIPT)
    from tests.command import forked_script

    forked_script.install()


def kernels() -> None:
    """For notebooks' kernels: what warms one up while it is idle."""
    launches()
    from triton_lab.notebook.startup import warmup

    _import(*warmup.MODULES, "triton_lab.magics", "triton_lab.launch.checks.check_run")


def _import(*modules: str) -> None:
    for module in modules:
        importlib.import_module(module)
