"""Triton's key, which the first kernel that is compiled waits for, is mostly ready when it is asked for.

Triton names what it caches after a hash of itself, and its library has some 500 MB: 0.4 s of a processor in each
process. In a kernel that means to use the lab a thread hashes the library from the first cell on, beside the user's
imports. It is one call, which holds neither Python nor an import: nothing waits for it but the first kernel, and a cell
that forks meanwhile leaves it behind. The key itself is made by Triton's own code, which is given the library's hash.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import mmap
import os
import sys
import sysconfig
import threading
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

_WHOLE = b"the whole library"  # what is read of it where its hash is known: itself, and not its like


class _Hashing(threading.Thread):
    """Hashes the file at ``path``; ``digest`` is "" until then, and where it cannot be read."""

    def __init__(self, path: str) -> None:
        super().__init__(name="triton-lab-fingerprint", daemon=True)
        self.path, self.digest = path, ""

    def run(self) -> None:
        try:
            with open(self.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
                self.digest = hashlib.sha256(whole).hexdigest()
        except (OSError, ValueError):  # Triton, which needs it, will say so
            pass


_hashing: _Hashing | None = None


def begin(*_: Any) -> None:
    """Start to hash the library, unless that was done or is no longer needed; imports nothing."""
    global _hashing
    if _hashing is not None or _made(sys.modules.get("triton.runtime.cache")):
        return
    try:
        found = importlib.util.find_spec("triton")
    except (ImportError, ValueError):
        return
    if found is not None and found.origin is not None:
        folder = os.path.dirname(os.path.abspath(found.origin))
        ending = str(sysconfig.get_config_var("EXT_SUFFIX")).split(".")[-1]
        _hashing = _Hashing(os.path.join(folder, "_C", f"libtriton.{ending}"))
        _hashing.start()


def hand_over(*_: Any) -> None:
    """Where Triton has been imported, have its key made with what was begun."""
    cache = sys.modules.get("triton.runtime.cache")
    original: Any = getattr(cache, "triton_key", None)
    if _hashing is None or _made(cache) or not isinstance(_plain(original), FunctionType):
        return
    early = functools.cache(functools.partial(key, original, _hashing))
    for module in (cache, sys.modules.get("triton.runtime.autotuner")):
        if getattr(module, "triton_key", None) is original:
            module.triton_key = early  # type: ignore[union-attr]


def key(original: Callable[[], str], hashing: _Hashing) -> str:
    """What ``original``, Triton's function, returns: by its own code, but that the library is hashed already."""
    plain = _plain(original)
    known = {"open": _Files(hashing.path).open, "hashlib": _Hashes(hashing)}
    try:
        return str(FunctionType(plain.__code__, plain.__globals__ | known)())
    except Exception:  # a Triton that does it otherwise, or a process forked meanwhile
        return original()


def _plain(function: Any) -> Any:
    """The function of a cached one."""
    return getattr(function, "__wrapped__", None)


def _made(cache: ModuleType | None) -> bool:
    """Whether Triton's key is there, or is made by us when asked for, or by somebody else."""
    function = getattr(cache, "triton_key", None)
    if function is None:
        return False
    told = getattr(function, "cache_info", None)
    return told is None or isinstance(_plain(function), functools.partial) or told().currsize > 0


class _Files:
    """``open`` as Triton's code sees it: the library has `_WHOLE` in it, once."""

    def __init__(self, library: str) -> None:
        self._library = library
        self._left = [b"", _WHOLE]

    def open(self, path: str, mode: str) -> Any:
        return self if path == self._library else open(path, mode)

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, _: int) -> bytes:
        return self._left.pop()


class _Hashes:
    """``hashlib`` as Triton's code sees it."""

    def __init__(self, hashing: _Hashing) -> None:
        self._hashing = hashing

    def sha256(self, data: bytes | None = None) -> Any:
        return _Hash(self._hashing) if data is None else hashlib.sha256(data)


class _Hash:
    """A hash of `_WHOLE`, or of something else; of both together nothing is known."""

    def __init__(self, hashing: _Hashing) -> None:
        self._hashing = hashing
        self._parts: list[bytes] = []

    def update(self, data: bytes) -> None:
        self._parts.append(data)

    def hexdigest(self) -> str:
        if not any(part is _WHOLE for part in self._parts):
            return hashlib.sha256(b"".join(self._parts)).hexdigest()
        self._hashing.join()
        if len(self._parts) > 1 or not self._hashing.digest:
            raise OSError(f"{self._hashing.path} could not be hashed, or not alone")
        return self._hashing.digest
