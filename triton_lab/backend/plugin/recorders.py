"""A launch while it happens, and who hears of it: what each is shown, and of which threads they hear."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_lab.backend.plugin import kernel_arguments as args
from triton_lab.backend.source.kernel_source import KernelSource
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Marks, Observer
from triton_lab.interpreter.memory_regions import Memory, MemoryRegion

if TYPE_CHECKING:
    from triton_lab.backend.targets.autotuner_trials import Tuning
    from triton_lab.backend.targets.gpu_timer import Time


@dataclass(eq=False)
class LaunchCall:
    """One launch while it happens: what a recorder gets to see.

    ``signature`` and ``objects`` hold the types and values of the kernel's arguments by name,
    constexprs included; ``leaves`` those that exist at run time; ``owners`` the regions that
    each of the plan's arguments points into (None: anywhere).
    """

    source: Any
    metadata: Any
    executable: Executable
    grid: tuple[int, int, int]
    signature: dict[str, Any]
    objects: dict[str, Any]
    leaves: list[args.ArgumentLeaf]
    memory: Memory
    trial: bool
    owners: tuple[frozenset[MemoryRegion] | None, ...]
    target: str = "cpu"
    # The worker that ran it, where that was not this process.
    elsewhere: str = ""
    seconds: float = 0.0
    # What the interpreter took: of a launch on the GPU, the run beside it.
    interpreted: float = 0.0
    # Iterations of loops that the interpreter ran, as `Limits.steps` counts them; None where it did not run here.
    steps: int | None = None
    # Of a launch on the GPU: how long its kernel takes there, and what measuring that took.
    time: Time | None = None
    clocked: float = 0.0
    # What an autotuner tried, where one made this launch.
    tuning: Tuning | None = None
    error: BaseException | None = None
    # What the GPU and the CPU made of each argument that was written: (name, GPU's, CPU's) tensors.
    outputs: list[tuple[str, Any, Any]] = field(default_factory=list)
    remark: str = ""

    @functools.cached_property
    def written(self) -> KernelSource:
        """What the user wrote: the kernel, and the functions that it calls."""
        return KernelSource(self.source.fn, self.executable.plan, self.objects.values())


@dataclass(frozen=True)
class Watch:
    """Who watches a launch: its ``accesses``, or each of its ``operations``, which slows it down.

    ``instead`` runs the launch itself, if it can, where nobody else watches: it is given what does the parts of a
    task (`Launcher.apart`), and says whether it did.
    ``marks`` is called where programs come by a mark that was put into the kernel (`triton_lab.testing.coverage`).
    """

    accesses: Observer | None = None
    operations: Observer | None = None
    instead: Callable[[Callable[[Any, Any, Sequence[Any]], list[Any]]], bool] | None = None
    marks: Marks | None = None


class Recorder:
    """Hears of launches: ``before`` they run, which says who is to watch them, and ``after``."""

    def before(self, call: LaunchCall) -> Watch:
        raise NotImplementedError

    def after(self, call: LaunchCall) -> None:
        raise NotImplementedError

    def timing(self) -> float:
        """How many seconds it may take to measure the time of the launch now heard of, on a GPU; 0: it runs once."""
        return 0.0

    def missed(self, kernel: str, reason: str) -> None:
        """A launch that nobody can look at ran all the same."""


class Recorders:
    """Who hears of launches: of those of all threads, but for those that a thread makes ``unrecorded``."""

    def __init__(self) -> None:
        self._all: list[Recorder] = []
        self._here = threading.local()

    def hearing(self) -> list[Recorder]:
        """Who hears of a launch that this thread makes now, the innermost last."""
        alone = getattr(self._here, "alone", None)
        if alone is not None:
            return [alone]
        return [] if self.ours else list(self._all)

    @property
    def ours(self) -> bool:
        """Whether the launches that this thread makes now are ours, and not the user's."""
        return bool(getattr(self._here, "unrecorded", False))

    @contextlib.contextmanager
    def alone(self, recorder: Recorder) -> Iterator[None]:
        """Inside, ``recorder`` and nobody else hears of this thread's launches."""
        before = getattr(self._here, "alone", None)
        self._here.alone = recorder
        try:
            yield
        finally:
            self._here.alone = before

    @contextlib.contextmanager
    def listening(self, recorder: Recorder) -> Iterator[None]:
        """Inside, ``recorder`` hears of launches."""
        self._all.append(recorder)
        try:
            yield
        finally:
            self._all.remove(recorder)

    @contextlib.contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Inside, no recorder hears of this thread's launches: those are ours, not the user's."""
        before = getattr(self._here, "unrecorded", False)
        self._here.unrecorded = True
        try:
            yield
        finally:
            self._here.unrecorded = before


recorders = Recorders()
