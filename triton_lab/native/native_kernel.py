"""What is known of a kernel as machine code: the function of each variant, or why there is none."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from triton_lab.interpreter.kernel_errors import Unsupported
from triton_lab.interpreter.machine import Engine
from triton_lab.localization import N_, _, translated
from triton_lab.native.runtime import background_compiler
from triton_lab.native.runtime.transaction import RollbackCounts

if TYPE_CHECKING:
    from triton_lab.interpreter.bound_plan import Executable
    from triton_lab.interpreter.machine import Machine
    from triton_lab.native.analysis.launch_footprint import Footprints
    from triton_lab.native.runtime.compiled_function import Built
    from triton_lab.native.runtime.native_launch import Regions


# Under "auto", the seconds that a kernel must have cost NumPy in this process: for a look-up in the cache (if other
# kernels are native already), and for compiling it.
WARM_SECONDS, HOT_SECONDS = 0.005, 0.05
# The consecutive launches with programs stopped by guards after which a variant is left to NumPy.
_MOST_HANDED = 8
COLD = N_("it is not hot yet")


class NativeKernel:
    """What is known of a kernel besides its variants: its launches' cost on NumPy, and ``why`` none can be native."""

    def __init__(self, executable: Executable) -> None:
        self.seconds = 0.0
        self.variants: dict[tuple[tuple[int, tuple[int, ...]], ...], NativeVariant] = {}
        # Stored here by `triton_lab.backend.plugin.dispatch_cache`.
        self.again: Any = None
        self.why = _never(executable)


class NativeVariant:
    """A kernel for launches with one pattern of aliasing: ready if ``built`` is set, else ``why`` says why not."""

    def __init__(self, groups: tuple[tuple[int, tuple[int, ...]], ...]) -> None:
        self.groups = groups
        self.built: Built | None = None
        self.why = translated(COLD)
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
