"""The progress file: read with care, changed under a lock, and never overwritten if it is damaged.

A change replaces the whole file, so that no reader sees half of it. A file that is not as we write it (a git conflict,
an extra byte, a newer format, a directory in its place) is first renamed, and the new file continues with all exercises
that can be read from it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from triton_lab.localization import _

Notes = dict[str, dict[str, Any]]

VERSION = 1
_MOST_BYTES = 1 << 20  # a course of a hundred exercises takes six thousand
_MOST_TIMES = 10**9 - 1  # of tries and hints
_SECONDS = 10.0  # to wait for another notebook, whose change takes milliseconds
# Patterns that a damaged file may contain: the begin and end of an exercise's entry, its fields, the marks of git.
_PIECES = re.compile(
    r'"(?P<name>\w{1,80})"\s{0,99}:\s{0,99}\{|(?P<brace>[{}])|^(?P<mark>[<=|>])(?P=mark){6}(?=[\s]|$)'
    r'|"(?P<key>solved|tries|hints)"\s{0,99}:\s{0,99}(?P<value>true|false|[0-9]{1,9})(?![\w.])',
    re.MULTILINE,
)
_NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)  # on folders of some file systems


class ProgressNotKept(UserWarning):
    """The progress file cannot be written: answers are still checked."""


class ProgressSetAside(UserWarning):
    """The progress file was damaged. It was renamed, and the new file has what could be read from it."""


@dataclass(frozen=True)
class Found:
    """The contents of a progress file, by exercise: ``tries`` and ``hints`` as counts, ``solved`` as bool.

    ``damage`` says why the file is not as we write it; "" if it is, or if there is none.
    """

    notes: Notes = field(default_factory=dict)
    damage: str = ""


class _Damaged(ValueError):
    """The text is not in the form that we write."""


def found(file: Path) -> Found:
    """The contents of ``file``, as far as it can be read. A file of another kind, or a long one, is not read at all."""
    try:
        raw = _bytes(file)
    except FileNotFoundError:
        return Found()
    except (OSError, _Damaged) as error:
        return Found(damage=_reason(error))
    if not raw.strip():
        return Found()  # it contains nothing that could be lost
    try:
        return Found(_exact(raw))
    except (ValueError, RecursionError) as error:
        return Found(_readable(raw.decode(json.detect_encoding(raw), errors="replace")), _reason(error))


def change(file: Path, how: Callable[[Notes], None]) -> tuple[Notes, list[Warning]]:
    """Let ``how`` change the notes and write them to ``file``; returns the notes, and warnings for the user."""
    try:
        file = file.resolve()  # a link stays a link
        with _locked(file):
            before = found(file)
            read = len(before.notes)
            how(before.notes)
            aside = _replace(file, before)
    except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links, before Python 3.13
        notes = found(file).notes
        how(notes)
        return notes, [ProgressNotKept(_("{file} is not saved: {error}").format(file=file, error=error))]
    if aside is None:
        return before.notes, []
    told = _("{file} was damaged ({damage}). It was renamed to {name}, beside the new file; ").format(
        file=file, damage=before.damage, name=aside.name
    )
    told += _("exercises that could be read in it: {read}.").format(read=read)
    return before.notes, [ProgressSetAside(told)]


def _bytes(file: Path) -> bytes:
    """The bytes of the file. Raises OSError, and _Damaged if it is not a regular file of a size that we write."""
    # Without O_NONBLOCK, opening a FIFO waits for a writer.
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as opened:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            raise _Damaged(_("it is a directory") if stat.S_ISDIR(mode) else _("it is not a regular file"))
        raw = opened.read(_MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise _Damaged(_("it has more than {most_bytes} bytes").format(most_bytes=f"{_MOST_BYTES:,}"))
    return raw


def _exact(raw: bytes) -> Notes:
    """The notes of a file that is as we write it, so that rewriting loses nothing. Raises ValueError."""

    def no_number(text: str) -> NoReturn:
        raise _Damaged(_("{text} is not a count").format(text=text[:20]))

    def whole(text: str) -> int:
        return int(text) if len(text) < 12 else no_number(text)  # Python refuses to convert thousands of digits

    value = json.loads(
        raw.decode(), parse_constant=no_number, parse_float=no_number, parse_int=whole, object_pairs_hook=_distinct
    )
    if not isinstance(value, dict) or type(value.get("version")) is not int:
        raise _Damaged(_("it does not hold progress of the course"))
    if value["version"] != VERSION:
        raise _Damaged(
            _("it has version {version}, and this triton-lab writes {version2}").format(
                version=value["version"], version2=VERSION
            )
        )
    notes = value.get("exercises")
    if set(value) != {"version", "exercises"} or not isinstance(notes, dict):
        raise _Damaged(_("its structure is different"))
    for name, one in notes.items():
        if not isinstance(one, dict) or one != _plain(one):
            raise _Damaged(_("the entry of {name} has a different structure").format(name=repr(name[:40])))
    return notes


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _Damaged(_("a name occurs in it twice"))
    return made


def _readable(text: str) -> Notes:
    """Each exercise that can be found in a damaged text; if one is found twice, the better entry counts."""
    notes: Notes = {}
    within: list[str] = []  # the exercises whose entries enclose this place, the innermost last
    before: list[str] = []  # the same at the place where the sides of a conflict begin
    for piece in _PIECES.finditer(text):
        if piece["name"] or piece["brace"] == "{":
            within.append(piece["name"] or "")
        elif piece["brace"]:
            del within[-1:]
        elif piece["mark"] == "<":
            before = within.copy()
        elif piece["mark"] in ("=", "|"):
            within = before.copy()
        elif piece["key"] and within and within[-1]:
            value = piece["value"] == "true" if piece["value"].isalpha() else int(piece["value"])
            said = _plain({piece["key"]: value})
            known = notes.setdefault(within[-1], {}) if said else {}
            known |= {key: max(value, known.get(key, value)) for key, value in said.items()}
    return notes


def _plain(one: dict[str, Any]) -> dict[str, Any]:
    """The fields of an exercise's entry in the form that we write."""
    counts = {key: one[key] for key in ("tries", "hints") if type(one.get(key)) is int and 0 <= one[key] <= _MOST_TIMES}
    return counts | ({"solved": one["solved"]} if type(one.get("solved")) is bool else {})


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return _("it cannot be read: {strerror}").format(strerror=error.strerror)
    if isinstance(error, RecursionError):
        return _("its brackets are nested too deeply")
    return str(error) if isinstance(error, _Damaged) else _("it is not JSON: {error}").format(error=error)[:200]


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Hold the lock on the file, among all notebooks of its folder. Raises OSError if that takes too long."""
    with contextlib.ExitStack() as held:
        folder = os.open(file.parent, os.O_RDONLY | os.O_CLOEXEC)
        held.callback(os.close, folder)
        try:
            _lock(folder)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            # NFS does not lock folders, only files that are open for writing.
            beside = os.open(file.with_name(f".{file.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            held.callback(os.close, beside)
            _lock(beside)
        yield


def _lock(handle: int) -> None:
    end = time.monotonic() + _SECONDS
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise TimeoutError(
                    _("another program has locked its folder for {seconds} s").format(seconds=f"{_SECONDS:g}")
                ) from None
            time.sleep(0.01)


def _replace(file: Path, before: Found) -> Path | None:
    """Write the notes; returns the new path of a damaged file. Raises OSError, and then nothing has changed."""
    text = json.dumps({"version": VERSION, "exercises": before.notes}, indent=1, sort_keys=True) + "\n"
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with open(handle, "w", encoding="utf-8") as opened:
            opened.write(text)
        os.chmod(temporary, 0o644)
        aside = _set_aside(file) if before.damage else None
        os.replace(temporary, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return aside


def _set_aside(file: Path) -> Path:
    """Rename the file to an unused name. Raises OSError."""
    mode = file.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, _("it is a device, which stays where it is"))
    for number in itertools.count(1):
        aside = file.with_name(f"{file.stem}-damaged-{number}{file.suffix}")
        if os.path.lexists(aside):
            continue
        if stat.S_ISREG(mode):
            with contextlib.suppress(FileExistsError, PermissionError, NotImplementedError):
                os.link(file, aside)  # fails if another process has just taken the name
                return aside
            if os.path.lexists(aside):
                continue
        os.rename(file, aside)
        return aside
    raise AssertionError(_("there is always another number"))
