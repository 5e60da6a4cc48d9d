"""The methods of `launch.plot`, which make the pictures of a launch: one for each row of `launch_tabs.TABS`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from triton_lab.localization import _
from triton_lab.views.launch.card.card_tab import listed
from triton_lab.views.launch.card.launch_tabs import TABS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch
    from triton_lab.views.launch.accesses.access_values import TouchedValues
    from triton_lab.views.launch.accesses.accesses_view import Accesses
    from triton_lab.views.launch.accesses.timeline_view import TimelineView
    from triton_lab.views.launch.benchmark.autotune_view import Autotune
    from triton_lab.views.launch.card.card_contents import Contents
    from triton_lab.views.launch.storage.shared_memory_view import SharedMemoryView
    from triton_lab.views.launch.storage.storage_view import StorageView
    from triton_lab.views.launch.tiling.grid_view import GridView
    from triton_lab.views.launch.tiling.tiling_view import Tiling
    from triton_lab.views.launch.values.debugger_view import DebuggerView
    from triton_lab.views.launch.values.interleaving_view import InterleavingView
    from triton_lab.views.launch.values.origins_view import Origins
    from triton_lab.views.launch.values.pipeline_view import PipelineView
    from triton_lab.views.launch.values.program_variables import ProgramVariables
    from triton_lab.views.launch.values.steps_view import Steps
    from triton_lab.views.launch.values.variable_view import VariableView


class Pictures:
    """The pictures of a launch, named as in ``%%triton --show``.

    Each is live, a PNG and words, and shows itself as the last value of a cell. Programs are linear numbers, x fastest.

    >>> launch.plot.tiling("x_ptr", program=2).title()
    'x_ptr (1000): which program loads each element'
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch

    @cached_property
    def _card(self) -> Contents:
        from triton_lab.views.launch.card.card_contents import Contents

        return Contents(self._launch)

    def tiling(self, argument: str | None = None, program: int | None = None, layer: str = "both") -> Tiling:
        """The elements of ``argument`` coloured by the program that touches them; ``program`` stands out.

        ``argument`` is by default the first that a finding concerns, or the first output. ``layer``: ``"loads"``,
        ``"stores"`` or ``"both"``. Raises ValueError if there is no such tensor argument, program or layer.

        >>> launch.plot.tiling("x_ptr", program=2).title()
        'x_ptr (1000): which program loads each element'
        """
        from triton_lab.views.launch.tiling.tiling_view import Tiling

        return Tiling(self._launch, argument or self._card.first_argument(), program, layer)

    def accesses(
        self,
        what: Access | str | None = None,
        by: str = "count",
        over: str = "shape",
        program: int | None = None,
        iteration: int | None = None,
    ) -> Accesses | TouchedValues:
        """One access, or all accesses to the named argument (as in `tiling`), as a heatmap over its elements.

        ``by``: ``"count"``, ``"program"``, ``"iteration"``, ``"reuse"``, ``"order"``, or ``"values"`` (the loaded or
        stored values, with a histogram). ``over``: ``"shape"``, or ``"storage"``, in bytes and with the lines of a
        GPU's cache. ``program`` and ``iteration`` (of its loop) stand out. Raises ValueError for anything else.

        >>> launch.plot.accesses("x_ptr", by="reuse", over="storage").title()
        'x_ptr (1000): how many programs touch each element, over its storage'
        """
        what = what or self._card.first_argument()
        if by == "values":
            from triton_lab.views.launch.accesses.access_values import TouchedValues

            return TouchedValues(self._launch, what)
        from triton_lab.views.launch.accesses.accesses_view import Accesses

        return Accesses(self._launch, what, by, over, program, iteration)

    def timeline(self, argument: str | None = None, program: int | None = None) -> TimelineView:
        """Which elements of ``argument`` are touched when: time runs down, in the order of the record, elements across.

        ``argument`` is by default one that an error concerns, else that of most iterations. With ``program``, only what
        that program touches. On a GPU programs have no order among themselves. Raises ValueError if there is no such
        tensor argument or program.

        >>> launch.plot.timeline("x_ptr", program=2).title()
        'x_ptr (1000): accessed by program (2, 0, 0) over time'
        """
        from triton_lab.views.launch.accesses.timeline_view import TimelineView

        return TimelineView(self._launch, argument or self._card.first_argument(over_time=True), program)

    def storage(self, *arguments: str) -> StorageView:
        """The tensor arguments (or those named) as they lie in memory, byte by byte: strides, gaps, and shared memory.

        Raises ValueError for a name that no tensor argument has.

        >>> launch.plot.storage("x_ptr", "out_ptr").title()
        'Storage of x_ptr, out_ptr'
        """
        from triton_lab.views.launch.argument_names import tensor_argument
        from triton_lab.views.launch.storage.storage_view import StorageView

        chosen = [tensor_argument(self._launch, name) for name in arguments]
        return StorageView(
            chosen or [one for one in self._launch.arguments if one.kind in ("tensor", "descriptor")], self._launch
        )

    def grid(
        self, by: str = "order", sms: int = 132, argument: str | None = None, program: int | None = None
    ) -> GridView:
        """The programs in the order in which they start, and ``argument`` in the colours of its programs.

        ``by``: ``"order"``, ``"wave"`` (of ``sms`` programs that run at once), ``"lanes"``, ``"bytes"``,
        ``"iterations"``, or ``"shared"`` (bytes of input in common with ``program``). ``argument`` is as in `tiling`.
        Raises ValueError for anything else.

        >>> launch.plot.grid("wave", sms=4).title()
        'add_kernel: which programs run together'
        """
        from triton_lab.views.launch.tiling.grid_view import GridView

        return GridView(self._launch, by, sms, argument or next(iter(self._card.touched), None), program)

    def values(
        self, variable: str | None = None, line: int | None = None, program: int | None = None, iteration: int = 0
    ) -> ProgramVariables | VariableView:
        """The values of the variables of ``program`` at its end, or of one ``variable``.

        ``program`` is by default the first that an error or a warning concerns, or 0. With a name, the picture has the
        values that the variable took on ``line`` (by default the last that assigns it), in any program and iteration.
        The launch is replayed.

        Raises LookupError, which lists the variables, ValueError for a program or iteration that does not exist, and
        CannotReplay.

        >>> launch.plot.values("offsets", program=3).title()
        'offsets in line 19'
        """
        if variable is None:
            from triton_lab.views.launch.values.program_variables import ProgramVariables

            return ProgramVariables(self._launch, self._card.program if program is None else program)
        return self._launch.values(variable, line).view(program, iteration)

    def debugger(
        self,
        program: int | None = None,
        breakpoints: Sequence[int | str | tuple[int, str]] = (),
        watch: Sequence[str] = (),
        beside: int | None = None,
    ) -> DebuggerView:
        """The steps of ``program`` with breakpoints: lines, conditions, or ``(line, condition)``.

        It stands at the first breakpoint of the program, by default of the first program that one stops.
        ``breakpoint()`` in the kernel counts, too. If nothing stops a program, it is the one of `values`. ``watch`` has
        expressions over blocks, shown at each step, and ``beside`` is a program whose values stand beside. The keys are
        pdb's: n, c, and rn, rc backwards.

        Raises BreakpointError and ConditionError for what cannot be read, LookupError for a program that does not
        exist, and CannotReplay.

        >>> launch.plot.debugger(breakpoints=["x.max() > 500"], watch=["x.max()"]).program
        3
        """
        from triton_lab.views.launch.values.debugger_view import DebuggerView

        view = DebuggerView(self._launch, program, breakpoints, watch, beside)
        if program is not None or view.stops or breakpoints:
            return view
        return DebuggerView(self._launch, self._card.program, (), watch, beside)

    def interleaving(self, programs: Sequence[int] | None = None, order: str = "") -> InterleavingView:
        """Two programs step by step, in an order that you choose: what each loads and stores, and what memory holds.

        ``programs`` are by default two that race, else the first two. ``order``, such as ``"0110"``, is that of the
        static picture: 0 for the first of them. All orders are run, up to a bound. Raises ValueError for programs or an
        order that there is not, and CannotReplay.

        >>> launch.plot.interleaving().title()
        'add_kernel: who goes next, program (0, 0, 0) or program (1, 0, 0)?'
        """
        from triton_lab.views.launch.values.interleaving_view import InterleavingView

        return InterleavingView(self._launch, programs, order)

    def steps(self, program: int | None = None, step: int | None = None) -> Steps:
        """``program`` (as in `values`) step by step, with the live variables after each.

        The picture stands at ``step``, counted from 0. By default it stands at the end; without a program, at the line
        of an error. The launch is replayed.

        Raises ValueError for a program or step that does not exist, and CannotReplay.

        >>> launch.plot.steps(program=1, step=2).title()
        'add_kernel, program (1, 0, 0): step 2 of 11'
        """
        from triton_lab.views.launch.values.steps_view import Steps

        if program is None and step is None:
            return Steps(self._launch, self._card.program).at_line(self._card.line)
        return Steps(self._launch, self._card.program if program is None else program, step)

    def pipeline(self, program: int | None = None) -> PipelineView:
        """The asynchronous work of ``program`` over time: who works on which buffer, who waits for what.

        ``program`` is as in `values`. For kernels of Gluon, which work on shared memory themselves. The launch is
        replayed. Raises ValueError for a program that does not exist, CannotReplay.

        >>> launch.plot.pipeline().title()
        'add_kernel, program (0, 0, 0): its pipeline'
        """
        from triton_lab.views.launch.values.pipeline_view import PipelineView

        return PipelineView(self._launch, self._card.program if program is None else program)

    def shared_memory(self, buffer: str | None = None, line: int | None = None, warp: int = 0) -> SharedMemoryView:
        """A buffer in shared memory bank by bank, with what ``warp`` accesses at once drawn over it.

        By default an access in the line of an error, else that with most bank conflicts; ``buffer`` is a variable's
        name, ``line`` that of an access. For kernels of Gluon. Raises ValueError for what does not exist, LayoutError
        for a warp that does not.

        >>> launch.plot.shared_memory()
        Traceback (most recent call last):
            ...
        ValueError: add_kernel has no buffer in shared memory
        """
        from triton_lab.views.launch.storage.shared_memory_view import shared_memory_view

        return shared_memory_view(self._launch, buffer, line, warp, self._card.line)

    def origins(
        self, store: Access | None = None, program: int | None = None, lane: int | None = None, iteration: int = 0
    ) -> Origins:
        """The elements from which the value was computed that ``program`` stored in ``lane`` (row-major) of ``store``.

        ``store`` is by default the last store to an argument that an error concerns, else to any. Without a lane, the
        value is the first that the program stored; without a program, the first of one that an error concerns, else one
        in the middle of all stored elements. The launch is replayed. Raises ValueError if nothing was stored, or for a
        program or lane that does not exist, and CannotReplay.

        >>> launch.plot.origins(program=1, lane=2).title()
        'out_ptr[130], store in line 23, program (1, 0, 0): where it came from'
        """
        from triton_lab.views.launch.values.origins_view import Origins

        chosen = self._card.traced if store is None else store
        if chosen is None:
            atomic = any(access.kind == "atomic" for access in self._launch.done)
            reason = (
                _("{kernel} changes its arguments with atomics alone: origins are those of values that a store writes")
                if atomic
                else _("{kernel} stores to no argument, so no element has origins")
            )
            raise ValueError(reason.format(kernel=self._launch.kernel))
        if lane is None:
            return Origins.first(self._launch, chosen, program, self._card.wrong_program)
        return Origins(self._launch, chosen, program or 0, lane, iteration)

    def autotune(self) -> Autotune:
        """The trials of Triton's autotuner for the launch: configurations, times, the one taken, why others failed.

        Raises ValueError for a launch that no autotuner made.

        >>> launch.plot.autotune()
        Traceback (most recent call last):
            ...
        ValueError: no autotuner made this launch of add_kernel: @triton.autotune above a kernel tries configurations
        """
        from triton_lab.views.launch.benchmark.autotune_view import Autotune

        return Autotune(self._launch)

    def __repr__(self) -> str:
        return listed(
            _("Pictures of {kernel}:").format(kernel=self._launch.kernel),
            _("the card"),
            [tab for tab in TABS if tab.help and tab.home],
        )
