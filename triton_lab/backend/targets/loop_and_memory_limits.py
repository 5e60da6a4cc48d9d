"""What a launch on the CPU target may use: `limits`."""

from __future__ import annotations

from dataclasses import replace
from types import EllipsisType

from triton_lab.backend.plugin import launcher
from triton_lab.backend.targets.setting import Change, Setting
from triton_lab.interpreter.asynchronous import schedules
from triton_lab.interpreter.machine import Engine, Limits
from triton_lab.localization import _
from triton_lab.native.engine import checked


def _apply(chosen: Limits) -> None:
    launcher.limits = chosen


_setting = Setting(launcher.limits, _apply)


def limits(
    *,
    max_steps: int | EllipsisType | None = ...,
    max_bytes: int | EllipsisType = ...,
    engine: Engine | EllipsisType = ...,
    schedule: str | EllipsisType = ...,
) -> Change[Limits]:
    """Limit what launches on the CPU target may use, and choose what runs them; what is not named stays as it is.

    ``max_steps``: the most loop iterations in a launch, each counted once for all programs that run it together; a
    launch that needs more fails with StepLimit. None, the default: no limit.

    ``max_bytes``: the most bytes, besides the tensors' own, for what running programs compute, or for what may have to
    be restored; 1 GiB by default. If programs are large, fewer run at once.

    ``engine``: "numpy", which is the meaning of every kernel; "native", which compiles a kernel to machine code when it
    is first launched and leaves to NumPy what it cannot do; "auto", the default unless the environment variable
    TRITON_LAB_ENGINE says otherwise: NumPy, until a kernel has cost some 50 ms and is compiled beside the launches. So
    under "auto" the last bits of functions such as exp, and of sums, may change from one launch to a later one; to
    compare bits use "numpy". `lab.engines` shows what ran the launches so far.

    ``schedule`` decides what a GPU leaves open in Gluon kernels: when copies, products and stores end, and in which
    order partitions of warps run. "lazy", the default, ends work as late as the waits allow, so that a missing wait
    shows. "eager" ends it at once; "random:7" at moments that the seed 7 chooses. A right kernel has one result.

    Holds for the whole process until the next change; as a context manager, until the block ends.

    >>> with lab.limits(max_steps=10_000, max_bytes=64 << 20):
    ...     out = add(x, y)
    >>> with lab.limits(engine="native"):
    ...     out = add(x, y)
    >>> lab.limits(max_bytes=0)
    Traceback (most recent call last):
        ...
    ValueError: max_bytes=0: the number of bytes must be above 0
    """
    with _setting.lock:
        chosen = _setting.value
        if not isinstance(max_steps, EllipsisType):
            if max_steps is not None and max_steps < 1:
                raise ValueError(
                    _("max_steps={max_steps}: a launch needs at least one step; None means no limit").format(
                        max_steps=max_steps
                    )
                )
            chosen = replace(chosen, steps=max_steps)
        if not isinstance(max_bytes, EllipsisType):
            if max_bytes < 1:
                raise ValueError(
                    _("max_bytes={max_bytes}: the number of bytes must be above 0").format(max_bytes=max_bytes)
                )
            chosen = replace(chosen, memory=max_bytes)
        if not isinstance(engine, EllipsisType):
            chosen = replace(chosen, engine=checked(engine))
        if not isinstance(schedule, EllipsisType):
            chosen = replace(chosen, schedule=schedules.checked(schedule))
        text = f"<limits max_steps={chosen.steps} max_bytes={chosen.memory} engine={chosen.engine}>"
        if chosen.schedule != schedules.LAZY:
            text = f"{text[:-1]} schedule={chosen.schedule}>"
        return _setting.change(chosen, text)
