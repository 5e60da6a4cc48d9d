"""The tab with the layouts of each compilation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from triton_lab.views.compiled.compilation_tab import CompiledPanel
from triton_lab.views.layouts.kernel_layouts_view import KernelLayoutsView

if TYPE_CHECKING:
    from triton_lab.compiled.compiled import Compiled


class LayoutsPanel(CompiledPanel):
    """The layouts of each compilation: the list of a kernel's values, and ``layouts/0/3``, the picture of one."""

    word = "layouts"

    def picture(self, compiled: Compiled, name: str) -> KernelLayoutsView:
        """The list of one compilation."""
        return KernelLayoutsView(compiled.layouts, name)

    def others(self) -> Iterator[str]:
        """The names of the first picture of each compilation, then of the lists, then of all pictures."""
        views: Sequence[KernelLayoutsView] = [
            self.picture(one, f"{self.word}/{k}") for k, one in enumerate(self.card.compiled)
        ]
        yield from (name for view in views for name in view.others()[:1])
        yield from super().others()
        yield from (name for view in views for name in view.others()[1:])
