"""Measures suggestions on this machine's GPU, each on tensors of its own with what the launch's held."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.backend.plugin.kernel_arguments import tensor_of
from triton_lab.backend.plugin.recorders import recorders
from triton_lab.backend.targets.active_target import current
from triton_lab.backend.targets.device_copies import HostMirrors, is_hosts, tensors_of
from triton_lab.backend.targets.gpu_timer import Time, device_name, measured
from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.speed_advice import Advice, Dropped, SpeedSuggestion
from triton_lab.interpreter.kernel_errors import from_signal
from triton_lab.launch.comparison.launch_results import before
from triton_lab.launch.shrinking.launch_case import LaunchCase
from triton_lab.launch.shrinking.tensor_contents import LARGE
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


def has_gpu(name: str) -> bool:
    """Whether launches run on a GPU of this machine now whose instruction set has that ``name``."""
    if current() != "gpu":
        return False
    from triton.runtime import driver

    here = driver.active.get_current_target()
    return bool(here.backend == "cuda" and f"sm_{here.arch}" == name)


def with_times(advice: Advice) -> Advice:
    """The advice with measured times, ordered by them; edits that are not faster are dropped.

    The target must be the GPU. Raises CannotReplay for a launch that has no case of its own.
    """
    case = LaunchCase.of(advice.launch)
    original = replace(advice.original, measured=_time(runner(advice.launch, case, None)))
    suggestions, dropped = [], list(advice.dropped)
    for one in advice.suggestions:
        try:
            after = replace(one.after, measured=_time(runner(advice.launch, case, one)))
        except Exception as error:  # whatever Triton raises for a kernel that the GPU has no room for
            if from_signal(error):
                raise
            dropped.append(Dropped(one.title, _("it does not run")))
            continue
        timed = replace(one, before=original, after=after)
        if timed.gain > 1:
            suggestions.append(timed)
        else:
            dropped.append(Dropped(one.title, _("it was not faster")))
    suggestions.sort(key=lambda one: -one.gain)
    return replace(advice, original=original, suggestions=tuple(suggestions), dropped=tuple(dropped))


@dataclass(frozen=True)
class LaunchRunner:
    """Launches a kernel on tensors of its own, which are among the ``arguments``; ``restore`` gives them what they
    began with."""

    kernel: Any
    grid: tuple[int, ...]
    arguments: Sequence[Any]
    options: Mapping[str, Any]
    restore: Callable[[], None]

    def __call__(self) -> None:
        self.kernel[self.grid](*self.arguments, **self.options)


def runner(launch: Launch, case: LaunchCase, suggestion: SpeedSuggestion | None, device: str = "cuda") -> LaunchRunner:
    """What launches the ``case`` of ``launch`` on new tensors of ``device``, with a suggestion or as it is."""
    edit = LaunchEdit() if suggestion is None else suggestion.edit
    given = replace(case, values={**case.values, **edit.constants}).arguments()
    _fill(launch, case, given)
    pairs = list(zip(launch.compiled[0].signature.values(), given, strict=True))
    mirrors = HostMirrors([one for pair in pairs for one in tensors_of(*pair) if is_hosts(one)], device)
    return LaunchRunner(
        case.kernel if suggestion is None else suggestion.kernel,
        edit.grid or case.grid,
        [mirrors.replaced(*pair) for pair in pairs],
        {**case.options, **edit.options},
        mirrors.restore,
    )


def _fill(launch: Launch, case: LaunchCase, given: Sequence[Any]) -> None:
    """Give tensors that are too large for a case what they held before the launch."""
    import torch

    large = {name for name, one in case.tensors.items() if math.prod(one.shape) > LARGE}
    held = before(launch) if large else {}
    for name, argument in zip(case.order, given, strict=True):
        if isinstance(name, str) and name in large:
            tensor = tensor_of(argument)
            data = torch.from_numpy(np.ascontiguousarray(held[name]).reshape(-1).view(np.uint8))
            tensor.copy_(data.view(tensor.dtype).view(tensor.shape))


def _time(run: LaunchRunner) -> Time:
    from triton.runtime import driver

    with recorders.unrecorded():
        run()  # compiles
        return Time.of(measured(run, driver.active, restore=run.restore), device_name(driver.active))
