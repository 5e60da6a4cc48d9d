"""The last launch that was recorded: `lab.last`."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


class _Owner(threading.local):
    """Whether launches of this thread are the user's."""

    is_users: bool = True


_thread = _Owner()
_held: list[Launch] = []


def note(launch: Launch) -> None:
    """A launch has been recorded. It is held, with its memory, until the next one is."""
    if _thread.is_users:
        _held[:] = [launch]


def last() -> Launch:
    """The last launch that was recorded, by ``%%triton`` or `record`, on any thread.

    Raises AttributeError if there is none: it is asked for as an attribute of the package.
    """
    if not _held:
        raise AttributeError(
            _("no launch was recorded yet: write %%triton above a cell, or launch inside `with lab.record():`")
        )
    return _held[0]


def is_last(launch: object) -> bool:
    """Whether ``lab.last`` is this launch."""
    return bool(_held) and _held[0] is launch


@contextlib.contextmanager
def of_the_lab() -> Iterator[None]:
    """Inside, launches of this thread are the lab's own and not noted."""
    before, _thread.is_users = _thread.is_users, False
    try:
        yield
    finally:
        _thread.is_users = before


__all__ = ["is_last", "last", "note", "of_the_lab"]
