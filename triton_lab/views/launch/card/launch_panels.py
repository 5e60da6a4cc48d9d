"""The panels of a launch: one behind each tab of its card."""

from __future__ import annotations

from functools import cached_property

from triton_lab.views.launch.card.card_contents import Contents
from triton_lab.views.launch.card.card_tab import Tab, Tabbed
from triton_lab.views.launch.card.launch_tabs import COMPILED_TABS, TABS


class Panels(Contents, Tabbed):
    """The contents of a launch's card, with a panel for each tab."""

    @cached_property
    def tabs(self) -> list[Tab]:  # type: ignore[override]
        """The tabs of `TABS` that have something to show; those of compilations come first, if there are any."""
        return [tab for tab in (*(COMPILED_TABS if self.compiled else ()), *TABS) if tab.home]
