"""Launches that a record does not see: those of Triton's interpreter, and of drivers that are not ours."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

_INSTEAD = (
    "unset it before the kernels are defined (in a notebook: del os.environ['TRITON_INTERPRET'], then run their cells "
    "again); without a GPU, triton-lab runs them by itself, checks them and needs no interpreter"
)


class NotRecorded(RuntimeError):
    """Something was launched, or would be, that nobody can record; the message says what to do instead."""


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """Inside, launches that cannot be recorded are errors.

    Raises NotRecorded: at once where ``TRITON_INTERPRET`` is set, at the end where a kernel that was
    defined so has run. A launch by another driver raises it where it happens, before the kernel runs.
    """
    from triton import knobs

    if knobs.runtime.interpret:
        raise NotRecorded(f"TRITON_INTERPRET is set, and what Triton's interpreter runs cannot be recorded: {_INSTEAD}")
    before = _interpreted()
    # Somebody may have put a plain function in the place of the chain.
    chain: Any = knobs.runtime.launch_enter_hook
    hook = _Hook()
    if hasattr(chain, "add"):
        chain.add(hook)
    try:
        yield
    finally:
        if hasattr(chain, "remove"):
            chain.remove(hook)
    interpreted(before)


def interpreted(before: Any = None) -> None:
    """Raises NotRecorded where Triton's interpreter has run a kernel since ``before``, what it was last told then."""
    if _interpreted() is not before:
        raise NotRecorded(
            "a kernel was run by Triton's interpreter, which cannot be recorded, since TRITON_INTERPRET was set when "
            f"it was defined: {_INSTEAD}"
        )


class _Hook:
    """Called at each launch that Triton makes. Each record has its own: a chain holds equal ones once."""

    def __call__(self, metadata: Any) -> None:
        from triton.runtime import driver

        from triton_lab.backend.driver import CPUDriver
        from triton_lab.backend.targets.offload import OffloadDriver

        active = driver.active
        if isinstance(active, (CPUDriver, OffloadDriver)):
            return
        raise NotRecorded(
            f"the launch of {_name(metadata)} would not be recorded, since Triton's driver for "
            f"{active.get_current_target().backend!r} is active: around the block, choose lab.target('gpu') for "
            "the same GPU with a record, or lab.target('cpu') (import triton_lab as lab)"
        )


def _name(metadata: Any) -> str:
    known = metadata.get() if hasattr(metadata, "get") else None
    return str(known["name"]) if isinstance(known, dict) and "name" in known else "a kernel"


def _interpreted() -> Any:
    """A new object after each launch by Triton's interpreter: the grid that it was last told."""
    module = sys.modules.get("triton.runtime.interpreter")
    return None if module is None else getattr(module.interpreter_builder, "grid_dim", None)
