"""Compiled kernels on disk, each a file under the hash of everything that decides its contents.

What is read here is executed. So the folder and its files must belong to the user, and no other user may write to them.
A file is written beside its place and moved there whole: a killed process leaves a stray file, which is deleted later,
and processes that share the folder see a whole file or none. A damaged file, or one that does not match its name,
counts as missing.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from triton_lab.localization import _

# The most bytes of all files together; the least recently used files go first.
MOST_BYTES = 256 << 20
# A file is written and moved to its place in less time than this.
_STRAY_SECONDS = 3600.0
_MAGIC = b"triton-lab native 1\n"
_SUFFIX = ".native"


def folder() -> Path:
    """The folder of the files: in Triton's own cache, which also holds code that is executed."""
    from triton import knobs

    return Path(knobs.cache.dir) / "triton-lab-native"


def key(parts: Sequence[object]) -> str:
    """The name of the kernel that ``parts`` (as printed) decide. Our own sources are included."""
    text = "\0".join([_sources(), *map(repr, parts)])
    return hashlib.sha256(text.encode()).hexdigest()


def find(name: str) -> tuple[bytes, bytes] | None:
    """The notes and object code stored under ``name``. None if there is nothing that can be trusted."""
    try:
        with _opened() as there:
            # Do not wait for a pipe that was put there.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
            file = os.open(name + _SUFFIX, flags, dir_fd=there)
            with open(file, "rb") as stream:
                about = os.fstat(file)
                if not (stat.S_ISREG(about.st_mode) and _is_ours(about) and about.st_size <= MOST_BYTES):
                    return None
                held = stream.read(MOST_BYTES)
                with contextlib.suppress(OSError):
                    os.utime(file)  # it was used
    except OSError:
        return None
    return _unpacked(name, held)


def keep(name: str, notes: bytes, code: bytes) -> bool:
    """Store a kernel, and return whether that worked. A full disk or another user's folder is no error."""
    stray = f"{name}.{os.getpid()}-{secrets.token_hex(4)}.part"
    try:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        with _opened() as there:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                with open(os.open(stray, flags, 0o600, dir_fd=there), "wb") as stream:
                    stream.write(_packed(name, notes, code))
                os.rename(stray, name + _SUFFIX, src_dir_fd=there, dst_dir_fd=there)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(stray, dir_fd=there)
                return False
            _prune(there)
            return True
    except OSError:
        return False


@contextlib.contextmanager
def _opened() -> Iterator[int]:
    """The folder as a descriptor, so that it cannot be exchanged after the check. Raises OSError if it cannot be
    trusted.
    """
    there = os.open(folder(), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not _is_ours(os.fstat(there)):
            raise PermissionError(_("other users can write there, and its code is executed"))
        yield there
    finally:
        os.close(there)


def trouble() -> str:
    """Why nothing can be stored, in words for the user; empty if all is well."""
    try:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        with _opened() as there:
            return "" if os.access(".", os.W_OK, dir_fd=there) else _("it cannot be written")
    except OSError as error:
        return str(error.strerror or error)


def _is_ours(found: os.stat_result) -> bool:
    """Whether no other user can have written there."""
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _packed(name: str, notes: bytes, code: bytes) -> bytes:
    body = b"".join((name.encode(), len(notes).to_bytes(8, "little"), notes, code))
    return _MAGIC + hashlib.sha256(body).digest() + body


def _unpacked(name: str, held: bytes) -> tuple[bytes, bytes] | None:
    start = len(_MAGIC)
    digest, body = held[start : start + 32], held[start + 32 :]
    own = name.encode()
    if held[:start] != _MAGIC or hashlib.sha256(body).digest() != digest or not body.startswith(own):
        return None
    at = len(own) + 8
    size = int.from_bytes(body[len(own) : at], "little")
    return body[at : at + size], body[at + size :]


def _prune(there: int) -> None:
    """Delete stray files of killed processes, then the least recently used files until 3/4 of the limit is left."""
    found: list[tuple[float, int, str]] = []
    for entry in os.scandir(there):
        with contextlib.suppress(OSError):  # another process was faster
            about = entry.stat(follow_symlinks=False)
            if entry.name.endswith(".part") and time.time() - about.st_mtime > _STRAY_SECONDS:
                os.unlink(entry.name, dir_fd=there)
            elif entry.name.endswith(_SUFFIX):
                found.append((about.st_mtime, about.st_size, entry.name))
    total = sum(size for _path, size, _age in found)
    if total <= MOST_BYTES:
        return
    for _unused, size, name in sorted(found):
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=there)
        total -= size
        if total <= MOST_BYTES * 3 // 4:
            return


@functools.cache
def _sources() -> str:
    """A hash of the code that generates code, and of what it uses."""
    package = Path(__file__).parents[2]
    files = sorted(file for room in ("ir", "interpreter", "native") for file in (package / room).rglob("*.py"))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()
