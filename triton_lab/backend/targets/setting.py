"""A setting of the whole process that can be changed permanently or for a block."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class _Level(Generic[T]):
    """The value inside one block; the outermost level is the process itself."""

    def __init__(self, value: T) -> None:
        self.value = value


class Setting(Generic[T]):
    """A value that all threads share. ``apply`` puts a new value into effect; it may raise to refuse it."""

    def __init__(self, value: T, apply: Callable[[T], None]) -> None:
        self.lock = threading.RLock()
        self.apply = apply
        self.levels = [_Level(value)]

    @property
    def value(self) -> T:
        """The value set last, in the innermost open block."""
        return self.levels[-1].value

    def change(self, value: T, text: str) -> Change[T]:
        """Set ``value`` now, until the next change or the end of the open block.

        The result, used as a context manager, opens its own block; ``text`` is its printed form.
        """
        with self.lock:
            self.apply(value)
            level = self.levels[-1]
            change = Change(self, value, text, level, level.value)
            level.value = value
            return change


class Change(Generic[T]):
    """A change of a setting. As a context manager it ends with its block, and the earlier value holds again.

    Blocks of several threads may overlap: the one opened last decides, and one that ends early does not affect those
    that are still open.
    """

    def __init__(self, setting: Setting[T], value: T, text: str, level: _Level[T], before: T) -> None:
        self._setting = setting
        self._value = value
        self._text = text
        self._level = level
        self._before = before
        self._entered = False
        self._own: list[_Level[T]] = []

    def __enter__(self) -> Change[T]:
        setting = self._setting
        with setting.lock:
            setting.apply(self._value)
            if not self._entered:
                # It was set permanently a moment ago; now it turns out to be for a block.
                self._entered, self._level.value = True, self._before
            self._own.append(_Level(self._value))
            setting.levels.append(self._own[-1])
        return self

    def __exit__(self, *_: object) -> None:
        setting = self._setting
        with setting.lock:
            own = self._own.pop()
            decided = setting.levels[-1] is own
            setting.levels.remove(own)
            if decided:
                setting.apply(setting.value)

    def __repr__(self) -> str:
        return self._text
