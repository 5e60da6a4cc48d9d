"""Scratch folders for jobs: one for each, which only its user may enter, removed after the job.

All of a user's scratch folders lie in one folder, so that a job can be shown an empty view of it with only its own. A
server of jobs has a folder there, locked while it or its worker lives: so folders without a lock are leftovers, and
are removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from triton_lab.localization import _

_TIME = 60.0  # seconds that removing may take


class ScratchFolder:
    """The new folder of a server of jobs; ``lock`` is open while it is in use. Raises OSError."""

    def __init__(self) -> None:
        top = _top()
        for one in top.iterdir():
            _remove_if_left(one)
        while True:
            self.folder = Path(tempfile.mkdtemp(dir=top))
            with contextlib.suppress(FileNotFoundError):  # another new server may take it for a leftover
                self.lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
                fcntl.flock(self.lock, fcntl.LOCK_EX)
                if self.folder.exists():
                    break

    def new(self) -> Path:
        """A new folder for one job."""
        return Path(tempfile.mkdtemp(dir=self.folder))

    def close(self) -> None:
        """Remove the folder and everything in it."""
        remove(self.folder)
        with contextlib.suppress(OSError):
            os.close(self.lock)


def all_of(folder: Path) -> Path:
    """The folder that holds all jobs' folders, given one of them."""
    return folder.parent.parent


def remove(folder: Path) -> None:
    """Remove a job's folder, also with deep trees and with directories that the job has locked."""
    for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                [*command, "--", str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_TIME,
                check=False,
            )
    if os.path.lexists(folder):
        shutil.rmtree(folder, ignore_errors=True)


def _top() -> Path:
    """The folder for all of this user's jobs. Raises OSError if another user has taken the name."""
    user = os.geteuid()
    top = Path(tempfile.gettempdir(), f"triton-lab-jobs-{user}")
    with contextlib.suppress(FileExistsError):
        top.mkdir(mode=0o700)
    found = top.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != user or found.st_mode & 0o077:
        raise PermissionError(_("{top} does not belong to this user alone: remove it").format(top=top))
    return top


def _remove_if_left(folder: Path) -> None:
    """Remove a folder unless a server or its worker holds the lock."""
    with contextlib.suppress(OSError):
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(folder)
        finally:
            os.close(lock)
