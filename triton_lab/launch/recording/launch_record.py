"""`Recorded`: the record of a launch: its kernel, arguments, accesses and memory.

Analyses take a `Recorded`; `Launch` adds methods for users.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import NOTHING, Ranges
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.snapshot import CannotReplay, Snapshot
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.backend.targets.autotuner_trials import Tuning
    from triton_lab.backend.targets.gpu_timer import Time
    from triton_lab.launch.recording.tape import Tape
    from triton_lab.launch.recording.watcher import Watcher
    from triton_lab.launch.replay.instrumented_copy import Surroundings, Twin, Variable
    from triton_lab.launch.sharding.shard_conflict import Meeting
    from triton_lab.launch.source_lines import UserLine


@dataclass(eq=False)
class Recorded:
    """What is known of a launch without a replay; see `Launch` for what the fields mean."""

    kernel: str
    grid: tuple[int, int, int]
    arguments: tuple[Argument, ...]
    target: str
    source: str
    first_line: int
    file: str
    executable: Executable = field(repr=False)
    # Triton's source of the kernel and the metadata of the result, from which the probed twin is compiled.
    compiled: tuple[Any, Any] = field(repr=False)
    # The globals and helpers that the kernel used at the launch.
    surroundings: Surroundings = field(repr=False)
    events: Mapping[int, list[AccessEvent]] = field(repr=False, default_factory=dict)
    kinds: Mapping[int, tuple[str, str, int]] = field(repr=False, default_factory=dict)
    lines: Mapping[int, UserLine | None] = field(repr=False, default_factory=dict)
    tape: Tape | None = field(repr=False, default=None)
    snapshot: Snapshot | None = field(repr=False, default=None)
    thread: str = field(default_factory=lambda: threading.current_thread().name)
    seconds: float = 0.0
    time: Time | None = None
    # The interpreter's seconds. It also runs the launches of a GPU, to find what they touch.
    interpreted: float = 0.0
    error: BaseException | None = None
    # If this is a part of a launch: the programs that it ran.
    part: range | None = None
    # Where its parts conflicted in memory; after that it ran whole.
    met: Meeting | None = field(repr=False, default=None)
    # What an autotuner tried, if one made this launch, at this launch or an earlier one.
    tuning: Tuning | None = None
    # The file and line of the user's code that launched it.
    site: tuple[str, int] | None = None
    # The bytes that the trials wrote which were watched, all together.
    tried_writes: Ranges = field(repr=False, default=NOTHING)
    # Memory before these trials; None if it is not known.
    before_trials: Snapshot | None = field(repr=False, default=None)
    configs: list[tuple[str, float]] = field(default_factory=list)
    printed: str = ""
    dropped: str = ""
    # For a launch on the GPU: how its accesses were found.
    remark: str = ""
    # The watchers that checked it while it ran, by the check's name: all that can, if it is too large to replay.
    watched: Mapping[str, Watcher] = field(repr=False, default_factory=dict)
    # For a launch on the GPU: (argument, the GPU's result, the CPU's result) for each written argument.
    outputs: list[tuple[str, Any, Any]] = field(repr=False, default_factory=list)
    # The results of `Launch.compile` so far, each a `compiled.Compiled`: the card shows them.
    compilations: list[Any] = field(repr=False, default_factory=list)

    @property
    def programs(self) -> int:
        """How many programs the grid has."""
        return int(np.prod(self.grid))

    @property
    def own(self) -> range:
        """The numbers of the programs that ran: the whole grid, or the range of this part of a launch."""
        return range(self.programs) if self.part is None else self.part

    def argument(self, name: str) -> Argument:
        """The argument called ``name``; otherwise LookupError, which lists the arguments.

        >>> launch.argument("x_ptr").shape
        (1000,)
        >>> launch.argument("z_ptr")
        Traceback (most recent call last):
            ...
        LookupError: add_kernel has no argument 'z_ptr'; it has x_ptr, y_ptr, out_ptr, n, BLOCK
        """
        for argument in self.arguments:
            if argument.name == name:
                return argument
        raise LookupError(
            _("{kernel} has no argument {name}; it has {names}").format(
                kernel=self.kernel, name=repr(name), names=", ".join(a.name for a in self.arguments)
            )
        )

    @property
    def stopped(self) -> tuple[int, AccessEvent] | None:
        """The operation that stopped the launch, and its event; None if no access stopped it."""
        return None if self.tape is None else self.tape.stopped

    @cached_property
    def plan_arguments(self) -> list[Argument]:
        """The arguments as the plan counts them: without constexprs, and with a descriptor's extents and strides."""
        flat: list[Argument] = []
        for argument in self.arguments:
            if argument.kind != "constexpr":
                # A descriptor is followed by its extents and strides.
                flat.extend([argument] * (1 + 2 * len(argument.shape) if argument.kind == "descriptor" else 1))
        return flat

    def owner_of(self, op: int) -> Argument | None:
        """The argument that access ``op`` belongs to, by the origin of its pointer, else by address.

        >>> [launch.owner_of(access.op).name for access in launch.accesses]
        ['x_ptr', 'y_ptr', 'out_ptr']
        """
        flat = self.plan_arguments
        roots = self.executable.roots.get(op)
        if roots is not None and len(roots) == 1:
            return flat[next(iter(roots))]
        candidates = [flat[k] for k in sorted(roots)] if roots else [a for a in flat if a.kind != "scalar"]
        for event in self.events.get(op, ()):
            active = event.addresses()[event.active()]
            if active.size:
                first = int(active.flat[0])
                for argument in candidates:
                    if argument.storage_address <= first < argument.storage_address + argument.storage_bytes:
                        return argument
        if roots and self.stopped is not None and self.stopped[0] == op:
            # The failed access was intended for the nearest of the arguments that its pointer may come from.
            event = self.stopped[1]
            first = int(event.addresses()[event.astray()][0])
            return min(candidates, key=lambda one: one.distance(first), default=None)
        return None

    @cached_property
    def twin(self) -> Twin:
        """The probed kernel, compiled on first use."""
        from triton_lab.launch.replay.instrumented_copy import build

        if self.compiled[0] is None:
            raise CannotReplay(_("the variables of this launch were not saved with it"))
        return build(*self.compiled, self.surroundings)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The places where the kernel's source gives a variable a value."""
        return self.twin.variables
