"""The times in a saved launch: the kernel's on a GPU, and those of an autotuner's trials."""

from __future__ import annotations

from typing import Any

from triton_lab.backend.targets.autotuner_trials import Tried, Tuning
from triton_lab.backend.targets.gpu_timer import Time
from triton_lab.launch.saving.checked_fields import hold, of, real


def time(given: Any) -> Time | None:
    """The kernel's time on a GPU. Like `tuning`, raises SavedLaunchError or another error for a wrong field."""
    if given is None:
        return None
    median, low, high, runs, compiling, device = given
    compiled = None if compiling is None else real(compiling)
    return Time(real(median), real(low), real(high), of(int, runs), compiled, of(str, device)[:200])


def tuning(given: Any) -> Tuning | None:
    """What an autotuner tried before the launch."""
    if given is None:
        return None
    tried = []
    for config, times, failed in given["tried"]:
        seconds, low, high = (real(one) for one in times)
        plain = {of(str, name): value for name, value in config.items()}
        hold(all(one is None or isinstance(one, bool | int | float | str) for one in plain.values()), "a parameter")
        tried.append(Tried(plain, seconds, low, high, of(str, failed)))
    chose = of(int, given["chose"])
    hold(0 <= chose < len(tried), "what an autotuner chose")
    key = tuple(of(str, one) for one in given["key"])
    names = of(str, given["kernel"]), of(str, given["target"])
    return Tuning(*names, tuple(tried), chose, key, of(bool, given["earlier"]), of(int, given["left_out"]))
