"""`Launch`: a recorded launch, with its accesses, findings, values and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.launch.access import Access
from triton_lab.launch.diagnosis.finding import FindingList
from triton_lab.launch.diagnosis.severity import counted
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.localization import _
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from triton_lab.compiled.advice.speed_advice import Advice
    from triton_lab.compiled.compiled import Compiled
    from triton_lab.compiled.compiled_list import CompiledList
    from triton_lab.launch.comparison.launch_difference import LaunchDifferences
    from triton_lab.launch.diagnosis.verdict import Unchecked, Verdict
    from triton_lab.launch.interleaving.interleavings import Interleavings
    from triton_lab.launch.replay.program_trace import Trace
    from triton_lab.launch.replay.value_origin import Origin
    from triton_lab.launch.replay.variable_values import Values
    from triton_lab.views.launch.accesses.access_values import TouchedValues
    from triton_lab.views.launch.accesses.accesses_view import Accesses
    from triton_lab.views.launch.card.launch_plot_accessor import LaunchPlot
    from triton_lab.views.launch.storage.storage_view import StorageView
    from triton_lab.views.launch.tiling.grid_view import GridView
    from triton_lab.views.launch.tiling.tiling_view import Tiling
    from triton_lab.views.launch.values.origins_view import Origins
    from triton_lab.views.launch.values.steps_view import Steps

# All checks together may take this many seconds, plus this many times the time of the launch.
CHECKING, TIMES = 120.0, 100.0


class Launch(Recorded, RichDisplay):
    """One launch of a kernel: its record, and methods that analyse it.

    ``grid`` is ``(x, y, z)``; program numbers count x fastest. ``seconds`` is the time of the run alone. On a GPU it is
    the median of ``time``, a `Time` of the kernel there. On the CPU it is the interpreter's time, which says nothing
    about a GPU, and ``time`` is None. ``source`` is the kernel's text and ``first_line`` the number of its first line
    in the cell or file. ``tuning`` says what an autotuner tried, if one made the launch. ``configs`` lists what it
    tried just before, as ``(configuration, seconds)``.

    >>> launch
    Launch add_kernel[8, 1, 1] on cpu, 3 tensors, no findings
    >>> launch.kernel, launch.grid, launch.programs, launch.target, launch.error
    ('add_kernel', (8, 1, 1), 8, 'cpu', None)
    >>> [argument.name for argument in launch.arguments]
    ['x_ptr', 'y_ptr', 'out_ptr', 'n', 'BLOCK']
    >>> launch.accesses[0]
    <load of x_ptr, line 21, 1 iteration>
    >>> launch.findings
    no findings
    """

    @cached_property
    def accesses(self) -> list[Access]:
        """One `Access` for each load, store and atomic in source order, also for the one that stopped the launch."""
        result = []
        last = dict([self.stopped] if self.stopped else [])
        for op in sorted({*self.events, *last}):
            kind, dtype, itemsize = self.kinds[op]
            place = self.lines.get(op)
            line, column = (None, None) if place is None else (place.line, place.column)
            events = [*self.events.get(op, ()), *([last[op]] if op in last else ())]
            owner = self.owner_of(op)
            result.append(Access(op, kind, line, column, dtype, itemsize, owner, self.programs, events, self.recall))
        return result

    @cached_property
    def done(self) -> list[Access]:
        """The accesses without the event that stopped the launch: what happened to memory."""
        return [access.completed for access in self.accesses]

    def recall(self, ops: Collection[int]) -> dict[int, list[NDArray[Any]]]:
        """The values of each event of these accesses. Replays the launch once.

        >>> load = launch.accesses[0]
        >>> (values,) = launch.recall([load.op])[load.op]  # one event: all programs ran together
        >>> values.shape
        (8, 128)
        """
        from triton_lab.launch.replay.replay_run import recall

        return recall(self, ops)

    @cached_property
    def verdict(self) -> Verdict:
        """The result of all checks."""
        from triton_lab.launch.checks.check_run import FIXES, check, finished
        from triton_lab.launch.diagnosis.tried_fixes import with_fix
        from triton_lab.launch.recording.progress_callback import within

        with within(CHECKING + TIMES * max(self.seconds, self.interpreted)):
            found = with_fix(self, check(self), check, FIXES)
        return replace(found, findings=finished(self, found.findings))

    @cached_property
    def findings(self) -> FindingList:
        """What is wrong or noteworthy, errors first. As the last value of a cell it is shown as text."""
        return FindingList(self.verdict.findings)

    @property
    def unchecked(self) -> list[Unchecked]:
        """What could not be checked, and why. For these, the absence of a finding proves nothing."""
        return self.verdict.unchecked

    def values(self, name: str, line: int | None = None, programs: Sequence[int] | None = None) -> Values:
        """The values that variable ``name`` took on ``line``, in ``programs`` (all by default).

        Without ``line``, the last line that assigns it. Replays the launch. Raises LookupError, which lists the
        variables there are, and CannotReplay.

        >>> launch.values("offsets").at()[:, 0]
        array([  0, 128, 256, 384, 512, 640, 768, 896], dtype=int32)
        >>> launch.values("offset")
        Traceback (most recent call last):
            ...
        LookupError: add_kernel has no variable 'offset'; it has x_ptr (line 18), y_ptr (line 18), out_ptr...
        """
        from triton_lab.launch.replay.variable_values import values

        return values(self, name, line, programs)

    def trace(self, program: int = 0) -> Trace:
        """Program ``program`` step by step, with the live variables at each step. Replays the launch.

        >>> trace = launch.trace(program=7)
        >>> [(step.kind, step.name) for step in trace.steps if step.kind != "assign"]
        [('load', 'x_ptr'), ('load', 'y_ptr'), ('store', 'out_ptr')]
        """
        from triton_lab.launch.replay.program_trace import trace

        return trace(self, program)

    def interleavings(self, programs: Sequence[int] | None = None, start: str = "") -> Interleavings:
        """The orders in which two programs may take their steps, each run, and the results that they end in.

        By default two programs that race, else the first two. ``start`` is an order to go on from: ``"01"`` is one step
        of each. Raises ValueError for what does not exist, and CannotReplay.

        >>> found = launch.interleavings()  # no element is shared, so there is no step to order
        >>> found.programs, found.orders
        ((0, 1), 1)
        """
        from triton_lab.launch.interleaving.interleavings import Interleavings, racing

        if programs is None:
            programs = racing(self.arguments, self.accesses, self.findings if self.programs > 1 else ())
        return Interleavings(self, programs, start)

    def origins(self, access: Access, program: int, lane: int, iteration: int = 0) -> list[Origin]:
        """The loads behind the value that ``program`` stored in ``lane`` (row-major) of ``access``.

        >>> store = launch.accesses[2]
        >>> [(origin.argument, origin.elements) for origin in launch.origins(store, program=1, lane=5)]
        [('x_ptr', array([133])), ('y_ptr', array([133]))]
        """
        from triton_lab.launch.replay.value_origin import origins

        return origins(self, access, program, lane, iteration)

    def diff(self, other: Launch) -> LaunchDifferences:
        """What is not the same in this launch and the ``other``: a tuple of `LaunchDifference`, empty if nothing is.

        It holds lines of the kernel and globals of one name; scalars and constexprs; dtypes, shapes, strides and
        contents of tensors; the grid, the compiler's options and the target. Nothing is run.

        >>> launch.diff(launch)
        no difference
        """
        from triton_lab.launch.comparison.launch_difference import differences

        return differences(self, other)

    @overload
    def compile(self, target: str | None = None, **options: Any) -> Compiled: ...
    @overload
    def compile(self, target: Sequence[str], **options: Any) -> CompiledList: ...
    def compile(self, target: str | Sequence[str] | None = None, **options: Any) -> Compiled | CompiledList:
        """Compile this launch's kernel for a GPU, with its signature and constants, on any machine.

        Works as `lab.compile`: several targets give a list; the default is this machine's GPU, else sm_90. ``options``
        (num_warps, num_stages, ...) replace those of the launch.

        >>> two = launch.compile("sm_90"), launch.compile("sm_90", num_warps=8)
        >>> [compiled.metadata.warps for compiled in two]
        [4, 8]
        """
        made: Compiled | CompiledList = provided("Launch.compile")(self, target, **options)
        return made

    def advise(self, target: str = "sm_90", *, seconds: float = 20.0, measure: bool | None = None) -> Advice:
        """Edits that make this launch faster on a GPU of ``target``, the best first, each tried on a copy.

        Edits are other warps, stages, blocks and grids, and changes of the kernel's text: masks that can go, orders of
        elements and of programs, loops. Each is compiled for the target, and its time is predicted from its own
        transactions, instructions and occupancy. The results of the best are compared with the launch's: an edit whose
        results differ by more than rounding is dropped. With ``measure`` the suggestions are measured on this
        machine's GPU; by default they are if launches run on such a GPU now. The search takes about ``seconds``.

        The tensors are not touched. Raises CannotReplay for a launch that cannot be run again, ValueError for a target
        whose speeds are not known, CompileError where the kernel itself does not compile, and with ``measure``
        TargetError without a GPU.

        >>> launch.advise("sm_90", seconds=5)
        <advice for add_kernel on sm_90: ...>
        """
        found: Advice = provided("Launch.advise")(self, target, seconds=seconds, measure=measure)
        return found

    # --- Pictures: found when asked for, by `providers` ---------------------------------------------

    @property
    def plot(self) -> LaunchPlot:
        """The launch's pictures: ``launch.plot()`` is its card, ``launch.plot.tiling("x_ptr")`` one picture of it;
        the others are `accesses`, `storage`, `grid`, `values`, `steps` and `origins`, as in ``%%triton --show``."""
        view: LaunchPlot = provided("Launch.plot")(self)
        return view

    def __repr__(self) -> str:
        """One line: ``Launch add_kernel[8, 1, 1] on cpu, 3 tensors, no findings``."""
        tensors = messages.count(sum(argument.kind == "tensor" for argument in self.arguments), "tensor")
        counts = Counter(finding.severity for finding in self.findings)
        text = _("Launch {launched} on {target}, {tensors}, {findings}").format(
            launched=messages.launched(self.kernel, self.grid),
            target=self.target,
            tensors=tensors,
            findings=counted(counts) or _("no findings"),
        )
        return _("{launch}, not all checked").format(launch=text) if self.verdict.unchecked else text

    def tiling(self, name: str, program: int | None = None) -> Tiling:
        """`plot.tiling`."""
        return self.plot.tiling(name, program)

    def storage(self, *names: str) -> StorageView:
        """`plot.storage`."""
        return self.plot.storage(*names)

    def heatmap(
        self, what: Access | str, by: str = "count", over: str = "shape", program: int | None = None
    ) -> Accesses | TouchedValues:
        """`plot.accesses`."""
        return self.plot.accesses(what, by, over, program)

    def grid_view(
        self, by: str = "order", sms: int = 132, argument: str | None = None, program: int | None = None
    ) -> GridView:
        """`plot.grid`."""
        return self.plot.grid(by, sms, argument, program)

    def steps(self, program: int | None = None, step: int | None = None) -> Steps:
        """`plot.steps`."""
        return self.plot.steps(program, step)

    def origins_view(self, access: Access, program: int = 0, lane: int = 0, iteration: int = 0) -> Origins:
        """`plot.origins`."""
        return self.plot.origins(access, program, lane, iteration)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the launch to one file, from which `load` restores results, findings and pictures on any machine.

        The file holds the kernel as data, the arguments and their memory before the launch, the GPU's results if it ran
        there, and what `compile` has given so far. It holds no pickle and no Python code. Raises CannotReplay if the
        memory was not saved.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "add.launch")
        >>> launch.save(path)
        >>> lab.load(path).plot.tiling("x_ptr").title()
        'x_ptr (1000): which program loads each element'
        """
        from triton_lab.launch.saving.launch_writer import save

        save(self, path)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write all pictures as one HTML file that needs no network; the pictures are interactive.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "add.html")
        >>> launch.to_html(path)
        >>> os.path.getsize(path) > 10_000
        True
        """
        Path(path).write_text(provided("Launch.page")(self), encoding="utf-8")
