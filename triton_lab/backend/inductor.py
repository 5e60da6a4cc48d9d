"""Where torch's Inductor looks for a CPU backend: under the name ``cpu``.

With ``torch._inductor.config.cpu_backend = "triton"`` the kernels of torch.compile are Triton's for tensors of the CPU,
too, and our target runs them. Inductor asks for that target by name. A plugin of this name for good would make torch
believe in Triton on every CPU, and compile differently for people who never asked; so the name is there only once
Inductor was told to use it.
"""

from __future__ import annotations

import sys
from typing import Any

_NAME = "cpu"
_ITS_OWN = "@triton_heuristics."  # begins the decorators of every kernel that Inductor writes


def wrote(source: Any) -> bool:
    """Whether Inductor wrote the kernel that Triton compiled from ``source``."""
    return any(line.startswith(_ITS_OWN) for line in getattr(source.fn, "raw_src", ()))


def register(compiler: Any, driver: Any) -> None:
    """Be found by Inductor's name with these classes, if it uses Triton on the CPU and nobody else has the name."""
    config = sys.modules.get("torch._inductor.config")
    if config is None or config.cpu_backend != "triton":
        return
    from triton.backends import Backend, backends

    if _NAME in backends:
        return

    # Triton wants one backend for each target, and one active driver: these are not counted twice.
    class Compiler(compiler):
        supports_target = staticmethod(lambda target: False)

    class Driver(driver):
        is_active = classmethod(lambda cls: False)

    backends[_NAME] = Backend(compiler=Compiler, driver=Driver)
