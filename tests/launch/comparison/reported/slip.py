"""Slips that people reported, each an edit of a right kernel's text: its class, and where it was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Slip:
    """One edit: ``old`` stands once in the kernel's text, ``new`` is what was written in its place.

    ``seen`` names the public report, in words. ``also`` are parts of other lines at which the slip can be mended as
    well: a line that is named there is right, too.
    """

    kind: str
    old: str
    new: str
    seen: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    """A right kernel, ``run`` which launches it or its slip, and what torch makes of its arguments.

    ``run`` makes its own inputs, equal ones each time. ``right`` is called with the arguments by name, as `lab.compare`
    calls a function; without it the right kernel's results are expected.
    """

    kernel: Any
    run: Callable[[Any], object]
    slips: tuple[Slip, ...]
    right: Callable[..., Any] | None = None
