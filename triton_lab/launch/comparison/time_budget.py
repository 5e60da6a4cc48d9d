"""`Budget`: how long a search may go on, in the time that the processor gives it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

# While other processes keep this one waiting, a search may take so many times as long.
_PATIENCE = 3.0


@dataclass
class Budget:
    """Some ``seconds`` of this thread's own time, and a few times as much by the clock."""

    seconds: float
    began: float = field(default_factory=time.thread_time)
    start: float = field(default_factory=time.monotonic)

    @property
    def spent(self) -> bool:
        """Whether the time has passed."""
        waited = time.monotonic() - self.start
        return time.thread_time() - self.began > self.seconds or waited > _PATIENCE * self.seconds
