"""Chooses the engine of a launch: NumPy's, which defines every kernel's meaning, or native code where possible."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from triton_lab.interpreter.kernel_errors import KernelError, Unsupported
from triton_lab.interpreter.machine import Engine
from triton_lab.interpreter.observers import PlacesObserver
from triton_lab.localization import N_, _, translated
from triton_lab.native.runtime import background_compiler
from triton_lab.native.runtime.transaction import Fell, RollbackCounts

if TYPE_CHECKING:
    from triton_lab.interpreter.bound_plan import Executable
    from triton_lab.interpreter.machine import Limits, Machine
    from triton_lab.native.analysis.launch_footprint import Footprints
    from triton_lab.native.runtime.compiled_function import Built
    from triton_lab.native.runtime.native_launch import Regions
    from triton_lab.native.threads.work_queue import Left

# Under "auto", the seconds that a kernel must have cost NumPy in this process: for a look-up in the cache (if other
# kernels are native already), and for compiling it.
WARM_SECONDS, HOT_SECONDS = 0.005, 0.05
# The consecutive launches with programs stopped by guards after which a variant is left to NumPy.
_MOST_HANDED = 8
_KEPT = 1000
_COLD = N_("it is not hot yet")


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
        why = _("an autotuner tries it") if trial else translated(_COLD) if kernel.seconds < WARM_SECONDS else ""
    if not why and _places_depend_on_memory(machine):  # asked last: a kernel that is not hot needs no outline
        why = "it is recorded"
    found = why or _variant_of(machine, kernel)
    if isinstance(found, str):
        return functools.partial(_on_numpy, machine, found, kernel if found == translated(_COLD) else None, left)
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


def _on_numpy(machine: Machine, why: str, kernel: _Kernel | None = None, left: Left | None = None) -> None:
    start = time.perf_counter()
    try:
        _rest(machine, left)
    finally:
        if kernel is not None:
            kernel.seconds += time.perf_counter() - start
        note(machine.executable, machine.grid, "numpy", why)


def _observed(machine: Machine, run: Callable[[], None], kernel: _Kernel) -> None:
    """Run a launch whose accesses are observed as machine code, or on NumPy if an access fails."""
    from triton_lab.native.runtime import observed_launch

    observer, outline = machine.access_observer, observed_launch.outline_of(machine.executable)
    assert isinstance(observer, PlacesObserver) and outline is not None
    if not observed_launch.run(machine, observer, outline, run):
        _on_numpy(machine, "it is recorded", kernel)


def _on_native(
    machine: Machine, kernel: _Kernel, variant: _Variant, built: Built, regions: Regions, left: Left | None
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


def _unfit(machine: Machine, kernel: _Kernel) -> str:
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


def known(executable: Executable, limits: Limits) -> _Kernel | None:
    """The kernel, if an unobserved launch of it would run natively under these limits as soon as it is built; else
    None.
    """
    if limits.engine == "numpy":
        return None
    kernel = _kernel_of(executable)
    cold = limits.engine == "auto" and kernel.seconds < WARM_SECONDS
    return None if cold or kernel.why or _unfit_under(limits) else kernel


class _Kernel:
    """What is known of a kernel besides its variants: its launches' cost on NumPy, and ``why`` none can be native."""

    def __init__(self, executable: Executable) -> None:
        self.seconds = 0.0
        self.variants: dict[tuple[tuple[int, tuple[int, ...]], ...], _Variant] = {}
        # Stored here by `triton_lab.backend.plugin.dispatch_cache`.
        self.again: Any = None
        self.why = _never(executable)


