"""The last launch that was recorded: `lab.last`."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING

from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


class _Owner(threading.local):
    """Whether launches of this thread are the user's."""

    is_users: bool = True


_thread = _Owner()
_noted: list[weakref.ref[Launch]] = []


def note(launch: Launch) -> None:
    """A launch has been recorded. It is not held here: its record, or its card in a notebook, does that."""
    if _thread.is_users:
        _noted[:] = [weakref.ref(launch)]


def last() -> Launch:
    """The last launch that was recorded, by ``%%triton`` or `record`, on any thread.

    Raises AttributeError if there is none, or if it is gone: it is asked for as an attribute of the package.
    """
    launch = _noted[0]() if _noted else None
    if launch is None:
        raise AttributeError(
            _("there is no last launch: write %%triton above a cell, or keep `with lab.record() as launches:`")
            if _noted
            else _("no launch was recorded yet: write %%triton above a cell, or use `with lab.record() as launches:`")
        )
    return launch


def is_last(launch: object) -> bool:
    """Whether ``lab.last`` is this launch."""
    return bool(_noted) and _noted[0]() is launch


@contextlib.contextmanager
def of_the_lab() -> Iterator[None]:
    """Inside, launches of this thread are the lab's own and not noted."""
    before, _thread.is_users = _thread.is_users, False
    try:
        yield
    finally:
        _thread.is_users = before


__all__ = ["is_last", "last", "note", "of_the_lab"]
