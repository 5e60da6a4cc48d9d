"""Chooses the engine of a launch: NumPy's, which defines every kernel's meaning, or native code where possible."""

from __future__ import annotations

import functools
import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.machine import Engine
from triton_lab.interpreter.observers import PlacesObserver
from triton_lab.localization import _, translated
from triton_lab.native import native_kernel
from triton_lab.native.native_kernel import COLD, NativeKernel, NativeVariant
from triton_lab.native.runtime.transaction import Fell

if TYPE_CHECKING:
    from triton_lab.interpreter.bound_plan import Executable
    from triton_lab.interpreter.machine import Limits, Machine
    from triton_lab.native.runtime.compiled_function import Built
    from triton_lab.native.runtime.native_launch import Regions
    from triton_lab.native.threads.work_queue import Left

_KEPT = 1000


@dataclass(frozen=True, slots=True)
class EngineRun:
    """A launch that has run: on which engine, and why not on the native one.

    ``programs`` is their number in the grid, ``handed`` how many of them the native engine handed to NumPy's.
    """

    kernel: str
    engine: Literal["numpy", "native"]
    why: str
    programs: int
    handed: int = 0


lately: deque[EngineRun] = deque(maxlen=_KEPT)
"""The latest launches that had a choice of engine."""


def asked() -> Engine:
    """The engine that the environment requests; "auto" by default. Raises ValueError."""
    return checked(os.environ.get("TRITON_LAB_ENGINE") or "auto", "TRITON_LAB_ENGINE=")


def checked(engine: str, where: str = "engine=") -> Engine:
    """``engine``, if it exists. Raises ValueError that lists the engines."""
    for known in get_args(Engine):
        if engine == known:
            found: Engine = known
            return found
    raise ValueError(
        _("{where}{engine}: there is {names}").format(
            where=where, engine=repr(engine), names=", ".join(map(repr, get_args(Engine)))
        )
    )


def chosen(machine: Machine, trial: bool = False, left: Left | None = None) -> Callable[[], None]:
    """A function that runs a prepared launch, or what is ``left`` of it, on the engine that its limits request.

    Call it once. Under "native" a kernel is compiled now; under "auto" beside the launches, once it has cost NumPy
    enough. ``trial``: an autotuner measures the launch, once.
    """
    engine = machine.limits.engine
    if engine == "numpy":
        return functools.partial(_rest, machine, left)
    kernel = _kernel_of(machine.executable)
    why = _unfit(machine, kernel)
    if not why and engine == "auto":
        why = (
            _("an autotuner tries it")
            if trial
            else translated(COLD)
            if kernel.seconds < native_kernel.WARM_SECONDS
            else ""
        )
    if not why and _places_depend_on_memory(machine):  # asked last: a kernel that is not hot needs no outline
        why = "it is recorded"
    found = why or _variant_of(machine, kernel)
    if isinstance(found, str):
        return functools.partial(_on_numpy, machine, found, kernel if found == translated(COLD) else None, left)
    variant, regions = found
    if engine == "native":
        variant.make_ready(machine.executable)
    else:
        variant.ask(machine.executable, kernel.seconds)
    built, fallen = variant.built, variant.falls.why(machine.grid)
    if built is None or fallen:
        return functools.partial(_on_numpy, machine, fallen or variant.why, kernel, left)
    run = functools.partial(_on_native, machine, kernel, variant, built, regions, left)
    if machine.access_observer is None:
        return run
    # Programs that share memory run in another order on NumPy, and so may a replay; sums by atomics do not.
    if built.made.transaction or not variant.is_apart(machine, regions, True, besides_sums=True):
        return functools.partial(_on_numpy, machine, "it is recorded", None, left)
    return functools.partial(_observed, machine, run, kernel)


def _rest(machine: Machine, left: Left | None) -> None:
    machine.run(None if left is None else left.take(0, machine.grid[0] * machine.grid[1] * machine.grid[2]))


