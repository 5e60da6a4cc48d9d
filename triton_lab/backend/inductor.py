"""Registers our backend under the name ``cpu``, where torch's Inductor looks for it.

With ``torch._inductor.config.cpu_backend = "triton"``, torch.compile makes Triton kernels for CPU tensors too, and our
target runs them. Inductor looks the target up by that name. If the name always existed, torch would believe that every
CPU has Triton and would compile differently for users who never asked for it. So the name exists only once Inductor is
told to use Triton.
"""

from __future__ import annotations

import functools
import re
import sys
from typing import Any

from triton_lab.backend.source.generating_source import MADE_FROM

_NAME = "cpu"
# A frame of a node's stack trace: its file, its line, and the line's text.
_FRAME = re.compile(r'File "(.+?)", line (\d+).*\n(.*)')
_METADATA = "get_kernel_metadata"  # what writes the comments above a kernel
_ITS_OWN = "@triton_heuristics."  # the start of the decorators of every kernel that Inductor writes


def wrote(source: Any) -> bool:
    """Whether Inductor wrote the kernel that Triton compiled from ``source``."""
    return any(line.startswith(_ITS_OWN) for line in getattr(source.fn, "raw_src", ()))


def register(compiler: Any, driver: Any) -> None:
    """Register these classes under Inductor's name, if it uses Triton on the CPU and no other backend has the name.

    Otherwise Inductor writes C++, and a user's own kernels run on the active driver: then there is nothing to warn of.
    """
    _warn_only_without(driver)
    config = sys.modules.get("torch._inductor.config")
    if config is None or config.cpu_backend != "triton":
        return
    _write_lines()
    from triton.backends import Backend, backends

    if _NAME in backends:
        return

    # Triton allows one backend per target and one active driver; these classes do not count a second time.
    class Compiler(compiler):
        supports_target = staticmethod(lambda target: False)

    class Driver(driver):
        is_active = classmethod(lambda cls: False)

    backends[_NAME] = Backend(compiler=Compiler, driver=Driver)


def _write_lines() -> None:
    """Let Inductor write above each kernel, among its comments, the lines of Python whose operations are in it."""
    utils = sys.modules.get("torch._inductor.utils")
    made = getattr(utils, _METADATA, None)
    if utils is None or made is None or hasattr(made, "__wrapped__"):
        return

    @functools.wraps(made)
    def get_kernel_metadata(schedule: Any, wrapper: Any) -> tuple[str, str]:
        nodes, details = made(schedule, wrapper)
        lines = (f"{wrapper.comment} {MADE_FROM}{line}" for line in _lines(utils.aggregate_origins(schedule)))
        return nodes, "\n".join([details, *lines])

    for name, module in list(sys.modules.items()):
        if name.startswith("torch._inductor.") and vars(module).get(_METADATA) is made:
            setattr(module, _METADATA, get_kernel_metadata)


def _lines(nodes: Any) -> list[str]:
    """``file:line: text`` of the innermost frame of each node of a graph, in the order of the file."""
    found = set()
    for node in nodes:
        frames = _FRAME.findall(node.meta.get("stack_trace") or "")
        if frames:
            file, line, text = frames[-1]
            found.add((file, int(line), text.strip()))
    return [f"{file}:{line}: {text}" for file, line, text in sorted(found)]


def _warn_only_without(driver: Any) -> None:
    """Let Inductor choose a driver for the CPU only where ``driver`` is not active, since it warns if it finds none."""
    helpers = sys.modules.get("torch._inductor.runtime.triton_helpers")
    choose = getattr(helpers, "set_driver_to_cpu", None)
    if choose is None or hasattr(choose, "__wrapped__"):
        return

    @functools.wraps(choose)
    def set_driver_to_cpu() -> None:
        from triton.runtime.driver import driver as chosen

        if not isinstance(chosen.active, driver):
            choose()

    helpers.set_driver_to_cpu = set_driver_to_cpu  # type: ignore[union-attr]
