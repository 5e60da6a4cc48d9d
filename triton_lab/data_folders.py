"""Where files beside the package lie: the course, and the pages about findings."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path


def data_folders(clone: str, name: str) -> Iterator[Path]:
    """The folders that may hold some files: in a clone ``clone``, else where pip puts an installation's data, by
    ``name``."""
    root = Path(__file__).parents[1]
    if (root / "pyproject.toml").exists():
        yield root / clone
    bases: list[str | Path] = [sysconfig.get_path("data"), sysconfig.get_path("data", f"{os.name}_user")]
    for base in [*bases, root]:  # `pip install --target` lays it beside the package
        yield Path(base, "share", "triton-lab", name)


def course_folders() -> Iterator[Path]:
    """The folders that may be the course: the notebooks, their translations, and the launches that they show."""
    return data_folders("notebooks", "notebooks")
