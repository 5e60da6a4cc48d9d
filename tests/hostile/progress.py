"""Damaged progress files: each is set aside untouched, that is told once, and what can be read goes on."""

from __future__ import annotations

import json
import os
import random
import socket
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hostile.outcome import Try
from triton_lab.course.progress_file import Notes, ProgressSetAside, change, found

SECONDS = 5.0
NOTES: Notes = {f"exercise_{number}": {"solved": number % 3 == 0, "tries": number + 2} for number in range(40)}
GOOD = json.dumps({"version": 1, "exercises": NOTES}, indent=1, sort_keys=True) + "\n"
_ALL = frozenset(name for name, one in NOTES.items() if one["solved"])


@dataclass(frozen=True)
class Damage:
    """A file as bytes, or what makes something else there; ``solved`` are the exercises that must not be lost."""

    name: str
    made: bytes | Callable[[Path], object]
    solved: frozenset[str] = _ALL

    def make(self, file: Path) -> None:
        """Put it there."""
        if isinstance(self.made, bytes):
            file.write_bytes(self.made)
        else:
            self.made(file)


def _conflict(first: int, last: int, marks: str = "<=>") -> bytes:
    """A merge of git's with two sides for some lines of the file."""
    lines = GOOD.splitlines()
    other = [line.replace("true", "false").replace('"tries": ', '"tries": 1') for line in lines[first:last]]
    sides = [f"{marks[0] * 7} HEAD", *lines[first:last], "=======", *other, f"{marks[-1] * 7} theirs"]
    return "\n".join([*lines[:first], *sides, *lines[last:], ""]).encode()


def _with(old: str, new: str) -> bytes:
    assert old in GOOD
    return GOOD.replace(old, new).encode()


def _socket(file: Path) -> None:
    here = os.getcwd()
    os.chdir(file.parent)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(file.name)
    finally:
        os.chdir(here)


def _folder(file: Path) -> None:
    file.mkdir()
    (file / "inside").write_text("kept")


def representative() -> Iterator[Damage]:
    """One of each kind."""
    nothing: frozenset[str] = frozenset()
    yield Damage("conflict at the top", b"<<<<<<< HEAD\n" + GOOD.encode())
    yield Damage("conflict within an entry", _conflict(4, 6))
    yield Damage("conflict over entries", _conflict(3, 30))
    yield Damage("byte order mark", b"\xef\xbb\xbf" + GOOD.encode())
    yield Damage("UTF-16", GOOD.encode("utf-16"))
    yield Damage("one byte more", GOOD.encode() + b"}")
    yield Damage("zero bytes at the end", GOOD.encode() + b"\0" * 512)
    yield Damage("no UTF-8", GOOD.encode() + b"\xff\xfe\xff")
    yield Damage("cut off", GOOD.encode()[:-6])
    yield Damage("newer version", _with('"version": 1', '"version": 2').replace(b'"exercises"', b'"tasks"'))
    yield Damage("newer keys", _with('"solved": true', '"solved": true, "on": {"day": 3}'))
    yield Damage("version as bool", _with('"version": 1', '"version": true'))
    yield Damage("version as float", _with('"version": 1', '"version": 1.0'))
    yield Damage("a name twice", _with('"exercise_1": {', '"exercise_0": {"solved": false}, "exercise_1": {'))
    yield Damage("NaN", _with('"tries": 3', '"tries": NaN'))
    yield Damage("infinity", _with('"tries": 3', '"tries": 1e999'))
    yield Damage("bools for counts", _with('"tries": 3', '"tries": true'))
    yield Damage("strings for counts", _with('"tries": 3', '"tries": "3"'))
    yield Damage("numbers for bools", _with('"solved": false', '"solved": 0'))
    yield Damage("a negative count", _with('"tries": 3', '"tries": -3'))
    yield Damage("a huge integer", _with('"tries": 3', '"tries": ' + "9" * 5000))
    yield Damage("a large integer", _with('"tries": 3', '"tries": 99999999999'))
    yield Damage("a list", b"[]", nothing)
    yield Damage("a number", b"1", nothing)
    yield Damage("null", b"null", nothing)
    yield Damage("a string", b'"progress"', nothing)
    yield Damage("prose", "Mach weiter so!".encode("latin-1"), nothing)
    yield Damage("deep lists", b"[" * 200_000, nothing)
    yield Damage("deep objects", b'{"a":' * 100_000, nothing)
    yield Damage("deep within an entry", _with('"tries": 3', '"tries": ' + "[" * 50_000))
    yield Damage("megabytes", GOOD.encode() + b" " * (2 << 20), nothing)
    yield Damage("a directory", _folder, nothing)
    yield Damage("an empty directory", Path.mkdir, nothing)
    yield Damage("a FIFO", lambda file: os.mkfifo(file), nothing)
    yield Damage("a socket", _socket, nothing)


def random_ones(seed: int) -> Iterator[Damage]:
    """Cuts, flipped bytes, and conflicts of git at random places; what must not be lost is what stands before them."""
    rng = random.Random(seed)
    raw = GOOD.encode()
    for number in range(150):
        at = rng.randrange(1, len(raw) - 2)
        yield Damage(f"cut {number} at {at}", raw[:at], _before(at))
        noise = bytes(rng.choices(b"\x00\x01\xff", k=rng.randrange(1, 9)))
        yield Damage(f"noise {number} at {at}", raw[:at] + noise + raw[at:], _before(at))
        first = rng.randrange(1, 150)
        yield Damage(f"conflict {number} in lines from {first}", _conflict(first, first + rng.randrange(1, 9)))


def _before(at: int) -> frozenset[str]:
    """The solved exercises whose entries end before a byte."""
    return frozenset(name for name in _ALL if GOOD.index("}", GOOD.index(f'"{name}"')) < at)


def outcome(damage: Damage, folder: Path) -> Try:
    """Note two tries with the file so, and look at what became of it."""
    file = folder / "progress.json"
    damage.make(file)
    begun = time.monotonic()
    told: list[Any] = []
    for _ in range(2):  # what is set aside is told once
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            told += change(file, lambda notes: notes.setdefault("new", {}).update(solved=True))[1]
    if time.monotonic() - begun > SECONDS:
        return Try(damage.name, "hung", f"{time.monotonic() - begun:.1f} s")
    now = found(file)
    aside = [path for path in folder.iterdir() if path != file]
    lost = sorted(name for name in damage.solved | {"new"} if not now.notes.get(name, {}).get("solved"))
    if lost or now.damage:
        return Try(damage.name, "wrong", f"lost {lost[:3]}, {now.damage}")
    if len(aside) != 1 or [type(one) for one in told] != [ProgressSetAside] or aside[0].name not in str(told[0]):
        return Try(damage.name, "wrong", f"{[path.name for path in aside]} and told {told}")
    if isinstance(damage.made, bytes) and aside[0].read_bytes() != damage.made:
        return Try(damage.name, "wrong", "what was set aside is not what stood there")
    return Try(damage.name, "survived")


def tries(seed: int) -> Iterator[Try]:
    """All of them, each in a folder of its own."""
    for damage in (*representative(), *random_ones(seed)):
        with tempfile.TemporaryDirectory() as folder:
            try:
                yield outcome(damage, Path(folder))
            except Exception as error:
                yield Try(damage.name, "wrong", f"{type(error).__name__}: {error}"[:200])
