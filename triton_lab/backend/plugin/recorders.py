"""A launch while it runs, and the recorders that see it: what each one gets, and from which threads."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_lab.backend.plugin import kernel_arguments as args
from triton_lab.backend.plugin.bare_pointers import placed
from triton_lab.backend.plugin.device_mirror import Mirrors
from triton_lab.backend.plugin.launch_regions import extent_of, regions_of
from triton_lab.backend.plugin.unknown_memory import Finder
from triton_lab.backend.source.kernel_source import KernelSource
from triton_lab.backend.targets import benchmark_events
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Marks, Observer
from triton_lab.interpreter.memory_regions import Memory, MemoryRegion

if TYPE_CHECKING:
    from triton_lab.backend.targets.autotuner_trials import Tuning
    from triton_lab.backend.targets.gpu_timer import Time


@dataclass(eq=False)
class LaunchCall:
    """One launch while it runs, as recorders see it.

    ``arguments`` are the kernel's, in order, constexprs included. What it takes to watch a launch, or to run it on
    NumPy, is made when it is asked for first: all of it by `prepare`. With ``private`` the CPU's own memory is left
    alone, too.
    """

    source: Any
    metadata: Any
    executable: Executable
    grid: tuple[int, int, int]
    arguments: Sequence[Any]
    mirrors: Mirrors
    private: bool = False
    target: str = "cpu"
    # The worker that ran it, if this process did not.
    elsewhere: str = ""
    seconds: float = 0.0
    # The interpreter's time in seconds; for a launch on the GPU, that of the CPU run beside it.
    interpreted: float = 0.0
    # Loop iterations that the interpreter ran, as `Limits.steps` counts them; None if it did not run here.
    steps: int | None = None
    # For a launch on the GPU: the kernel's time there. Next, the time that measuring took.
    time: Time | None = None
    clocked: float = 0.0
    # What an autotuner tried, if one made this launch.
    tuning: Tuning | None = None
    # The file and line of the user's code that launches it.
    site: tuple[str, int] | None = None
    error: BaseException | None = None
    # The results of GPU and CPU for each argument that was written: (name, GPU's tensor, CPU's tensor).
    outputs: list[tuple[str, Any, Any]] = field(default_factory=list)
    remark: str = ""

    def prepare(self) -> None:
        """Make ready to be watched and interpreted. Raises ArgumentError."""
        _ = self.owners, self.objects, self.trial

    @property
    def signature(self) -> dict[str, Any]:
        """The types of the kernel's arguments by name, constexprs included."""
        found: dict[str, Any] = self.source.signature
        return found

    @functools.cached_property
    def passed(self) -> Sequence[Any]:
        """The arguments, with tensors for those that are known by an address alone, where there is one."""
        return placed(self.signature, self.arguments)

    @functools.cached_property
    def objects(self) -> dict[str, Any]:
        """The values of the kernel's arguments by name, constexprs included."""
        return dict(zip(self.signature, self.passed, strict=True))

    @functools.cached_property
    def leaves(self) -> list[args.ArgumentLeaf]:
        """The arguments that exist at run time. Raises ArgumentError."""
        return args.leaves(self.signature, self.passed)

    @functools.cached_property
    def memory(self) -> Memory:
        memory = Memory(regions_of(self.leaves, self.mirrors, self.private))
        memory.resolve = Finder(memory, self.mirrors)
        return memory

    @functools.cached_property
    def owners(self) -> tuple[frozenset[MemoryRegion] | None, ...]:
        """The regions that each of the plan's arguments points into; None: anywhere."""
        return tuple(_reach_of(leaf, self.memory) for leaf in self.leaves for _ in leaf.values)

    @functools.cached_property
    def trial(self) -> bool:
        """Whether an autotuner makes this launch, to try a configuration."""
        return benchmark_events.is_trial()

    @functools.cached_property
    def written(self) -> KernelSource:
        """The user's source: the kernel and the functions that it calls."""
        return KernelSource(self.source.fn, self.executable.plan, self.objects.values())

    def end(self) -> None:
        """Part the memory from its finder: they know each other, and would wait for the garbage collector."""
        if "memory" in self.__dict__:
            self.memory.resolve = None


def _reach_of(leaf: args.ArgumentLeaf, memory: Memory) -> frozenset[MemoryRegion] | None:
    """The regions behind an argument; None where its memory is known by a bare address alone."""
    if leaf.kind == "scalar":
        return frozenset()
    tensor = args.tensor_of(leaf.object)
    if tensor is None:
        return None
    extent = extent_of(tensor)
    region = memory.holding(extent[0]) if extent is not None else None
    return frozenset() if region is None else frozenset([region])


@dataclass(frozen=True)
class Watch:
    """What a recorder observes of a launch: its ``accesses``, or each of its ``operations``, which is slower.

    ``instead`` may run the launch itself if nothing else observes it. It gets a function that does the parts of a task
    (`Launcher.apart`), and returns whether it ran the launch. ``marks`` is called when programs reach a mark that was
    put into the kernel (`triton_lab.testing.coverage`).
    """

    accesses: Observer | None = None
    operations: Observer | None = None
    instead: Callable[[Callable[[Any, Any, Sequence[Any]], list[Any]]], bool] | None = None
    marks: Marks | None = None


class Recorder:
    """Sees launches: ``before`` one runs, which returns what to observe, and ``after``."""

    def before(self, call: LaunchCall) -> Watch:
        raise NotImplementedError

    def after(self, call: LaunchCall) -> None:
        raise NotImplementedError

    def timing(self) -> float:
        """The seconds that measuring the current launch's time on a GPU may take. 0: it runs once."""
        return 0.0

    def missed(self, kernel: str, reason: str) -> None:
        """Called for a launch that ran but cannot be observed."""


class Recorders:
    """The active recorders. They see the launches of all threads, except those that a thread makes ``unrecorded``."""

    def __init__(self) -> None:
        self._all: list[Recorder] = []
        self._here = threading.local()

    def hearing(self) -> list[Recorder]:
        """The recorders of a launch that this thread makes now, the innermost last."""
        alone = getattr(self._here, "alone", None)
        if alone is not None:
            return [alone]
        if not self._all or self.ours:
            return []
        apart = getattr(self._here, "apart", ())
        return [one for one in self._all if one not in apart]

    @property
    def ours(self) -> bool:
        """Whether the launches that this thread makes now are our own, not the user's."""
        return bool(getattr(self._here, "unrecorded", False))

    @contextlib.contextmanager
    def alone(self, recorder: Recorder) -> Iterator[None]:
        """Inside, only ``recorder`` sees this thread's launches."""
        before = getattr(self._here, "alone", None)
        self._here.alone = recorder
        try:
            yield
        finally:
            self._here.alone = before

    @contextlib.contextmanager
    def apart(self) -> Iterator[None]:
        """Inside, this thread's launches are seen by recorders that begin there, and by no other."""
        before = getattr(self._here, "apart", ())
        self._here.apart = (*self._all, *before)
        try:
            yield
        finally:
            self._here.apart = before

    @contextlib.contextmanager
    def listening(self, recorder: Recorder) -> Iterator[None]:
        """Inside, ``recorder`` sees launches."""
        self._all.append(recorder)
        try:
            yield
        finally:
            self._all.remove(recorder)

    @contextlib.contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Inside, no recorder sees this thread's launches: they are our own, not the user's."""
        before = getattr(self._here, "unrecorded", False)
        self._here.unrecorded = True
        try:
            yield
        finally:
            self._here.unrecorded = before


recorders = Recorders()
