"""Chooses the device that launches run on: `target`."""

from __future__ import annotations

import weakref
from typing import Any, overload

from triton_lab.backend.plugin.live_objects import instances
from triton_lab.backend.targets.gpu import default_driver, gpu_driver, gpu_driver_class, made
from triton_lab.backend.targets.setting import Change, Setting
from triton_lab.localization import _
from triton_lab.providers import provided

# The choices and the benchmark of each autotuner on targets that are not active now.
_put_away: weakref.WeakKeyDictionary[Any, dict[str, tuple[dict[Any, Any], Any]]] = weakref.WeakKeyDictionary()


class TargetError(RuntimeError):
    """The requested target does not exist here."""


@overload
def target(name: None = None) -> str: ...
@overload
def target(
    name: str,
    *,
    scheduler: str | None = None,
    security: Any = None,
    insecure: bool = False,
    max_seconds: float = 60.0,
    max_bytes: int = 4 << 30,
) -> Change[Any]: ...
def target(
    name: str | None = None,
    *,
    scheduler: str | None = None,
    security: Any = None,
    insecure: bool = False,
    max_seconds: float = 60.0,
    max_bytes: int = 4 << 30,
) -> str | Change[Any]:
    """The device that launches run on now, ``"cpu"`` or ``"gpu"``; or switch to ``"cpu"``, ``"gpu"`` or ``"auto"``.

    A switch holds for the whole process until the next one; as a context manager it ends with the block. ``auto`` is
    Triton's own choice: the GPU if there is one. Tensors of the other device are mirrored: on ``cpu`` those of a GPU,
    on ``gpu`` those of the CPU. Raises TargetError for a GPU that does not exist, ValueError for another name.

    With ``scheduler``, the address of a Dask scheduler (``"tls://gpu.example.org:8786"``), launches run on its workers:
    on ``gpu`` on those that were started with the resource ``GPU``, on ``cpu`` in the interpreter of any worker.
    Kernels and the storages of their arguments are sent there, and what has changed comes back. ``security`` is a
    `distributed.Security` with certificates; without encryption, other machines are used only with ``insecure=True``.
    Each launch is a job in its own process. It may take ``max_seconds`` from its start, compilation included, and
    ``max_bytes`` of memory. Recorded launches are tried here first. Errors are those of a local launch; RemoteError
    covers all others, and then no tensor has changed. Needs ``triton-lab[dask]``. From then on ``"gpu"`` alone means
    the shared one if this machine has none.

    >>> with lab.target("cpu"):
    ...     lab.target()
    'cpu'
    >>> lab.target("tpu")
    Traceback (most recent call last):
        ...
    ValueError: there is no target 'tpu': choose 'cpu', 'gpu' or 'auto'
    """
    if name is None:
        if scheduler is not None:
            raise ValueError(_("say where its workers run launches: lab.target('gpu', scheduler=...)"))
        return current()
    if name not in ("cpu", "gpu", "auto"):
        raise ValueError(_("there is no target {name}: choose 'cpu', 'gpu' or 'auto'").format(name=repr(name)))
    if scheduler is None:
        return _setting.change(name, f"<target {name}>")
    if name == "auto":
        raise ValueError(_("with a scheduler, choose 'gpu', or 'cpu' for the interpreter of its workers"))
    shared = _shared_driver(name, scheduler, security, insecure, max_seconds, max_bytes)
    return _setting.change(shared, f"<target {name} at {scheduler}>")


def as_it_is() -> Change[Any]:
    """The present target, fixed for a block; with it, launches are recorded also where Triton itself chose the GPU."""
    return _setting.change(current() if isinstance(_setting.value, str) else _setting.value, "<target>")


def has_gpu() -> bool:
    """Whether the target ``gpu`` exists: in this machine, or shared."""
    return gpu_driver_class() is not None or _shared is not None


def shared_gpu() -> str:
    """The address of the scheduler whose GPU is the target ``gpu``; "" if there is none."""
    return "" if _shared is None else str(_shared.cluster.address)


def _shared_driver(kind: str, scheduler: str, security: Any, insecure: bool, max_seconds: float, max_bytes: int) -> Any:
    """The driver for a scheduler, which was asked whether it has such workers."""
    global _shared
    if max_seconds <= 0 or max_bytes <= 0:
        raise ValueError(f"max_seconds={max_seconds}, max_bytes={max_bytes}: numbers above 0 are needed")
    driver = provided("shared_driver")(kind, scheduler, security, insecure, max_seconds, max_bytes)
    if kind == "gpu":
        _shared = driver
    return driver


def current() -> str:
    """The target now: ``"cpu"`` or ``"gpu"``."""
    from triton.runtime import driver

    return _kind(driver.active)


_drivers: dict[str, Any] = {}
# The shared GPU that was requested last.
_shared: Any = None


def _driver(name: Any) -> Any:
    """The driver of a target. There is only one instance of each, since Triton stores compiled kernels by instance."""
    if not isinstance(name, str):
        return name
    if name == "gpu" and _shared is not None and gpu_driver() is None:
        return _shared
    if name not in _drivers:
        _drivers[name] = _cpu() if name == "cpu" else _gpu()
    return _drivers[name]


def _cpu() -> Any:
    from triton_lab.backend.driver import CPUDriver

    return made(CPUDriver)


def _gpu() -> Any:
    """The GPU's driver, which mirrors tensors of the CPU's memory."""
    from triton_lab.backend.targets.offload import OffloadDriver

    driver = gpu_driver()
    if driver is None:
        raise TargetError(
            _("there is no GPU that Triton can use here: use the target 'cpu', which runs the same kernels")
        )
    return OffloadDriver(driver)


def _activate(name: Any) -> None:
    from triton.runtime import driver

    before = _kept_by(driver.active if default_driver() is not None else None)
    chosen = default_driver() if name == "auto" else _driver(name)
    driver.set_active(chosen)
    after = _kept_by(chosen)
    if after != before:
        _swap_autotuners(before, after)


def _kind(driver: Any) -> str:
    from triton_lab.backend.driver import CPUDriver

    if driver is None or isinstance(driver, CPUDriver):
        return getattr(driver, "kind", "cpu")  # a shared driver says whether it is a GPU
    return "gpu"


def _kept_by(driver: Any) -> str:
    """The key for autotuners' choices: a shared GPU may differ from the one here."""
    return getattr(driver, "name", None) or _kind(driver)


def _swap_autotuners(before: str, after: str) -> None:
    """Give every autotuner its choices for the new target, and put away those for the old one."""
    from triton.runtime.autotuner import Autotuner

    for tuner in instances(Autotuner):
        kept = _put_away.setdefault(tuner, {})
        kept[before] = (tuner.cache, tuner.__dict__.pop("do_bench", None))
        cache, do_bench = kept.pop(after, ({}, None))
        tuner.cache = cache
        if do_bench is not None:
            tuner.__dict__["do_bench"] = do_bench


_setting: Setting[Any] = Setting("auto", _activate)
