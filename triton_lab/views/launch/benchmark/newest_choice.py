"""The choices of sliders as a notebook's kernel grants them: the newest ones, one launch at a time."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

# Seconds to wait for newer choices: what a front end sent during a launch arrives together after it.
_PATIENCE = 0.02


class NewestChoice:
    """Passes choices to ``grant``, several at once: choices made while others wait join them, and the last wins."""

    def __init__(self, grant: Callable[[dict[str, Any]], None]) -> None:
        self.grant = grant
        self.wishes: dict[str, Any] = {}

    def wish(self, **wishes: Any) -> None:
        """Grant these choices once the notebook's kernel has read all waiting messages; at once elsewhere."""
        waiting = bool(self.wishes)
        self.wishes.update(wishes)
        if not in_a_kernel():
            self._now()
        elif not waiting:
            asyncio.get_running_loop().call_later(_PATIENCE, self._now)

    def _now(self) -> None:
        wishes, self.wishes = self.wishes, {}
        with interruptible():
            self.grant(wishes)


def in_a_kernel() -> bool:
    """Whether choices arrive as messages to a notebook's kernel, one after the other."""
    from IPython.core.getipython import get_ipython

    if getattr(get_ipython(), "kernel", None) is None:
        return False
    with contextlib.suppress(RuntimeError):
        return asyncio.get_running_loop().is_running()
    return False


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let an interrupt end the code inside, and nothing else: between messages, notebooks' kernels ignore it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGINT, before)
