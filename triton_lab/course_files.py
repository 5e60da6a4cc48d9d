"""Where the course lies: the notebooks, their translations, and the launches that they show."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path


def course_folders() -> Iterator[Path]:
    """The folders that may be it: in a clone the one beside the package, else where pip puts an installation's data."""
    clone = Path(__file__).parents[1]
    if (clone / "pyproject.toml").exists():
        yield clone / "notebooks"
    bases: list[str | Path] = [sysconfig.get_path("data"), sysconfig.get_path("data", f"{os.name}_user")]
    for base in [*bases, clone]:  # `pip install --target` lays it beside the package
        yield Path(base, "share", "triton-lab", "notebooks")
