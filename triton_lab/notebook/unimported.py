"""What can be said of targets before Triton is imported, which takes seconds, and reads the environment for good."""

from __future__ import annotations

from importlib import metadata

from triton_lab.notebook.status import version
from triton_lab.views.desk import SessionTargets


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
