"""`Compiled`: what a GPU's compiler made of a kernel; and `Difference`: two of them compared."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from triton_lab.compiled.architecture import Architecture
from triton_lab.compiled.compilation_text import aligned, side_by_side, titles, without_places
from triton_lab.compiled.compiler_client import CompileOutcome
from triton_lab.compiled.front_end import Request
from triton_lab.compiled.instruction_mix import changed
from triton_lab.compiled.resource_facts import Metadata, metadata_of
from triton_lab.compiled.user_sources import Source
from triton_lab.localization import _
from triton_lab.messages import count
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from triton_lab.compiled.cost.cost import LaunchCost
    from triton_lab.compiled.kernel_layouts import KernelLayouts
    from triton_lab.compiled.lines.stage_lines import StageLines
    from triton_lab.compiled.pass_runs import PassRuns
    from triton_lab.compiled.passes import Passes
    from triton_lab.compiled.transactions.transactions import Transactions
    from triton_lab.launch.access import Access
    from triton_lab.launch.recording.launch_record import Recorded
    from triton_lab.views.compiled.compiled_plot import CompiledPlot


@dataclass(frozen=True, eq=False)
class Compiled(RichDisplay):
    """A kernel compiled for ``target``: its stages and the resources of its machine code.

    ``constants`` and ``options`` are what it was compiled with; ``file`` and ``line`` are where the kernel begins.
    ``seconds`` is how long each stage took, unless it came from the cache. ``sources`` is what the user wrote: the
    kernel, then its helpers. ``request`` is what was compiled. ``launch`` is the launch whose kernel this is, if
    `Launch.compile` made it.

    >>> compiled = launch.compile("sm_90")
    >>> compiled
    <add_kernel for sm_90: ... registers, 0 bytes of shared memory, ... instructions>
    >>> list(compiled.stages)
    ['ttir', 'ttgir', 'llir', 'ptx', 'cubin', 'sass']
    """

    kernel: str
    architecture: Architecture = field(repr=False)
    constants: Mapping[str, Any]
    options: Mapping[str, Any]
    file: str
    line: int
    outcome: CompileOutcome = field(repr=False)
    sources: tuple[Source, ...] = field(repr=False, default=())
    request: Request | None = field(repr=False, default=None)
    launch: Recorded | None = field(repr=False, default=None)

    @property
    def target(self) -> str:
        """The name of the GPU's instruction set: ``sm_90``, ``gfx942``."""
        return self.architecture.name

    @property
    def stages(self) -> Mapping[str, str | bytes]:
        """The output of each stage, in order: text, except ``cubin`` and ``hsaco``, which are bytes.

        >>> "ld.global" in launch.compile("sm_90").stages["ptx"]
        True
        """
        return self.outcome.stages

    @property
    def seconds(self) -> Mapping[str, float]:
        """How long each stage took."""
        return self.outcome.seconds

    @cached_property
    def metadata(self) -> Metadata:
        """Registers, shared memory, instructions.

        >>> launch.compile("sm_90").metadata.shared
        0
        """
        return metadata_of(self.architecture, self.outcome)

    @cached_property
    def lines(self) -> StageLines:
        """Which lines of each stage belong to which lines of the source.

        >>> compiled = launch.compile("sm_90")
        >>> [compiled.stages["sass"].splitlines()[k - 1].split()[-3] for k in compiled.lines.of("sass", 22)][-1]
        'LDG.E'
        """
        from triton_lab.compiled.lines.stage_lines import StageLines

        return StageLines(self.stages, self.sources)

    @cached_property
    def layouts(self) -> KernelLayouts:
        """The kernel's values that have a layout: line, variable, shape, type, and what each layout conversion moves.

        >>> launch.compile("sm_90").layouts.of(21)[-1].layout.kind.name
        'blocked'
        """
        from triton_lab.compiled.kernel_layouts import KernelLayouts

        return KernelLayouts(self.kernel, str(self.stages.get("ttgir", "")), self.lines)

    @cached_property
    def passes(self) -> Passes:
        """What each compiler pass changed on the way to LLVM IR, and how long it took. Compiles the kernel again.

        Raises CompileError where that fails, LookupError for a compilation read from a file.

        >>> passes = launch.compile("sm_90").passes
        >>> passes.introduced("ttg.async_copy_global_to_local")
        []
        >>> [one.name for one in passes.introduced("arith.addf")]
        ['what Triton reads']
        """
        from triton_lab.compiled.passes import passes_of

        if self.request is None:
            raise LookupError(_("a kernel that was loaded from a file has no passes: compile it here"))
        return passes_of(self.request, self.kernel, (self.file, self.line))

    def run(self, seconds: float = 60.0) -> PassRuns:
        """Run the module after each pass of the compiler on the launch's inputs: which pass changes the result?

        TTIR and TTGIR are run on the CPU as they stand after each pass, of Triton kernels and of Gluon's. The kernel
        is compiled once for this and for `passes`. If all programs would take longer than ``seconds``, as many run as
        that allows, and the result says which; `PassRuns.values` has what a program computes line by line. Raises
        CompileError where the compilation fails, LookupError without a launch, CannotReplay for a launch that cannot be
        run again.

        >>> launch.compile("sm_90").run().first is None
        True
        """
        from triton_lab.compiled.pass_runs import runs_of

        launch, _unused = self._recorded()
        known: dict[float, PassRuns] = vars(self).setdefault("_pass_runs", {})
        if seconds not in known:
            passes = self.passes
            assert self.request is not None
            known[seconds] = runs_of(passes, self.request, launch, (self.file, self.line), seconds)
        return known[seconds]

    @property
    def problems(self) -> tuple[str, ...]:
        """The reasons why a GPU could not run it, in words."""
        return self.metadata.problems(self.architecture)

    @cached_property
    def transactions(self) -> Transactions:
        """The launch's memory transactions: requests and sectors of each line, bank conflicts, and the worst line.

        Raises ValueError for AMD's targets, LookupError for a kernel compiled without a launch.

        >>> print(launch.compile("sm_90").transactions)
        line   access          efficiency   requests   sectors   per request   moved as
        21     load x_ptr      100%         32         125       3.91          4 bytes a lane
        22     load y_ptr      100%         32         125       3.91          4 bytes a lane
        23     store out_ptr   100%         32         125       3.91          4 bytes a lane
        """
        from triton_lab.compiled.transactions.transactions import transactions

        launch, accesses = self._recorded()
        return transactions(launch, accesses, self.architecture, self.metadata, self.stages)

    @cached_property
    def cost(self) -> LaunchCost:
        """What the launch moves and computes, what limits it, and each line's share.

        Raises LookupError for a kernel compiled without a launch.

        >>> print(launch.compile("sm_90").cost)
        bytes, each counted once   12,000
        bytes that lanes access    12,000
        bytes in sectors           12,000
        operations on floats       1,024
        operations on integers     ...
        """
        from triton_lab.compiled.cost.cost import LaunchCost

        launch, accesses = self._recorded()
        moved = self.transactions if self.architecture.is_nvidia else None
        return LaunchCost(launch, accesses, self.target, self.metadata, moved)

    def _recorded(self) -> tuple[Recorded, Sequence[Access]]:
        """The launch and its accesses. Raises LookupError without a launch."""
        from triton_lab.launch.launch import Launch

        if not isinstance(self.launch, Launch):
            raise LookupError(
                _(
                    "only a recorded launch has addresses. Record the launch with lab.record(), and call "
                    "launch.compile(...)"
                )
            )
        return self.launch, self.launch.accesses

    def compare(self, other: Compiled) -> Difference:
        """Compare this with ``other``: another target, another configuration, or the kernel after an edit.

        >>> difference = launch.compile("sm_90").compare(launch.compile("sm_90", num_warps=8))
        >>> difference.titles
        ('sm_90, 4 warps', 'sm_90, 8 warps')
        >>> dict(row[:2] for row in difference.table())["warps"]
        '4 of 32 lanes'
        """
        return Difference(self, other)

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.constants.items())
        head = f"{self.kernel} for {self.target}" + (f" with {settings}" if settings else "")
        return "\n".join([head, *(f"  ! {one}" for one in self.problems), *aligned(list(self.metadata.rows()))])

    def __repr__(self) -> str:
        held = self.metadata
        count = sum(held.opcodes.values())
        return (
            f"<{self.kernel} for {self.target}: {held.registers} registers, {held.shared:,} bytes of shared memory, "
            f"{count:,} instructions>"
        )

    @property
    def plot(self) -> CompiledPlot:
        """Its pictures: ``compiled.plot()`` is a card with all of them.

        >>> launch.compile("sm_90").plot()
        add_kernel for sm_90 with BLOCK=128...
        """
        view: CompiledPlot = provided("Compiled.plot")(self)
        return view


