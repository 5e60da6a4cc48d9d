"""Scripts in processes of their own, our plugin visible to Triton or not."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

# Leaves our entry point out of what `importlib.metadata` finds.
_HIDDEN = """
import importlib.metadata as metadata
_all = metadata.entry_points
def _without(**selection):
    found = _all(**{"group": "triton.backends", **selection})
    return metadata.EntryPoints(entry for entry in found if entry.name != "triton_lab")
metadata.entry_points = _without
"""


def run(script: str, *, hidden: bool = False, folder=None, seconds: float = 120, **environment: str) -> str:
    """What ``script`` prints. Raises CalledProcessError, its errors in the notes, if it fails."""
    done = finished(script, hidden=hidden, folder=folder, seconds=seconds, **environment)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout.strip()


def finished(
    script: str, *, hidden: bool = False, folder=None, seconds: float = 120, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The process of ``script`` after its end."""
    text = (_HIDDEN if hidden else "") + textwrap.dedent(script)
    file = "-c"
    arguments = [sys.executable, "-c", text]
    if folder is not None:  # kernels need a file
        file = folder / "script.py"
        file.write_text(text)
        arguments = [sys.executable, str(file)]
    cleared = {k: v for k, v in os.environ.items() if not k.startswith(("TRITON_", "COVERAGE"))}
    return subprocess.run(
        arguments, capture_output=True, text=True, timeout=seconds, check=False, env={**cleared, **environment}
    )
