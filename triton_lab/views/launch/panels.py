"""The panels of a launch: what stands behind each tab of its card."""

from __future__ import annotations

from functools import cached_property

from triton_lab.views.launch.contents import Contents
from triton_lab.views.launch.plot import COMPILED_TABS, TABS
from triton_lab.views.launch.tab import Panel, Tab, called, made


class Panels(Contents):
    """What there is to show of a launch, each in its panel."""

    @cached_property
    def panels(self) -> list[tuple[Tab, Panel]]:
        """The tabs of `TABS` that open something, each with what it opens; first what was compiled, if anything was."""
        tabs = (*(COMPILED_TABS if self.compiled else ()), *TABS)
        return made([tab for tab in tabs if tab.home], self)

    def panel(self, word: str) -> Panel:
        """The panel of the tab called so, or whose pictures' names begin so. Raises LookupError."""
        return called(self.panels, word)
