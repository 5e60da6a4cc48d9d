"""What Triton's autotuner tried before a launch, how long it took, and why some configurations failed.

Triton's `Autotuner` calls the kernel from its own `run`: a recorded launch finds it there, on the stack. For a
configuration that fails it stores only an infinite time; the benchmark that it calls records the reason.
"""

from __future__ import annotations

import contextlib
import math
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from triton_lab.localization import N_, translated

# Triton's own parameters of a configuration, beside the kernel's.
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_USUAL = {"num_ctas": 1, "maxnreg": None}
_NO_REASON = N_("it failed, and the benchmark gave no reason")
_LENGTH = 300  # characters of a reason


@dataclass(frozen=True)
class Tried:
    """One configuration: its parameters, its median time, and the range of the middle three fifths of its runs, in
    seconds.

    The times are infinite for one that ``failed`` (which is the reason), and NaN if they are unknown.
    """

    config: Mapping[str, Any]
    seconds: float
    low: float
    high: float
    failed: str = ""

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.config.items())


@dataclass(frozen=True)
class Tuning:
    """What an autotuner ``tried`` for a key, in its own order, and which one it ``chose``.

    The choice depends on ``key``: arguments by name, and dtypes. ``earlier``: an earlier launch made it. ``left_out``
    counts configurations that were pruned and not tried. ``protected`` are the arguments whose memory the autotuner
    restores after each trial, or fills with zeros before it; None if a hook of the user's does what is not known.
    """

    kernel: str
    target: str
    tried: tuple[Tried, ...]
    chose: int
    key: tuple[str, ...] = ()
    earlier: bool = False
    left_out: int = 0
    protected: tuple[str, ...] | None = ()

    @property
    def choice(self) -> Tried:
        """The chosen configuration."""
        return self.tried[self.chose]

    @property
    def ranked(self) -> list[Tried]:
        """All configurations: the chosen one first, then the fastest."""
        rest = [one for number, one in enumerate(self.tried) if number != self.chose]
        return [self.choice, *sorted(rest, key=lambda one: (math.isnan(one.seconds), one.seconds))]


# What each autotuner tried, by target and key; and why a configuration failed, by its text.
_known: weakref.WeakKeyDictionary[Any, dict[tuple[str, Any], Tuning]] = weakref.WeakKeyDictionary()
_reasons: weakref.WeakKeyDictionary[Any, dict[str, str]] = weakref.WeakKeyDictionary()


def tuning_of(kernel: str, target: str) -> Tuning | None:
    """What was tried for the present launch of ``kernel``; None if no autotuner makes it.

    An autotuner with a single configuration tries nothing.
    """
    frame = _run(kernel)
    if frame is None:
        return None
    seen = frame.f_locals
    tuner, key, choice = seen["self"], seen.get("key"), seen.get("config")
    if key is None or choice is None or len(tuner.configs) < 2:
        return None
    known = _known.setdefault(tuner, {})
    pruned = seen.get("pruned_configs")
    if pruned is not None:  # the choice was made at this launch
        timings = getattr(tuner, "configs_timings", None) or {}
        known[target, key] = _tuning(tuner, kernel, target, key, pruned, choice, timings)
        return known[target, key]
    if (target, key) not in known:
        known[target, key] = _tuning(tuner, kernel, target, key, tuner.configs, choice, {})
    return replace(known[target, key], earlier=True)


def _run(kernel: str) -> FrameType | None:
    """The nearest frame in which an autotuner runs this kernel."""
    from triton.runtime.autotuner import Autotuner

    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is Autotuner.run.__code__ and frame.f_locals["self"].base_fn.__name__ == kernel:
            return frame
        frame = frame.f_back
    return None


def _tuning(
    tuner: Any, kernel: str, target: str, key: Any, configs: Sequence[Any], choice: Any, timings: Mapping[Any, Any]
) -> Tuning:
    reasons = _reasons.get(tuner, {})
    tried = []
    for config in configs:
        middle, low, high = _three(timings.get(config, math.nan))
        failed = reasons.get(str(config), translated(_NO_REASON)) if math.isinf(middle) else ""
        tried.append(Tried(_parameters(config), middle * 1e-3, low * 1e-3, high * 1e-3, failed))
    names = [name for name in tuner.keys if name in tuner.arg_names]
    named = (f"{name}={value}" for name, value in zip(names, key, strict=False))
    told = (*named, *dict.fromkeys(map(str, key[len(names) :])))
    chose = next(number for number, config in enumerate(configs) if config is choice or config == choice)
    left_out = len(tuner.configs) - len(configs)
    return Tuning(kernel, target, tuple(tried), chose, told, left_out=left_out, protected=_protected(tuner))


def _protected(tuner: Any) -> tuple[str, ...] | None:
    """The arguments whose memory trials do not change for the launch that follows; None if that is not known."""
    hooked = getattr(tuner, "user_defined_pre_hook", False) or getattr(tuner, "user_defined_post_hook", False)
    if hooked or any(getattr(config, "pre_hook", None) is not None for config in tuner.configs):
        return None
    return tuple(dict.fromkeys([*(tuner.restore_value or ()), *(tuner.reset_to_zero or ())]))


def _three(times: Any) -> tuple[float, float, float]:
    """Median, low and high, in milliseconds. A user's own benchmark may give only one number."""
    several = list(times) if isinstance(times, Sequence) else [times] * 3
    middle, low, high = (several * 3)[:3] if len(several) < 3 else several[:3]
    return float(middle), float(low), float(high)


def _parameters(config: Any) -> dict[str, Any]:
    options = {name: getattr(config, name, None) for name in _OPTIONS}
    told = {name: value for name, value in options.items() if value is not None and value != _USUAL.get(name)}
    return {**config.kwargs, **told}


@contextlib.contextmanager
def noting(kernel_call: Callable[[], Any]) -> Iterator[None]:
    """While an autotuner tries ``kernel_call``: record why it fails, and raise the error."""
    try:
        yield
    except Exception as error:
        names = getattr(getattr(kernel_call, "__code__", None), "co_freevars", ())
        held = dict(zip(names, kernel_call.__closure__ or (), strict=False)) if names else {}
        if "self" in held and "config" in held:
            tuner, config = held["self"].cell_contents, held["config"].cell_contents
            _reasons.setdefault(tuner, {})[str(config)] = _reason(error)
        raise


def _reason(error: Exception) -> str:
    """The error in one line: its last one, since Triton's messages begin with the kernel's source."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^")]
    return (lines[-1] if lines else type(error).__name__)[:_LENGTH]


def heard(benchmark: Callable[..., Any]) -> Callable[..., Any]:
    """A GPU's ``benchmark`` that also records why a configuration fails."""

    def noted(kernel_call: Callable[[], Any], **options: Any) -> Any:
        with noting(kernel_call):
            return benchmark(kernel_call, **options)

    return noted
