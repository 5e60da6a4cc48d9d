"""Finds the files that a branch changes, compared with the point where it left the main branch."""

from __future__ import annotations

import subprocess
from pathlib import Path

MAIN = ("origin/main", "main")


def changed_files(root: Path) -> frozenset[str] | None:
    """The files, relative to ``root``, that were changed, added or removed since the merge base with the first of
    `MAIN` that exists, whether committed or not; those that git ignores are left out. On the main branch itself that
    leaves what is not committed yet. None where there is no git, or no main branch to compare with."""
    for main in MAIN:
        base = _git(root, "merge-base", "HEAD", main)
        if base:
            differing = _git(root, "diff", "--name-only", "--no-renames", "--relative", "-z", base.strip())
            added = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
            if differing is None or added is None:
                return None
            return frozenset(name for name in (differing + added).split("\0") if name)
    return None


def _git(root: Path, *arguments: str) -> str | None:
    """What git prints; None where it is missing or refuses."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
