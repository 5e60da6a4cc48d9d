"""Finds the user's name of a tensor, the global variable that holds it, for pictures and messages."""

from __future__ import annotations

import sys

from triton_lab.lazy.storage import Storage


def find_names(storages: list[Storage]) -> None:
    """Name the tensors that global variables of the calling module or of the notebook hold.

    Locals of functions are not searched: reading them would keep them alive, and a living tensor is never donated.
    """
    holders = {id(tensor): tensor for storage in storages for tensor in storage.tensors.values()}
    for space in (sys.modules["__main__"].__dict__, _caller_globals()):
        for name, value in list(space.items()):
            found = holders.get(id(value))
            if found is not None and not name.startswith("_"):
                found.variable = name


def _caller_globals() -> dict[str, object]:
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("triton_lab.lazy"):
        frame = frame.f_back
    return frame.f_globals
