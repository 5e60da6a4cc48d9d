"""The user's own names for the objects passed to a view."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import Any


def names_in(frame: FrameType | None, objects: Sequence[Any], otherwise: str) -> list[str]:
    """For each object a variable of ``frame`` that holds it, else ``otherwise`` and a number.

    Names that begin with an underscore do not count: IPython keeps results under such names.
    """
    scopes: list[dict[str, Any]] = [frame.f_locals, frame.f_globals] if frame is not None else []
    names = []
    for number, wanted in enumerate(objects, start=1):
        held = (name for scope in scopes for name, value in list(scope.items()) if value is wanted and name[:1] != "_")
        names.append(next(held, f"{otherwise} {number}" if len(objects) > 1 else otherwise))
    return names
