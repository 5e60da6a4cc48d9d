"""The targets before Triton is imported: the import takes seconds, and reads the environment only once."""

from __future__ import annotations

from importlib import metadata

from triton_lab.notebook.cell.status_text import version
from triton_lab.views.extension_queries import SessionTargets


def unknown() -> SessionTargets:
    """The targets with only versions known."""
    return {
        "known": False,
        "active": "",
        "gpu": "",
        "triton": metadata.version("triton"),
        "version": version(),
        "targets": [],
        "compile": [],
    }
