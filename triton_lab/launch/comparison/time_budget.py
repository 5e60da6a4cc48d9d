"""`Budget`: how long a search may go on, in the time that the processor gives it; `Effort`: how much it may try."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

One = TypeVar("One")

# While other processes keep this one waiting, a search may take so many times as long.
_PATIENCE = 3.0


@dataclass
class Budget:
    """Some ``seconds`` of this thread's own time, and a few times as much by the clock."""

    seconds: float
    began: float = field(default_factory=time.thread_time)
    start: float = field(default_factory=time.monotonic)

    @property
    def taken(self) -> float:
        """The thread's own seconds since it began."""
        return time.thread_time() - self.began

    @property
    def spent(self) -> bool:
        """Whether the time has passed."""
        return self.taken > self.seconds or time.monotonic() - self.start > _PATIENCE * self.seconds


# A change that explains all must be so many bits less likely by chance than one of those tried.
_CERTAIN = 7.0


@dataclass
class Effort:
    """How many changes a search may try before one of them fits by chance; ``bits`` say how unlikely that is for one.

    ``cost`` is that of the simplest explanation so far: what is not as simple is not tried any more. ``budget`` is the
    time that is left for it.
    """

    bits: float
    tried: int = 0
    cost: float = math.inf
    budget: Budget = field(default_factory=lambda: Budget(math.inf))

    @property
    def spent(self) -> bool:
        """Whether one more change would explain too little."""
        return math.log2(self.tried + 1) > self.bits - _CERTAIN


def in_turn(tiers: Iterable[Iterable[One]], seconds: float, goes_on: Callable[[One], bool]) -> Iterator[One]:
    """The members of all tiers; what is left of one after its ``seconds`` comes after the others.

    After one for which ``goes_on`` holds, a tier keeps its turn.
    """
    left = []
    for tier in map(iter, tiers):
        turn = Budget(seconds)
        for one in tier:
            yield one
            if turn.spent and not goes_on(one):
                left.append(tier)
                break
    for tier in left:
        yield from tier
