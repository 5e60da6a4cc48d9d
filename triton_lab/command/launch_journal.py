"""The records that the processes of a script keep of their launches, for the process that outlives them all.

Each process appends to a file of its own, and opens it again for every entry, since a script may close any descriptor.
An entry is a line of JSON with its number and a keyed checksum. So entries that a script adds, removes or repeats are
recognised.
"""

from __future__ import annotations

import contextlib
import fcntl
import hmac
import json
import mmap
import os
import secrets
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Set in a script's processes: the folder, the key, the script's process and the target, as JSON.
VARIABLE = "TRITON_LAB_JOURNAL"
MOST_BYTES = 1 << 30  # of all files together
MOST_FILES = 10_000
LONGEST = 64 << 20  # bytes of an entry: a card is the largest
_DIGITS = 32
_SEAL_FUTURE_WRITE = 0x10


@dataclass(frozen=True)
class JournalPlace:
    """The folder of a script's journal; ``script`` is the script's own process, 0 before it is known."""

    folder: str
    key: str
    target: str = "cpu"
    script: int = 0

    def text(self) -> str:
        return json.dumps([self.folder, self.key, self.target, self.script])

    @classmethod
    def of(cls, text: str) -> JournalPlace | None:
        """The place described by ``text``; None for any other text."""
        try:
            folder, key, target, script = json.loads(text)
        except (ValueError, TypeError):
            return None
        given = isinstance(folder, str) and isinstance(key, str) and isinstance(target, str) and isinstance(script, int)
        return cls(folder, key, target, script) if given else None


class Tally:
    """Two counts in memory shared by the script's process and the one that outlives it.

    They are the entries that the script's process has written, and the entries that could not be written by it or a
    fork. They reveal entries missing at the end of a file.
    """

    _SIZE, _NUMBERS = 4096, struct.Struct("=QQ")

    def __init__(self, file: int) -> None:
        self._shared = mmap.mmap(file, self._SIZE)

    @classmethod
    def opened(cls, file: int) -> Tally:
        """The tally of another process. From now on only its memory is written: a script may write to descriptors."""
        found = cls(file)
        with contextlib.suppress(OSError):  # Linux before 5.1
            fcntl.fcntl(file, fcntl.F_ADD_SEALS, _SEAL_FUTURE_WRITE)
        os.close(file)
        return found

    @classmethod
    def made(cls) -> tuple[Tally, int]:
        """A new tally, and the descriptor by which another process opens it. The script cannot shrink it."""
        file = os.memfd_create("triton_lab", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
        os.ftruncate(file, cls._SIZE)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        return cls(file), file

    @property
    def numbers(self) -> tuple[int, int]:
        """The entries of the script's process, and those that could not be written."""
        written, failed = self._NUMBERS.unpack_from(self._shared)
        return written, failed

    def count(self, written: int, failed: int) -> None:
        """Add to both."""
        before = self.numbers
        self._NUMBERS.pack_into(self._shared, 0, before[0] + written, before[1] + failed)


class Journal:
    """The entries of this process. A fork begins its own file with its first entry; ``how`` is the kind of process."""

    def __init__(self, place: JournalPlace, how: str, tally: Tally | None = None) -> None:
        self.place, self._tally = place, tally
        self._begin(how)

    def _begin(self, how: str) -> None:
        self._lock = threading.RLock()
        self._process, self._count = os.getpid(), 0
        self._file = f"{self._process}-{secrets.token_hex(4)}"
        self.how = how
        self.write("begun", process=self._process, parent=os.getppid(), how=how)

    def write(self, kind: str, **data: Any) -> None:
        """Append an entry. The reader notices an entry that could not be written."""
        if os.getpid() != self._process:
            self._begin("fork")
        with self._lock:
            body = json.dumps([self._count, kind, time.monotonic(), data])
            self._count += 1
            line = f"\n{_seal(self.place.key, self._file, body)} {body}\n".encode()
            try:
                _append(os.path.join(self.place.folder, self._file), line)
                failed = False
            except OSError:  # the folder is gone, the disk full, or no descriptor left
                failed = True
            if self._tally is not None:
                self._tally.count(self.how == "script", failed)


def _append(path: str, line: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while line:
            line = line[os.write(file, line) :]
    finally:
        os.close(file)


def _seal(key: str, file: str, body: str) -> str:
    return hmac.new(key.encode(), f"{file}\n{body}".encode(), "sha256").hexdigest()[:_DIGITS]


_journal: Journal | None = None


def journal() -> Journal | None:
    """The journal of this process; None if its launches are not recorded."""
    return _journal


def open_journal(place: JournalPlace, how: str, tally: Tally | None = None) -> Journal:
    """Make this process, and those that it forks, write to the journal from now on."""
    global _journal
    if _journal is None:
        os.register_at_fork(after_in_child=_forked)
    _journal = Journal(place, how, tally)
    return _journal


def _forked() -> None:
    if _journal is not None:
        _journal._begin("fork")


# --- Reading --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """One entry; ``time`` is from the clock that all processes share."""

    kind: str
    time: float
    data: Mapping[str, Any]


@dataclass
class JournalReading:
    """The entries of one process.

    ``how`` says how it started (``script``, ``fork`` or ``python``), ``broken`` whether entries before the last one are
    missing.
    """

    process: int
    how: str
    entries: list[Entry] = field(default_factory=list)
    broken: bool = False


def read(place: JournalPlace) -> list[JournalReading]:
    """The entries of all processes, in the order in which they started. Lines that are not ours are ignored."""
    told, left = [], MOST_BYTES
    try:
        files = sorted(Path(place.folder).iterdir())[:MOST_FILES]
    except OSError:
        return []
    for file in files:
        entries: dict[int, Entry] = {}
        broken = False
        try:
            for number, entry in _entries(place.key, file, left):
                broken |= number in entries
                entries.setdefault(number, entry)
            left -= file.stat().st_size
        except OSError:
            broken = True
        first = entries.get(0)
        if first is None or first.kind != "begun":
            continue  # not a file of ours
        broken |= sorted(entries) != list(range(len(entries))) or left < 0
        process, how = int(first.data["process"]), str(first.data["how"])
        told.append(JournalReading(process, how, [entries[number] for number in sorted(entries)], broken))
    return sorted(told, key=lambda one: one.entries[0].time)


def _entries(key: str, path: Path, most: int) -> Iterator[tuple[int, Entry]]:
    """The numbered entries in a file's first bytes that have our checksum."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        while most > 0 and (line := file.readline(min(LONGEST, most))):
            most -= len(line)
            seal, _, body = line.rstrip(b"\n").partition(b" ")
            try:
                text = body.decode()
                if len(seal) != _DIGITS or not hmac.compare_digest(_seal(key, path.name, text).encode(), seal):
                    continue
                number, kind, when, data = json.loads(text)
            except ValueError:
                continue
            yield int(number), Entry(str(kind), float(when), data)
