"""`compiled.plot`: the pictures of a compilation by their names; called itself, it makes the card with all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_lab.localization import _
from triton_lab.views.launch.card.card_tab import listed
from triton_lab.views.launch.card.launch_tabs import COMPILED_TABS

if TYPE_CHECKING:
    from triton_lab.compiled.compiled import Compiled
    from triton_lab.views.compiled.compiled_card import CompilationCard
    from triton_lab.views.compiled.cost_view import CostView
    from triton_lab.views.compiled.passes_view import PassesView
    from triton_lab.views.compiled.resource_table import ResourceTable
    from triton_lab.views.compiled.stages_view import Stages
    from triton_lab.views.compiled.transactions_view import TransactionsView
    from triton_lab.views.layouts.kernel_layouts_view import KernelLayoutsView


class CompiledPlot:
    """The pictures of a compilation. Each is live, a PNG and words, and shows itself as the last value of a cell.

    >>> compiled = launch.compile("sm_90")
    >>> compiled.plot().title()
    'add_kernel for sm_90'
    """

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled

    def __call__(self) -> CompilationCard:
        """All pictures in one card.

        >>> launch.compile("sm_90").plot().title()
        'add_kernel for sm_90'
        """
        from triton_lab.views.compiled.compiled_card import CompilationCard

        return CompilationCard([self._compiled])

    def compiled(self) -> ResourceTable:
        """Registers, shared memory, instructions.

        >>> launch.compile("sm_90").plot.compiled().title()
        'add_kernel for sm_90'
        """
        from triton_lab.views.compiled.resource_table import ResourceTable

        return ResourceTable([self._compiled])

    def stages(self, *shown: str) -> Stages:
        """The source beside every stage: pick a line to see what became of it, or where it comes from.

        ``shown`` are the stages that stand beside the source at first, two at most. Raises ValueError for others.

        >>> launch.compile("sm_90").plot.stages().title()
        'add_kernel for sm_90: from the source to the machine code'
        """
        from triton_lab.views.compiled.stages_view import Stages

        return Stages(self._compiled, shown)

    def transactions(self, program: int | None = None, line: int | None = None) -> TransactionsView:
        """The memory traffic of each access of the launch.

        The heatmap shows ``line`` (by default the one that wastes most) and ``program``, a linear number.

        Raises ValueError for a program or line that does not exist and for AMD's targets, LookupError without a launch.

        >>> launch.compile("sm_90").plot.transactions(program=7).title()
        'add_kernel for sm_90: memory requests'
        """
        from triton_lab.views.compiled.transactions_view import TransactionsView

        return TransactionsView(self._compiled, program, line)

    def cost(self, gpu: str | None = None) -> CostView:
        """Bytes, operations, occupancy, a roofline, and each line's share.

        ``gpu`` is the GPU of the roofline: A100, H100, H200, B200, RTX 4090 or MI300X.

        Raises LookupError for another GPU, and for a compilation without a launch.

        >>> launch.compile("sm_90").plot.cost("H200").title()
        'add_kernel for sm_90: cost'
        """
        from triton_lab.views.compiled.cost_view import CostView

        return CostView(self._compiled, gpu)

    def layouts(self) -> KernelLayoutsView:
        """The kernel's values, each with its layout: a list to pick from, and what each conversion moves.

        >>> launch.compile("sm_90").plot.layouts().title()
        'add_kernel: 1 layout'
        """
        return self._compiled.layouts.plot()

    def passes(self, program: int | None = None) -> PassesView:
        """What each pass of the compiler changed; the kernel is compiled again for this.

        ``program``, a linear number, is the one whose values stand beside the lines: by default the one that stores the
        first element that a pass changes, else 0. Raises ValueError for a program that does not exist.

        >>> launch.compile("sm_90").plot.passes().title()
        'add_kernel for sm_90: what each pass changed'
        """
        from triton_lab.views.compiled.passes_view import PassesView

        return PassesView(self._compiled, program)

    def __repr__(self) -> str:
        head = _("Pictures of {kernel} for {target}:").format(
            kernel=self._compiled.kernel, target=self._compiled.target
        )
        return listed(head, "all of them", COMPILED_TABS)
