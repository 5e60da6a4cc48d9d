"""Listeners to torch's operations: any number on a thread, added and removed in any order.

Torch's dispatch modes must be left in the reverse order of entering. Records may overlap in other ways, for example in
two tasks of asyncio. So all listeners of a thread share one mode, which the last one removes.
"""

from __future__ import annotations

import threading
from typing import Any, Protocol

from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack


class Listener(Protocol):
    """Gets a call before and after each operation of torch."""

    def before(self, func: Any, args: tuple[Any, ...]) -> Any:
        """``func`` is about to be called. The result is passed to `after` as ``told``."""

    def after(self, func: Any, args: tuple[Any, ...], named: dict[str, Any], result: Any, told: Any) -> None:
        """``func`` has been called."""


class TorchCalls(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's base has no types
    """The dispatch mode of one thread, which calls its listeners."""

    # A compiled graph calls a user's kernel by such an operator; without this, torch refuses it below any mode.
    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._listeners: tuple[Listener, ...] = ()

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True  # code from torch.compile is not observed

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Otherwise torch imports its compiler with the first tensor, which takes a second and is not needed.
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        if isinstance(func, HigherOrderOperator):
            return func(*args, **named)  # it has no schema for a listener to read: a launch in it tells of itself
        listeners = self._listeners
        told = [listener.before(func, args) for listener in listeners]
        result = func(*args, **named)
        for listener, each in zip(listeners, told, strict=True):
            listener.after(func, args, named, result, each)
        return result

    def tell(self, listener: Listener) -> None:
        """Add ``listener``: it is called for this thread's operations from now on."""
        if not any(each is self for each in _get_current_dispatch_mode_stack()):
            self.__enter__()  # type: ignore[no-untyped-call]
        self._listeners = (*self._listeners, listener)

    def leave(self, listener: Listener) -> None:
        """Remove ``listener``; if it was the last one, the mode is left."""
        # Compared by identity, the last entry first: a listener may be there twice.
        at = max(k for k, each in enumerate(self._listeners) if each is listener)
        self._listeners = self._listeners[:at] + self._listeners[at + 1 :]
        if not self._listeners and self is getattr(_of_thread, "calls", None):
            self._take_off()

    def _take_off(self) -> None:
        """Leave the mode, even if other modes were entered since."""
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
