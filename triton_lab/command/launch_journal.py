"""What the processes of a script write down of their launches, for the process that outlives them all.

Each process appends to a file of its own, and opens it anew for every entry: a script may close any descriptor. An
entry is a line of JSON with its number and a keyed checksum, so that what a script writes there itself, takes out or
puts twice is told from what we wrote.
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

# In the environment of a script's processes: the folder, the key, the script's process and the target, as JSON.
VARIABLE = "TRITON_LAB_JOURNAL"
MOST_BYTES = 1 << 30  # of all files together
MOST_FILES = 10_000
LONGEST = 64 << 20  # bytes of an entry: a card is the largest
_DIGITS = 32
_SEAL_FUTURE_WRITE = 0x10


@dataclass(frozen=True)
class JournalPlace:
    """Where a script's processes write; ``script`` is the process of the script itself, 0 before it is known."""

    folder: str
    key: str
    target: str = "cpu"
    script: int = 0

    def text(self) -> str:
        return json.dumps([self.folder, self.key, self.target, self.script])

    @classmethod
    def of(cls, text: str) -> JournalPlace | None:
        """The place that ``text`` names; None for anything else."""
        try:
            folder, key, target, script = json.loads(text)
        except (ValueError, TypeError):
            return None
        given = isinstance(folder, str) and isinstance(key, str) and isinstance(target, str) and isinstance(script, int)
        return cls(folder, key, target, script) if given else None


class Tally:
    """Two numbers in memory that the script's process shares with the one that outlives it: how many entries the first
    has written, and how many could not be written, by it or a fork. So what is missing at the end of a file is told."""

    _SIZE, _NUMBERS = 4096, struct.Struct("=QQ")

    def __init__(self, file: int) -> None:
        self._shared = mmap.mmap(file, self._SIZE)

    @classmethod
    def opened(cls, file: int) -> Tally:
        """That of another process. From now on its memory alone is written to: a script may write to any descriptor."""
        found = cls(file)
        with contextlib.suppress(OSError):  # Linux before 5.1
            fcntl.fcntl(file, fcntl.F_ADD_SEALS, _SEAL_FUTURE_WRITE)
        os.close(file)
        return found

    @classmethod
    def made(cls) -> tuple[Tally, int]:
        """A new one, and the descriptor by which another process opens it. The script cannot make it shorter."""
        file = os.memfd_create("triton_lab", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
        os.ftruncate(file, cls._SIZE)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        return cls(file), file

    @property
    def numbers(self) -> tuple[int, int]:
        """Entries of the script's process, and those that could not be written."""
        written, failed = self._NUMBERS.unpack_from(self._shared)
        return written, failed

    def count(self, written: int, failed: int) -> None:
        """Add to both."""
        before = self.numbers
        self._NUMBERS.pack_into(self._shared, 0, before[0] + written, before[1] + failed)


class Journal:
    """The entries of this process. A fork begins a file of its own with its first entry; ``how`` says what it is."""

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
        """Append an entry. One that cannot be written is missing there, which the reader tells."""
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
    """Where this process writes down its launches; None where nobody has asked for that."""
    return _journal


def open_journal(place: JournalPlace, how: str, tally: Tally | None = None) -> Journal:
    """From now on this process writes there, and so do those that it forks."""
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
    """One entry; ``time`` is of the clock that all processes share."""

    kind: str
    time: float
    data: Mapping[str, Any]


@dataclass
class JournalReading:
    """What one process wrote: how it came to be (``script``, ``fork`` or ``python``), and whether entries are missing
    before the last one."""

    process: int
    how: str
    entries: list[Entry] = field(default_factory=list)
    broken: bool = False


def read(place: JournalPlace) -> list[JournalReading]:
    """What all processes wrote, in the order in which they began. Lines that are not ours are passed over."""
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
            continue  # not one of ours
        broken |= sorted(entries) != list(range(len(entries))) or left < 0
        process, how = int(first.data["process"]), str(first.data["how"])
        told.append(JournalReading(process, how, [entries[number] for number in sorted(entries)], broken))
    return sorted(told, key=lambda one: one.entries[0].time)


def _entries(key: str, path: Path, most: int) -> Iterator[tuple[int, Entry]]:
    """The numbered entries of a file, of its first bytes, that carry our checksum."""
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
