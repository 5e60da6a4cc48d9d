"""Triton's cache on disk, such that no bad file in it and no missing folder stops a launch.

An entry that is no plain file (a pipe, a folder, a device) or cannot be read counts as missing, and the kernel is
compiled again. If nothing can be stored, a temporary folder serves until the process ends, and a warning says what to
do.
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

from triton_lab.localization import _

# The largest file that is read: a kernel's stages have some KB, a GPU library some MB.
_MOST_BYTES = 256 << 20


class UnusableCache(RuntimeError):
    """No folder can store kernels, not even a temporary one."""


class GuardedCache(FileCacheManager):
    """A `FileCacheManager` that reports disk problems or works around them."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self._special = override or dump
        try:
            super().__init__(key, override=override, dump=dump)
        except OSError as error:
            if self._special:
                raise
            self._move(key, error)

    def _move(self, key: str, error: OSError) -> None:
        """Continue in a temporary folder."""
        self.key = key
        self.cache_dir = os.path.join(_instead(str(knobs.cache.dir), error.strerror or str(error)), key)
        self.lock_path = os.path.join(self.cache_dir, "lock")
        os.makedirs(self.cache_dir, exist_ok=True)

    def has_file(self, filename: str) -> bool:
        return bool(self._special or is_readable(self._make_path(filename))) and super().has_file(filename)

    def get_group(self, filename: str) -> dict[str, str] | None:
        """The files of a kernel; None if one is missing, or is not what its name says."""
        try:
            found: dict[str, str] | None = super().get_group(filename)
            is_whole = found is None or self._special or all(_is_whole(Path(path)) for path in found.values())
        except (TypeError, AttributeError, ValueError):  # the list of files itself was damaged
            return None
        return found if is_whole else None

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        try:
            return str(super().put(data, filename, binary))
        except BaseException as error:  # on an interrupt, too, clean up
            _clear(Path(self.cache_dir))
            if self._special or not isinstance(error, OSError):
                raise
            self._move(self.key, error)
            return str(super().put(data, filename, binary))


def guard() -> None:
    """Have Triton use this cache, unless the user has chosen another one."""
    if knobs.cache.manager_class is None:
        knobs.cache.manager_class = GuardedCache


def manager(key: str) -> CacheManager:
    """The cache for ``key``, like Triton's ``get_cache_manager``."""
    from triton.runtime.cache import get_cache_manager

    guard()
    return get_cache_manager(key)


def is_readable(path: str) -> bool:
    """Whether the path is a plain file that can be read and is not huge. Does not wait for pipes."""
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
    """Whether a kernel's stage or description can be read as its name says."""
    if not is_readable(str(path)):
        return False
    try:
        if path.suffix == ".json":
            found = json.loads(path.read_text())
            return isinstance(found, dict) and {"target", "name"} <= found.keys() and isinstance(found["target"], dict)
        if path.suffix in (".source", ".glir", ".ttir", ".ttgir", ".llir", ".ptx", ".amdgcn"):
            path.read_text()
    except (OSError, ValueError, RecursionError):
        return False
    return True


def _clear(folder: Path) -> None:
    """Delete the files that Triton leaves if it could not finish writing."""
    for stray in folder.glob(f"tmp.pid_{os.getpid()}_*"):
        shutil.rmtree(stray, ignore_errors=True)


@functools.cache
def _instead(folder: str, why: str) -> str:
    """A folder that replaces ``folder`` until this process ends. Raises UnusableCache."""
    try:
        made = tempfile.mkdtemp(prefix="triton-lab-cache-")
    except OSError as error:
        raise UnusableCache(
            _(
                "Triton's cache {folder} cannot be used ({why}), and neither can a temporary folder ({text}): set "
                "TRITON_CACHE_DIR to a writable folder, or free space on the disk"
            ).format(folder=folder, why=why, text=error.strerror or error)
        ) from None
    owner = os.getpid()
    atexit.register(lambda: shutil.rmtree(made, ignore_errors=True) if os.getpid() == owner else None)
    warnings.warn(
        _(
            "Triton's cache {folder} cannot be used ({why}): kernels are cached in {made} until this process ends. "
            "Set TRITON_CACHE_DIR to a writable folder, or free space on the disk."
        ).format(folder=folder, why=why, made=made),
        stacklevel=2,
    )
    return made
