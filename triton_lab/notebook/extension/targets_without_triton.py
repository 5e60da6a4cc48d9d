"""What can be said of targets before Triton is imported, which takes seconds, and reads the environment for good."""

from __future__ import annotations

from importlib import metadata

from triton_lab.notebook.cell.status_text import version
from triton_lab.views.extension_queries import SessionTargets


def unknown() -> SessionTargets:
    """Versions alone."""
    return {
        "known": False,
        "active": "",
        "gpu": "",
        "triton": metadata.version("triton"),
        "version": version(),
        "targets": [],
        "compile": [],
    }
