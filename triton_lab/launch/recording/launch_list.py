"""The launches of a record, as a list that shows itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from triton_lab.launch.launch import Launch

if TYPE_CHECKING:
    from triton_lab.launch.recording.forked_launches import Forked
    from triton_lab.views.launch.card.launch_table import LaunchTable as Table


class Launches(list[Launch]):
    """What was recorded; the last value of a cell, it is a table by kernel with the card of any launch behind it.

    ``unseen`` are launches that could not be recorded, in words.

    >>> launches.plot().title()
    '1 launch of 1 kernel'
    """

    def __init__(self, launches: Iterable[Launch] = ()) -> None:
        super().__init__(launches)
        self.unseen: list[str] = []
        self.elsewhere: Forked | None = None

    def plot(self) -> Table:
        """The table. It shows the launches that there are now, as they stand. Raises ValueError without any.

        >>> print(launches.plot().text())
        1 launch of 1 kernel
        ...
        """
        from triton_lab.views.launch.card.launch_table import LaunchTable as Table

        if not self:
            raise ValueError("no launch was recorded: there is nothing to plot")
        return Table(tuple(self))

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

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        if not self:
            return {"text/plain": repr(self)}, {}
        return self.plot()._repr_mimebundle_(include, exclude)


def launched_elsewhere(launches: Launches) -> list[str]:
    """The launches that forks of this process have made since the last time; they are ``unseen`` from now on."""
    forked = launches.elsewhere
    found = [] if forked is None or forked.is_here else forked.told()
    launches.unseen += found
    return found
