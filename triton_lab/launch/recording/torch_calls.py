"""Who wants to hear of torch's operations: any number on a thread, that come and go in any order.

A dispatch mode of torch's is left in the reverse order of entering. Records overlap otherwise - two tasks of
asyncio, each with its own -, so all of a thread share one mode, which the last to leave takes off again.
"""

from __future__ import annotations

import threading
from typing import Any, Protocol

from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack


class Listener(Protocol):
    """Hears of each operation, before and after."""

    def before(self, func: Any, args: tuple[Any, ...]) -> Any:
        """``func`` is about to be called. What this returns `after` gets."""

    def after(self, func: Any, args: tuple[Any, ...], named: dict[str, Any], result: Any, told: Any) -> None:
        """``func`` has been called."""


class TorchCalls(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's base has no types
    """One thread's."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._listeners: tuple[Listener, ...] = ()

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True  # what torch.compile makes goes on as if nobody watched

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else torch imports its compiler with the first tensor that is made: a second, for nothing.
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        listeners = self._listeners
        told = [listener.before(func, args) for listener in listeners]
        result = func(*args, **named)
        for listener, each in zip(listeners, told, strict=True):
            listener.after(func, args, named, result, each)
        return result

    def tell(self, listener: Listener) -> None:
        """Let ``listener`` hear of what this thread calls from now on."""
        if not any(each is self for each in _get_current_dispatch_mode_stack()):
            self.__enter__()  # type: ignore[no-untyped-call]
        self._listeners = (*self._listeners, listener)

    def leave(self, listener: Listener) -> None:
        """``listener`` has heard enough; if it was the last, torch's calls go their usual way again."""
        # By identity: the last one of several that are entered twice, too.
        at = max(k for k, each in enumerate(self._listeners) if each is listener)
        self._listeners = self._listeners[:at] + self._listeners[at + 1 :]
        if not self._listeners and self is getattr(_of_thread, "calls", None):
            self._take_off()

    def _take_off(self) -> None:
        """Leave the mode, from under others that were entered since if need be."""
        stack = _get_current_dispatch_mode_stack()
        if not any(each is self for each in stack):
            return
        above = []
        while (top := stack.pop()) is not self:
            above.append(top)
            TorchDispatchMode.__exit__(top, None, None, None)  # type: ignore[no-untyped-call]
        self.__exit__(None, None, None)  # type: ignore[no-untyped-call]
        for mode in reversed(above):
            TorchDispatchMode.__enter__(mode)  # type: ignore[no-untyped-call]


_of_thread = threading.local()


def of_this_thread() -> TorchCalls:
    """The mode that all listeners of the calling thread share."""
    calls = getattr(_of_thread, "calls", None)
    if calls is None:
        calls = _of_thread.calls = TorchCalls()
    return calls
