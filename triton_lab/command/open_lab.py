"""``triton-lab lab``: start JupyterLab with everything in place."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NoReturn

import click

from triton_lab.command.copy_course import FIRST, MANIFEST
from triton_lab.localization import _


def start(arguments: Sequence[str]) -> NoReturn:
    """Become JupyterLab, in a folder among ``arguments`` or the current one; in the course's, its first notebook opens.

    Raises ClickException if JupyterLab is not installed.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise click.ClickException(
            _("JupyterLab is not installed here: {executable} -m pip install '{wanted}'").format(
                executable=sys.executable, wanted=_wanted()
            )
        )
    command = [sys.executable, "-m", "jupyterlab", *arranged(arguments)]
    sys.stdout.flush()
    os.execv(sys.executable, command)


def arranged(arguments: Sequence[str]) -> list[str]:
    """JupyterLab's own arguments, completed by our defaults."""
    made = list(arguments)
    folder = next((each for each in made if not each.startswith("-") and Path(each).exists()), os.curdir)
    if Path(folder, MANIFEST).exists() and Path(folder, FIRST).exists():
        # As a setting: so the address that a server without a browser prints leads there, too.
        made = [each for each in made if each != folder]
        made += [f"--ServerApp.root_dir={folder}", f"--LabApp.default_url=/lab/tree/{FIRST}"]
    # It refuses to run as root without this option, and in a container one often is root.
    return ["--allow-root"] * (os.geteuid() == 0 and "--allow-root" not in made) + made


def _wanted() -> str:
    """The requirement on JupyterLab in the lab's metadata."""
    wanted = [each for each in metadata.requires("triton-lab") or () if each.startswith("jupyterlab")]
    return wanted[0].partition(";")[0].strip() if wanted else "jupyterlab"
