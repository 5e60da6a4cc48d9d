"""Handles functions of a kernel that call each other: Triton's front end follows each call on Python's stack.

If constants end the recursion, it is followed far beyond Python's usual limit. If nothing ends it, the error must still
arrive in time: Triton wraps an error once per call on its way out, and then walks over the chain in a time that doubles
with each wrapping.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

from triton_lab.backend.source import printed_modules

# The free stack, in frames, that a call in a kernel always has; and the deepest stack that we allow.
_ROOM = 250
_DEEPEST = 3000
_MOST_WRAPPED = 12  # most errors around an error; Triton needs two to the power of that many steps

_before: int | None = None  # Python's stack limit, while a deeper one replaces it


class _Modules(dict[str, ModuleType]):
    """The map of modules that Triton reads whenever it begins to read a function; it then deepens the stack
    if needed.
    """

    def get(self, name: str, default: Any = None) -> Any:
        limit = sys.getrecursionlimit()
        if _is_deep(min(limit, _DEEPEST) - _ROOM):
            if limit >= _DEEPEST:
                from triton_lab.interpreter.kernel_errors import EndlessRecursion

                raise EndlessRecursion(_calls())
            _allow(limit)
        return super().get(name, default)


class _AsItIs:
    """Triton's setting for errors that it must not wrap: true while an error is handled that must stay as it is."""

    def __bool__(self) -> bool:
        from triton_lab.interpreter.kernel_errors import EndlessRecursion

        if sys._getframe(1).f_code.co_name == "filter_traceback":  # Triton's last step for a kernel that it refuses
            ended()
        error = sys.exc_info()[1]
        return isinstance(error, EndlessRecursion) or sum(1 for _ in _chain(error)) > _MOST_WRAPPED


def watched(modules: dict[str, ModuleType]) -> dict[str, ModuleType]:
    """The modules, watched, for a kernel that is about to be read."""
    from triton import knobs

    ended()  # an earlier kernel was refused
    if not knobs.compilation.front_end_debugging:
        knobs.compilation.front_end_debugging = _AsItIs()
    return _Modules(modules)


def ended() -> None:
    """Restore Python's limit and standard output after a kernel was read."""
    global _before
    printed_modules.release()
    if _before is not None and sys.getrecursionlimit() == _DEEPEST:
        with contextlib.suppress(RecursionError):  # another kernel is being read, deep in this stack
            sys.setrecursionlimit(_before)
    _before = None


def _allow(limit: int) -> None:
    global _before
    _before = limit
    sys.setrecursionlimit(_DEEPEST)


def _is_deep(frames: int) -> bool:
    try:
        sys._getframe(frames)
    except ValueError:
        return False
    return True


def _calls() -> int:
    """How many calls of the kernel's functions are on the stack."""
    frame: FrameType | None = sys._getframe()
    calls = 0
    while frame is not None:
        calls += frame.f_code.co_name == "call_JitFunction"
        frame = frame.f_back
    return calls


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
