"""What a room asks of a room below it in ARCHITECTURE.md's table: its pictures, its compilations, a shared machine.

A room imports only from rooms above it. Where a model draws itself, it asks here by name, ``provided("Sweep.plot")``,
and the room that draws has a table of such names. The tables are loaded with the first question, and what a name stands
for when it is first asked for: importing the package stays light.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

TABLES = (
    "triton_lab.views.displays",
    "triton_lab.compiled.launch_services",
    "triton_lab.remote.target_services",
    "triton_lab.command.script_services",
)
"""Modules with ``PROVIDED``: a name, ``type.method`` where a method asks, and ``module:attribute``."""


def provided(name: str) -> Callable[..., Any]:
    """The view, or the function, that stands for ``name`` in one of `TABLES`. Raises LookupError for another name.

    >>> from triton_lab.providers import provided
    >>> provided("Sweep.plot").__name__
    'SweepView'
    """
    for table in TABLES:
        entries: Mapping[str, str] = importlib.import_module(table).PROVIDED
        if name in entries:
            module, _, attribute = entries[name].partition(":")
            found: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
            return found
    raise LookupError(f"no room provides {name!r}: its name must stand in one of {', '.join(TABLES)}")
