"""Which device launches run on: `target`."""

from __future__ import annotations

import weakref
from typing import Any, overload

from triton_lab.backend.gpu import default_driver, gpu_driver, made
from triton_lab.backend.setting import Change, Setting

# What each autotuner has chosen, and how it measures, on the target that is not active now.
_put_away: weakref.WeakKeyDictionary[Any, dict[str, tuple[dict[Any, Any], Any]]] = weakref.WeakKeyDictionary()


class TargetError(RuntimeError):
    """The target asked for is not there."""


@overload
def target(name: None = None) -> str: ...
@overload
def target(name: str) -> Change[str]: ...
def target(name: str | None = None) -> str | Change[str]:
    """What launches run on now: ``"cpu"`` or ``"gpu"``; or switch to ``"cpu"``, ``"gpu"`` or ``"auto"``.

    A switch holds for the whole process until the next one; used as a context manager it ends with
    the block. ``auto`` is what Triton would choose by itself: the GPU where there is one. Tensors of
    the other device are mirrored: on ``cpu`` those of a GPU, on ``gpu`` those of the CPU. Raises
    TargetError for a GPU that is not there, ValueError for another name.

    >>> with lab.target("cpu"):
    ...     lab.target()
    'cpu'
    >>> lab.target("tpu")
    Traceback (most recent call last):
        ...
    ValueError: there is no target 'tpu': choose 'cpu', 'gpu' or 'auto'
    """
    if name is None:
        return current()
    if name not in ("cpu", "gpu", "auto"):
        raise ValueError(f"there is no target {name!r}: choose 'cpu', 'gpu' or 'auto'")
    return _setting.change(name, f"<target {name}>")


def current() -> str:
    """``"cpu"`` or ``"gpu"``."""
    from triton.runtime import driver

    return _kind(driver.active)


_drivers: dict[str, Any] = {}


def _driver(name: str) -> Any:
    """The driver of a target; one instance of each for good, since Triton keeps what it compiled by it."""
    if name not in _drivers:
        _drivers[name] = _cpu() if name == "cpu" else _gpu()
    return _drivers[name]


def _cpu() -> Any:
    from triton_lab.backend.driver import CPUDriver

    return made(CPUDriver)


def _gpu() -> Any:
    """The GPU's driver, with mirrors of what is in the CPU's memory."""
    from triton_lab.backend.offload import OffloadDriver

    driver = gpu_driver()
    if driver is None:
        raise TargetError("there is no GPU that Triton can use here: use the target 'cpu', which runs the same kernels")
    return OffloadDriver(driver)


def _activate(name: str) -> None:
    from triton.runtime import driver

    before = _kind(driver.active if default_driver() is not None else None)
    chosen = default_driver() if name == "auto" else _driver(name)
    driver.set_active(chosen)
    after = _kind(chosen)
    if after != before:
        _swap_autotuners(before, after)


def _kind(driver: Any) -> str:
    from triton_lab.backend.driver import CPUDriver

    return "cpu" if driver is None or isinstance(driver, CPUDriver) else "gpu"


def _swap_autotuners(before: str, after: str) -> None:
    """Give every autotuner the choices that it made on the new target, and keep those of the old."""
    import gc

    from triton.runtime.autotuner import Autotuner

    for tuner in gc.get_objects():
        # `isinstance` would run foreign code: lazy proxies answer it.
        if not issubclass(type(tuner), Autotuner):
            continue
        kept = _put_away.setdefault(tuner, {})
        kept[before] = (tuner.cache, tuner.__dict__.pop("do_bench", None))
        cache, do_bench = kept.pop(after, ({}, None))
        tuner.cache = cache
        if do_bench is not None:
            tuner.__dict__["do_bench"] = do_bench


_setting = Setting("auto", _activate)
