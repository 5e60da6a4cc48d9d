"""Triton's key is Triton's own, whoever has hashed its library."""

from __future__ import annotations

import hashlib
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from triton_lab.notebook.startup import triton_key
from triton_lab.notebook.startup.triton_key import _Hashing, key

# Triton's way, with what it needs as its module's names.
OURS = """
import functools
import hashlib

@functools.lru_cache()
def triton_key():
    runs.append(1)
    with open(SMALL, "rb") as f:
        contents = [hashlib.sha256(f.read()).hexdigest()]
    library, other = hashlib.sha256(), hashlib.sha256()
    with open(LIBRARY, "rb") as f:
        while True:
            chunk = f.read(1024**2)
            if not chunk:
                break
            library.update(chunk)
    other.update(b"other")
    return "-".join([*contents, library.hexdigest(), other.hexdigest()])
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (tmp_path / "small").write_bytes(b"small")
    (tmp_path / "library").write_bytes(b"library" * 300_000)
    return tmp_path / "library"


def triton_like(library: Path, code: str = OURS) -> types.ModuleType:
    module = types.ModuleType("triton.runtime.cache")
    vars(module).update(SMALL=str(library.with_name("small")), LIBRARY=str(library), runs=[])
    exec(code, vars(module))
    return module


def digests(*contents: bytes) -> str:
    return "-".join(hashlib.sha256(each).hexdigest() for each in contents)


def test_the_key_is_the_same_and_the_library_is_read_once(library: Path) -> None:
    cache, hashing = triton_like(library), _Hashing(str(library))
    hashing.start()
    hashing.join()
    whole = library.read_bytes()
    library.write_bytes(b"not read again")
    assert key(cache.triton_key, hashing) == digests(b"small", whole, b"other")
    assert not cache.triton_key.cache_info().misses, "Triton's code has run, on what was known"


@pytest.mark.parametrize(
    "change",
    [
        lambda code, library: library.unlink() or library.write_bytes(b""),  # nothing can be mapped
        lambda code, library: code.replace("f.read(1024**2)", "f.readinto(bytearray(3)) and b''"),
        lambda code, library: code.replace("hashlib.sha256()", "hashlib.new('sha256')"),
        lambda code, library: code.replace("    other.update", "    library.update"),
    ],
    ids=["a library that cannot be hashed", "read otherwise", "hashed otherwise", "hashed with more"],
)
def test_what_is_not_as_expected_is_left_to_triton(library: Path, change: Callable[[str, Path], object]) -> None:
    changed = change(OURS, library)
    cache, hashing = triton_like(library, changed if isinstance(changed, str) else OURS), _Hashing(str(library))
    hashing.start()
    found = key(cache.triton_key, hashing)
    assert cache.triton_key.cache_info().misses == 1 and found == cache.triton_key()


def test_a_child_of_a_fork_does_not_wait_for_a_thread_that_it_has_not(library: Path) -> None:
    cache, hashing = triton_like(library), _Hashing(str(library))
    hashing.start()
    hashing.join()
    hashing.digest = ""  # as it stands where the fork came before the end
    assert key(cache.triton_key, hashing) == digests(b"small", library.read_bytes(), b"other")


def test_both_who_ask_get_the_one_key_and_a_key_that_is_there_is_kept(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, tuner = triton_like(library), types.ModuleType("triton.runtime.autotuner")
    tuner.triton_key = original = cache.triton_key  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "triton.runtime.cache", cache)
    monkeypatch.setitem(sys.modules, "triton.runtime.autotuner", tuner)
    monkeypatch.setattr(triton_key, "_hashing", None)
    triton_key.hand_over()
    assert cache.triton_key is original, "nothing was begun"
    hashing = _Hashing(str(library))
    hashing.start()
    monkeypatch.setattr(triton_key, "_hashing", hashing)
    triton_key.hand_over()
    triton_key.hand_over()
    assert cache.triton_key is tuner.triton_key is not original
    assert cache.triton_key() == tuner.triton_key() and cache.runs == [1]
    monkeypatch.setattr(triton_key, "_hashing", None)
    triton_key.begin()
    assert triton_key._hashing is None, "it is made already"


def test_a_key_that_somebody_else_has_put_there_stays(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = triton_like(library)
    vars(cache)["triton_key"] = theirs = lambda: "theirs"
    monkeypatch.setitem(sys.modules, "triton.runtime.cache", cache)
    monkeypatch.setattr(triton_key, "_hashing", None)
    triton_key.begin()
    assert triton_key._hashing is None
    monkeypatch.setattr(triton_key, "_hashing", _Hashing(str(library)))
    triton_key.hand_over()
    assert cache.triton_key is theirs
