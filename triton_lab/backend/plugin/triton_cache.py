"""Triton's cache on disk, of which nothing that lies there, and no folder that is missing, stops a launch.

What is no plain file (a pipe, a folder, a device), or cannot be read, counts as missing, and the kernel is compiled
anew. Where nothing can be kept, a temporary folder serves until the process ends, and a warning tells what to do.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import stat
import tempfile
import warnings
from pathlib import Path

from triton import knobs
from triton.runtime.cache import CacheManager, FileCacheManager

# The largest file that is read: a kernel's stages have some KB, a library of a GPU's some MB.
_MOST_BYTES = 256 << 20


class UnusableCache(RuntimeError):
    """There is no folder, the temporary one included, where kernels can be kept."""


class GuardedCache(FileCacheManager):
    """`FileCacheManager` with what may be wrong on a disk told or worked around."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self._special = override or dump
        try:
            super().__init__(key, override=override, dump=dump)
        except OSError as error:
            if self._special:
                raise
            self._move(key, error)

    def _move(self, key: str, error: OSError) -> None:
        """Go on in a temporary folder."""
        self.key = key
        self.cache_dir = os.path.join(_instead(str(knobs.cache.dir), error.strerror or str(error)), key)
        self.lock_path = os.path.join(self.cache_dir, "lock")
        os.makedirs(self.cache_dir, exist_ok=True)

    def has_file(self, filename: str) -> bool:
        return bool(self._special or is_readable(self._make_path(filename))) and super().has_file(filename)

    def get_group(self, filename: str) -> dict[str, str] | None:
        """The files of a kernel; None where one is missing, or is not what it is called."""
        try:
            found: dict[str, str] | None = super().get_group(filename)
            is_whole = found is None or self._special or all(_is_whole(Path(path)) for path in found.values())
        except (TypeError, AttributeError, ValueError):  # the list itself was changed
            return None
        return found if is_whole else None

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        try:
            return str(super().put(data, filename, binary))
        except BaseException as error:  # an interrupt, too, leaves what it came upon
            _clear(Path(self.cache_dir))
            if self._special or not isinstance(error, OSError):
                raise
            self._move(self.key, error)
            return str(super().put(data, filename, binary))


def guard() -> None:
    """Have Triton use it, unless the user has chosen another way to keep kernels."""
    if knobs.cache.manager_class is None:
        knobs.cache.manager_class = GuardedCache


def manager(key: str) -> CacheManager:
    """Where what has such a key is kept; as Triton's ``get_cache_manager``."""
    from triton.runtime.cache import get_cache_manager

    guard()
    return get_cache_manager(key)


def is_readable(path: str) -> bool:
    """Whether there is a plain file that can be read, and is not huge. No pipe is waited for."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return False
    try:
        about = os.fstat(file)
        return stat.S_ISREG(about.st_mode) and about.st_size <= _MOST_BYTES
    finally:
        os.close(file)


def _is_whole(path: Path) -> bool:
    """Whether a stage or the description of a kernel can be read as what its name says."""
    if not is_readable(str(path)):
        return False
    try:
        if path.suffix == ".json":
            found = json.loads(path.read_text())
            return isinstance(found, dict) and {"target", "name"} <= found.keys() and isinstance(found["target"], dict)
        if path.suffix in (".source", ".ttir", ".ttgir", ".llir", ".ptx", ".amdgcn"):
            path.read_text()
    except (OSError, ValueError, RecursionError):
        return False
    return True


def _clear(folder: Path) -> None:
    """What Triton leaves where it could not write to the end."""
    for stray in folder.glob(f"tmp.pid_{os.getpid()}_*"):
        shutil.rmtree(stray, ignore_errors=True)


@functools.cache
def _instead(folder: str, why: str) -> str:
    """A folder that serves in the place of ``folder``, until this process ends. Raises UnusableCache."""
    try:
        made = tempfile.mkdtemp(prefix="triton-lab-cache-")
    except OSError as error:
        raise UnusableCache(
            f"Triton's cache {folder} cannot be used ({why}), nor can a temporary folder ({error.strerror or error}): "
            "set TRITON_CACHE_DIR to a folder that can be written to, or make room on the disk"
        ) from None
    owner = os.getpid()
    atexit.register(lambda: shutil.rmtree(made, ignore_errors=True) if os.getpid() == owner else None)
    warnings.warn(
        f"Triton's cache {folder} cannot be used ({why}): kernels are kept in {made} until this process ends. Set "
        "TRITON_CACHE_DIR to a folder that can be written to, or make room on the disk.",
        stacklevel=2,
    )
    return made