def _on_numpy(machine: Machine, why: str, kernel: NativeKernel | None = None, left: Left | None = None) -> None:
    start = time.perf_counter()
    try:
        _rest(machine, left)
    finally:
        if kernel is not None:
            kernel.seconds += time.perf_counter() - start
        note(machine.executable, machine.grid, "numpy", why)


def _observed(machine: Machine, run: Callable[[], None], kernel: NativeKernel) -> None:
    """Run a launch whose accesses are observed as machine code, or on NumPy if an access fails."""
    from triton_lab.native.runtime import observed_launch

    observer, outline = machine.access_observer, observed_launch.outline_of(machine.executable)
    assert isinstance(observer, PlacesObserver) and outline is not None
    if not observed_launch.run(machine, observer, outline, run):
        _on_numpy(machine, "it is recorded", kernel)


def _on_native(
    machine: Machine, kernel: NativeKernel, variant: NativeVariant, built: Built, regions: Regions, left: Left | None
) -> None:
    from triton_lab.native.runtime import native_launch

    handed, fell = 0, ""
    try:
        handed = native_launch.run(machine, built, regions, functools.partial(variant.is_apart, machine, regions), left)
    except Fell as why:
        fell = str(why)
    except KernelError:
        handed = machine.grid[0] * machine.grid[1] * machine.grid[2] - machine.ended
        raise
    finally:
        variant.ended(handed, machine.limits.engine)
        variant.falls.ended(machine.grid, fell)
        if not fell:
            note(machine.executable, machine.grid, "native", "", handed)
    if fell:
        _on_numpy(machine, fell, kernel)  # a transaction was undone as a whole, so all programs are left


def note(
    executable: Executable, grid: tuple[int, int, int], engine: Literal["numpy", "native"], why: str, handed: int = 0
) -> EngineRun:
    """Record that a launch has run, and return the record."""
    lately.append(EngineRun(executable.plan.kernel.name, engine, why, grid[0] * grid[1] * grid[2], handed))
    return lately[-1]


def _unfit(machine: Machine, kernel: NativeKernel) -> str:
    """Why this launch needs NumPy, whatever the native engine knows of the kernel; empty if it does not."""
    told_places = machine.access_observer is None or isinstance(machine.access_observer, PlacesObserver)
    if machine.observer is not None or machine.memory.before_write is not None or not told_places:
        return "it is recorded"
    if machine.marks is not None:
        return _("its lines are counted")
    return _unfit_under(machine.limits) or kernel.why


def _places_depend_on_memory(machine: Machine) -> bool:
    """Whether accesses are observed that cannot be told before they happen."""
    from triton_lab.native.runtime import observed_launch

    return machine.access_observer is not None and observed_launch.outline_of(machine.executable) is None


def _unfit_under(limits: Limits) -> str:
    """Why these limits need NumPy; empty if they do not."""
    if limits.steps is not None:
        return _("its steps are limited")
    if limits.batch is not None and limits.engine == "auto":
        return _("a limit on programs that run together is set")
    return ""


def known(executable: Executable, limits: Limits) -> NativeKernel | None:
    """The kernel, if an unobserved launch of it would run natively under these limits as soon as it is built; else
    None.
    """
    if limits.engine == "numpy":
        return None
    kernel = _kernel_of(executable)
    cold = limits.engine == "auto" and kernel.seconds < native_kernel.WARM_SECONDS
    return None if cold or kernel.why or _unfit_under(limits) else kernel


def _kernel_of(executable: Executable) -> NativeKernel:
    kernel: NativeKernel | None = executable.kept.get("native")
    if kernel is None:
        kernel = executable.kept["native"] = NativeKernel(executable)
    return kernel


def _variant_of(machine: Machine, kernel: NativeKernel) -> tuple[NativeVariant, Regions] | str:
    from triton_lab.native.runtime.native_launch import groups_of, regions_of

    regions = regions_of(machine, machine.executable.roots)
    if isinstance(regions, str):
        return regions
    groups = groups_of(regions)
    variant = kernel.variants.get(groups)
    if variant is None:
        variant = kernel.variants.setdefault(groups, NativeVariant(groups))
    return variant, regions
