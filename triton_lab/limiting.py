"""What a launch on the CPU target may use: `limits`."""

from __future__ import annotations

from dataclasses import replace
from types import EllipsisType

from triton_lab.backend import launcher
from triton_lab.interpreter.machine import Limits
from triton_lab.setting import Change, Setting


def _apply(chosen: Limits) -> None:
    launcher.limits = chosen


_setting = Setting(launcher.limits, _apply)


def limits(*, steps: int | EllipsisType | None = ..., memory: int | EllipsisType = ...) -> Change[Limits]:
    """Bound what launches on the CPU target may use; what is not named stays as it is.

    ``steps``: so many loop iterations at most in a launch, each counted once for all programs that run
    it together; a launch that wants more fails with StepLimit. None, as at the start: no limit.
    ``memory``: so many bytes at most, over the tensors' own, for what the running programs compute;
    1 GiB at the start. Fewer programs run at once where they are large.

    Holds for the whole process until the next change; as a context manager, until the block ends.
    """
    with _setting.lock:
        chosen = _setting.value
        if not isinstance(steps, EllipsisType):
            if steps is not None and steps < 1:
                raise ValueError(f"steps={steps}: a launch needs one step at least; None is no limit")
            chosen = replace(chosen, steps=steps)
        if not isinstance(memory, EllipsisType):
            if memory < 1:
                raise ValueError(f"memory={memory}: a number of bytes above 0 is needed")
            chosen = replace(chosen, memory=memory)
        return _setting.change(chosen, f"<limits steps={chosen.steps} memory={chosen.memory}>")