class _Variant:
    """A kernel for launches with one pattern of aliasing: ready if ``built`` is set, else ``why`` says why not."""

    def __init__(self, groups: tuple[tuple[int, tuple[int, ...]], ...]) -> None:
        self.groups = groups
        self.built: Built | None = None
        self.why = translated(_COLD)
        self._stages = (WARM_SECONDS, self._look), (HOT_SECONDS, self._make)
        self._stage = 0
        self._final = False
        self._handed = 0
        self.falls = RollbackCounts()
        self._footprints: dict[bool, Footprints] = {}  # by whether they leave out sums
        self._lock = threading.Lock()

    def ask(self, executable: Executable, seconds: float) -> None:
        """Start in the background what a kernel of this cost is worth."""
        # Another thread may start it too, or an interrupt may come between: a stage that is started twice is done once.
        for stage, (least, work) in enumerate(self._stages[self._stage :], self._stage):
            if seconds < least:
                break
            background_compiler.background.submit(functools.partial(work, executable))
            self._stage = stage + 1

    def make_ready(self, executable: Executable) -> None:
        """Have it built, or find out why that is impossible.

        The compiling thread does it, since no interrupt there can leave LLVM's lock taken. An interrupt here only ends
        the wait.
        """
        if not self._final and not background_compiler.background.finish(functools.partial(self._make, executable)):
            self.why = _("kernels are no longer compiled: the process is ending, or was forked during a compilation")

    def _make(self, executable: Executable) -> None:
        from triton_lab.native.llvm import jit
        from triton_lab.native.runtime import compiled_function as built

        with self._lock:
            if self._final:
                return
            self.why = _("it is being compiled")
            try:
                self.built = built.build(executable.plan, built.host_signature(self.groups))
            except (Unsupported, jit.CannotCompile) as error:
                self.why = str(error)
            except Exception as error:
                self.why = _("an error in triton-lab: {name}: {error}").format(name=type(error).__name__, error=error)
                if os.environ.get("TRITON_LAB_RAISE"):
                    self._final = True
                    raise
            self._final = True

    def _look(self, executable: Executable) -> None:
        """Take what the cache has, if the compiler is imported: a merely warm kernel does not import it."""
        from triton_lab.native.llvm import jit
        from triton_lab.native.runtime import compiled_function as built

        if self._final or not jit.is_imported():
            return
        with self._lock, contextlib.suppress(jit.CannotCompile):
            if not self._final:
                self.built = built.kept(executable.plan, built.host_signature(self.groups))
                self._final = self.built is not None

    def is_apart(self, machine: Machine, regions: Regions, at_once: bool, besides_sums: bool = False) -> bool:
        """Whether no program of the launch touches what another one writes; False if that is unknown.

        See `Footprints.are_apart`; ``besides_sums``: apart from sums by atomics, see `outline`.
        """
        from triton_lab.native.analysis.launch_footprint import Footprints

        try:
            if besides_sums not in self._footprints:
                made = Footprints(machine.executable.plan, self.groups, besides_sums)
                self._footprints.setdefault(besides_sums, made)
            return self._footprints[besides_sums].are_apart(machine, regions, at_once)
        except Exception:  # our own error, which need not stop the launch: one thread can run it
            if os.environ.get("TRITON_LAB_RAISE"):
                raise
            return False

    def was_apart(self, grid: tuple[int, int, int], place: Callable[[int], int]) -> bool | None:
        """The result of `is_apart` for a similar launch; None if there is none yet. See `Footprints.known`."""
        known = self._footprints.get(False)
        return None if known is None else known.known(grid, place)

    def ended(self, handed: int, engine: Engine) -> None:
        """Record the end of a launch, of which NumPy ran ``handed`` programs."""
        self._handed = self._handed + 1 if handed else 0
        if engine == "auto" and self._handed == _MOST_HANDED:
            self.built, self._stage = None, len(self._stages)
            self.why = _("its checks leave programs to NumPy in every launch")


def _never(executable: Executable) -> str:
    """Why no launch of a kernel can be native; empty if nothing prevents it."""
    if any(op.name == "tt.print" for op in executable.plan.walk()):
        return "it prints"
    return ""


def _kernel_of(executable: Executable) -> _Kernel:
    kernel: _Kernel | None = executable.kept.get("native")
    if kernel is None:
        kernel = executable.kept["native"] = _Kernel(executable)
    return kernel


def _variant_of(machine: Machine, kernel: _Kernel) -> tuple[_Variant, Regions] | str:
    from triton_lab.native.runtime.native_launch import groups_of, regions_of

    regions = regions_of(machine, machine.executable.roots)
    if isinstance(regions, str):
        return regions
    groups = groups_of(regions)
    variant = kernel.variants.get(groups)
    if variant is None:
        variant = kernel.variants.setdefault(groups, _Variant(groups))
    return variant, regions
