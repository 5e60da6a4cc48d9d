"""`Launches`: the launches of a record, as a list that notebooks show as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, SupportsIndex, overload

from triton_lab.launch.launch import Launch
from triton_lab.localization import _
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from triton_lab.launch.recording.forked_launches import Forked
    from triton_lab.views.launch.card.launch_table import LaunchTable


class Launches(list[Launch], RichDisplay):
    """The recorded launches. As the last value of a cell it is a table by kernel, from which any card can be opened.

    ``unseen`` describes the launches that could not be recorded; ``warns`` says whether each is warned of at once.

    >>> launches.plot().title()
    '1 launch of 1 kernel'
    """

    def __init__(self, launches: Iterable[Launch] = ()) -> None:
        super().__init__(launches)
        self.unseen: list[str] = []
        self.warns = True
        self.elsewhere: Forked | None = None

    def plot(self) -> LaunchTable:
        """The table. It shows the launches that there are now, as they stand. Raises ValueError without any.

        >>> print(launches.plot().text())
        1 launch of 1 kernel
        ...
        """
        if not self:
            raise ValueError(_("no launch was recorded: there is nothing to plot"))
        view: LaunchTable = provided("Launches.plot")(tuple(self))
        return view

    @overload
    def __getitem__(self, index: SupportsIndex) -> Launch: ...
    @overload
    def __getitem__(self, index: slice) -> Launches: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Launch | Launches:
        if isinstance(index, slice):
            return Launches(super().__getitem__(index))
        return super().__getitem__(index)

    def __repr__(self) -> str:
        return "\n".join([*(self.plot().lines() if self else ["no launches"]), *self.unseen])

    def _picture(self) -> LaunchTable | None:
        return self.plot() if self else None


def launched_elsewhere(launches: Launches) -> list[str]:
    """The launches by forks of this process since the last call, in words; adds them to ``unseen``."""
    forked = launches.elsewhere
    found = [] if forked is None or forked.is_here else forked.told()
    launches.unseen += found
    return found
