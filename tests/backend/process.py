"""Scripts in processes of their own, our plugin visible to Triton or not."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

from tests import warm

# Leaves our entry point out of what `importlib.metadata` finds.
_HIDDEN = """
import importlib.metadata as metadata
_all = metadata.entry_points
def _without(**selection):
    found = _all(**{"group": "triton.backends", **selection})
    return metadata.EntryPoints(entry for entry in found if entry.name != "triton_lab")
metadata.entry_points = _without
"""


def run(script: str, *, seconds: float = 120, **process) -> str:
    """What ``script`` prints. Raises AssertionError with what it complained of if it fails."""
    done = finished(script, seconds=seconds, **process)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout.strip()


def finished(
    script: str,
    *,
    hidden: bool = False,
    folder=None,
    bare: bool = False,
    modules: tuple[str, ...] = warm.TORCH,
    seconds: float = 120,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """The process of ``script`` after its end; if ``bare``, it began with nothing imported, else with ``modules``."""
    text = (_HIDDEN if hidden else "") + textwrap.dedent(script)
    arguments = ["-c", text]
    if folder is not None:  # kernels need a file
        file = folder / "script.py"
        file.write_text(text)
        arguments = [str(file)]
    command = [sys.executable, *arguments] if bare else warm.command(*arguments, modules=modules)
    cleared = {k: v for k, v in os.environ.items() if not k.startswith(("TRITON_", "COVERAGE"))}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, check=False, env={**cleared, **environment}
    )