@dataclass(frozen=True, eq=False)
class Difference:
    """The compilations ``before`` and ``after``, compared; it prints as a table of both."""

    before: Compiled = field(repr=False)
    after: Compiled = field(repr=False)

    @property
    def titles(self) -> tuple[str, str]:
        """The titles of the two: everything in which they differ."""
        return titles(told_apart(self.before), told_apart(self.after))

    def table(self) -> list[tuple[str, ...]]:
        """Rows of name and both values, under the titles; then the instructions whose counts differ."""
        return side_by_side([list(one.metadata.rows()) for one in (self.before, self.after)], self.titles)

    def opcodes(self) -> dict[str, tuple[int, int]]:
        """The instructions whose counts differ, with both counts, the largest change first."""
        return changed(self.before.metadata.opcodes, self.after.metadata.opcodes)

    def diff(self, stage: str, context: int = 3) -> str:
        """The lines of ``stage`` that differ, in the format of ``diff -u``; "" where none does.

        Source locations are left out. Raises LookupError unless both have the stage as text.
        """
        both = [
            name for name, text in self.before.stages.items() if name in self.after.stages and isinstance(text, str)
        ]
        if stage not in both:
            raise LookupError(
                _("the stage {stage} does not exist as text in both; these stages do: {both}").format(
                    stage=repr(stage), both=", ".join(both)
                )
            )
        one, other = (list(without_places(str(each.stages[stage]))) for each in (self.before, self.after))
        return "\n".join(difflib.unified_diff(one, other, *self.titles, lineterm="", n=context))

    def __str__(self) -> str:
        problems = [f"! {problem}" for one in (self.before, self.after) for problem in one.problems]
        return "\n".join([*problems, *aligned(self.table())])

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"text/plain": str(self)}, {}


def told_apart(one: Compiled) -> dict[str, str]:
    """The properties that distinguish a compilation from others, in words, by name."""
    held = one.metadata
    return {
        "kernel": one.kernel,
        "target": one.target,
        "warps": count(held.warps, "warp"),
        "stages": count(held.stages, "stage"),
        **{name: f"{name}={value}" for name, value in one.constants.items()},
        **{name: f"{name}={value}" for name, value in one.options.items() if name not in ("num_warps", "num_stages")},
    }
