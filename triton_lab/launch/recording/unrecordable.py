"""Launches that cannot be recorded: those of Triton's interpreter, and of drivers of other backends."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from triton_lab.localization import N_, _, translated

_INSTEAD = N_(
    "unset it before the kernels are defined (in a notebook: del "
    "os.environ['TRITON_INTERPRET'], then run their cells again); without a GPU, "
    "triton-lab runs them by itself, checks them and needs no interpreter"
)


class NotRecorded(RuntimeError):
    """A launch cannot be recorded; the message says what to do instead."""


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """Make launches that cannot be recorded errors inside this context.

    Raises NotRecorded: at once if ``TRITON_INTERPRET`` is set; at the end if a kernel that was defined with it has run;
    and at a launch by another driver, before the kernel runs.
    """
    from triton import knobs

    if knobs.runtime.interpret:
        raise NotRecorded(
            _("TRITON_INTERPRET is set, and launches in Triton's interpreter cannot be recorded: {remedy}").format(
                remedy=translated(_INSTEAD)
            )
        )
    before = _interpreted()
    # The user may have replaced the chain by a plain function.
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
    """Raise NotRecorded if Triton's interpreter has run a kernel since ``before`` (a result of `_interpreted`)."""
    if _interpreted() is not before:
        raise NotRecorded(
            _(
                "Triton's interpreter ran a kernel, since TRITON_INTERPRET was set when the kernel was defined. Such "
                "a launch cannot be recorded: {remedy}"
            ).format(remedy=translated(_INSTEAD))
        )


class _Hook:
    """A hook that Triton calls at each launch. Each record has its own, as a chain holds equal hooks once."""

    def __call__(self, metadata: Any) -> None:
        from triton.runtime import driver

        from triton_lab.backend.driver import CPUDriver
        from triton_lab.backend.targets.offload import OffloadDriver

        active = driver.active
        if isinstance(active, (CPUDriver, OffloadDriver)):
            return
        raise NotRecorded(
            _(
                "the launch of {name} would not be recorded, since Triton's own driver for {backend} is active. Put "
                "lab.target('gpu') around the block to record on the same GPU, or lab.target('cpu') (import "
                "triton_lab as lab)"
            ).format(name=_name(metadata), backend=repr(active.get_current_target().backend))
        )


def _name(metadata: Any) -> str:
    known = metadata.get() if hasattr(metadata, "get") else None
    return str(known["name"]) if isinstance(known, dict) and "name" in known else "a kernel"


def _interpreted() -> Any:
    """The grid of the last launch by Triton's interpreter: a new object after each launch."""
    module = sys.modules.get("triton.runtime.interpreter")
    return None if module is None else getattr(module.interpreter_builder, "grid_dim", None)
