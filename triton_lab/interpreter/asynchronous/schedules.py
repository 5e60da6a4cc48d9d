"""When asynchronous work lands, and in which order partitions run: what a GPU leaves open, a schedule decides.

"lazy", the default: as late as the waits allow, so that a missing wait shows. "eager": at once. "random:7": at moments
that the seed 7 decides.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import TypeVar

from triton_lab.localization import _

LAZY, EAGER = "lazy", "eager"
_RANDOM = re.compile(r"random:(\d{1,18})")
T = TypeVar("T")


def checked(schedule: str) -> str:
    """``schedule`` itself. Raises ValueError if there is no such schedule."""
    if not isinstance(schedule, str) or (schedule not in (LAZY, EAGER) and not _RANDOM.fullmatch(schedule)):
        raise ValueError(
            _("schedule={schedule}: choose 'lazy', 'eager' or 'random:N' with a number N").format(
                schedule=repr(schedule)
            )
        )
    return schedule


class LandingSchedule:
    """The choices of one launch, by a name that `checked` allows."""

    def __init__(self, name: str = LAZY) -> None:
        self.name = name
        found = _RANDOM.fullmatch(name)
        self._random = None if found is None else random.Random(int(found[1]))

    @property
    def is_random(self) -> bool:
        """Whether moments are chosen by a seed."""
        return self._random is not None

    def at_once(self) -> bool:
        """Whether work that was issued now lands now."""
        return self.name == EAGER or (self._random is not None and self._random.random() < 0.25)

    def landing(self, works: int) -> int | None:
        """The number of a pending work, of so many, that lands at this moment; None for none."""
        if self._random is None or not works or self._random.random() < 0.5:
            return None
        return self._random.randrange(works)

    def gives_way(self) -> bool:
        """Whether a partition lets others run at this moment, without need."""
        return self._random is not None and self._random.random() < 0.4

    def ordered(self, partitions: Sequence[T]) -> list[T]:
        """The partitions in the order in which they run next."""
        found = list(partitions)
        if self._random is not None:
            self._random.shuffle(found)
        elif self.name == EAGER:
            found.reverse()
        return found
