"""Where torch's Inductor looks for a CPU backend: under the name ``cpu``.

With ``torch._inductor.config.cpu_backend = "triton"`` the kernels of torch.compile are Triton's for tensors of the CPU,
too, and our target runs them. Inductor asks for that target by name. A plugin of this name for good would make torch
believe in Triton on every CPU, and compile differently for people who never asked; so the name is there only once
Inductor was told to use it.
"""

from __future__ import annotations

import sys

_NAME = "cpu"


def register() -> None:
    """Be found under Inductor's name, if Inductor was told to use Triton on the CPU and nobody else has the name."""
    config = sys.modules.get("torch._inductor.config")
    if config is None or config.cpu_backend != "triton":
        return
    from triton.backends import Backend, backends

    if _NAME in backends:
        return
    from triton_lab.backend.compiler import CPUBackend
    from triton_lab.backend.driver import CPUDriver

    # Triton wants one backend for each target, and one active driver: these are not counted twice.
    class Compiler(CPUBackend):
        supports_target = staticmethod(lambda target: False)

    class Driver(CPUDriver):
        is_active = classmethod(lambda cls: False)

    backends[_NAME] = Backend(compiler=Compiler, driver=Driver)
