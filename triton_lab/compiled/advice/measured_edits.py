"""Measures suggestions on this machine's GPU, each on tensors of its own with what the launch's held."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from triton_lab.backend.plugin.recorders import recorders
from triton_lab.backend.targets.active_target import current
from triton_lab.backend.targets.gpu_timer import Time, device_name, measured
from triton_lab.compiled.advice.speed_advice import Advice, SpeedSuggestion
from triton_lab.launch.shrinking.launch_case import LaunchCase

if TYPE_CHECKING:
    pass


def has_gpu(target: str) -> bool:
    """Whether launches run on a GPU of this machine with that instruction set now."""
    if current() != "gpu":
        return False
    from triton.runtime import driver

    here = driver.active.get_current_target()
    return bool(here.backend == "cuda" and f"sm_{here.arch}" == target)


def with_times(advice: Advice) -> Advice:
    """The advice with measured times, ordered by them. Raises CannotReplay for a launch that has no case of its own."""
    case = LaunchCase.of(advice.launch)
    original = replace(advice.original, measured=_time(runner(case, None)))
    suggestions = []
    for one in advice.suggestions:
        after = replace(one.after, measured=_time(runner(case, one)))
        suggestions.append(replace(one, before=original, after=after))
    suggestions.sort(key=lambda one: -one.gain)
    return replace(advice, original=original, suggestions=tuple(suggestions))


@dataclass(frozen=True)
class LaunchRunner:
    """Launches a kernel on tensors of its own, which are among the ``arguments``."""

    kernel: Any
    grid: tuple[int, ...]
    arguments: Sequence[Any]
    options: Mapping[str, Any]

    def __call__(self) -> None:
        self.kernel[self.grid](*self.arguments, **self.options)


def runner(case: LaunchCase, suggestion: SpeedSuggestion | None, device: str = "cuda") -> LaunchRunner:
    """What launches the case on new tensors of ``device``, with a suggestion or as it is."""
    arguments = [_moved(one, device) for one in _arguments(case, suggestion)]
    if suggestion is None:
        return LaunchRunner(case.kernel, case.grid, arguments, case.options)
    options = {**case.options, **suggestion.edit.options}
    return LaunchRunner(suggestion.kernel, suggestion.grid, arguments, options)


def _arguments(case: LaunchCase, suggestion: SpeedSuggestion | None) -> list[Any]:
    if suggestion is None:
        return case.arguments()
    return replace(case, values={**case.values, **suggestion.edit.constants}).arguments()


def _moved(one: Any, device: str) -> Any:
    if isinstance(one, tuple):
        return tuple(_moved(each, device) for each in one)
    return one.to(device) if hasattr(one, "data_ptr") else one


def _time(run: Callable[[], Any]) -> Time:
    from triton.runtime import driver

    with recorders.unrecorded():
        run()  # compiles
        return Time.of(measured(run, driver.active), device_name(driver.active))
