"""The line below sliders: what is proved of sizes that they have not tried. It is proved when nothing else is to do."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from triton_lab.launch.launch import Launch
from triton_lab.polyhedral.proofs.untried_sizes import UntriedSizes, untried_sizes
from triton_lab.views.launch.benchmark import newest_choice

# Seconds that the sliders must rest before a proof, what a proof may take, and the most launches that it looks at.
_REST, _SECONDS, _MOST = 0.4, 0.5, 8


class UntriedSizesLine:
    """``right for the sizes tried; wrong for n = 0 (program 0, lane 0)``, or ``in bounds for every n``.

    In a notebook's kernel, a proof begins once no launch has come for a while; elsewhere, with the first question.
    """

    def __init__(self) -> None:
        self._tried: list[Launch] = []
        self._found: UntriedSizes | None = None
        self._known = False
        self._waiting: asyncio.TimerHandle | None = None
        self._tell: Callable[[str], None] | None = None

    def follow(self, launch: Launch) -> None:
        """The newest launch; the line is about its kernel and constants."""
        self._tried = [*self._tried[1 - _MOST :], launch]
        self._known = False
        self._later()

    def show(self, tell: Callable[[str], None]) -> None:
        """Call ``tell`` with the line whenever it changes."""
        self._tell = tell
        self._later()

    @property
    def found(self) -> UntriedSizes | None:
        """What is proved, at once; None if nothing is."""
        if not self._known:
            self._found = untried_sizes(self._tried, _SECONDS) if self._tried else None
            self._known = True
        return self._found

    @property
    def text(self) -> str:
        """The line, if it is known yet; "" if nothing is known, or if the launch failed."""
        return self._found.text if self._known and self._found is not None else ""

    def _later(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        if self._tell is None:
            return
        self._tell("")
        if not newest_choice.in_a_kernel():
            self._now()
            return
        with contextlib.suppress(RuntimeError):  # no loop runs: the next launch comes in one
            self._waiting = asyncio.get_running_loop().call_later(_REST, self._now)

    def _now(self) -> None:
        self._waiting = None
        with newest_choice.interruptible():
            _ = self.found
        if self._tell is not None:
            self._tell(self.text)
