"""Copies the course into a folder of the user's, and renews it there without overwriting the user's changes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from triton_lab.data_folders import course_folders
from triton_lab.localization import _

# A file beside the notebooks: the digest of each when it was copied, as {"files": {name: SHA-256}, "language": "zh",
# "solutions": false}.
MANIFEST = ".triton-lab-course.json"
FIRST = "00_first_kernel.ipynb"  # the first notebook
ENGLISH = "en"


@dataclass(frozen=True)
class Put:
    """The results of `put`, as paths in the folder: files that are new there, that were renewed, and that were left.

    ``kept`` are files that the user has changed and that are now different in the course.
    """

    added: tuple[Path, ...]
    renewed: tuple[Path, ...]
    kept: tuple[Path, ...]


def notebooks() -> list[Path]:
    """The installed notebooks of the course, in order. Raises FileNotFoundError if there are none."""
    for folder in course_folders():
        found = sorted(folder.glob("*.ipynb"))
        if found:
            return found
    raise FileNotFoundError(
        _("this installation of triton-lab has no notebooks. Install it again, from a wheel or a clone")
    )


def content(notebook: Path, language: str = ENGLISH, solutions: bool = True) -> bytes:
    """The bytes of a notebook in a language, for this Python; without ``solutions``, stubs replace those of its
    exercises.

    A notebook that is not translated is in English.
    """
    from triton_lab.course.edition import as_file, for_this_python, read, stripped

    made = None
    if language != ENGLISH:
        from triton_lab.course.translation import edition

        made = edition(notebook, language)
    if not solutions:
        made = stripped(made or read(notebook), notebook.stem)
    return as_file(for_this_python(made or read(notebook)))


def title(notebook: Path, language: str = ENGLISH) -> str:
    """The title of a notebook: its first heading."""
    cells = json.loads(content(notebook, language))["cells"]
    lines = (line for cell in cells for line in "".join(cell["source"]).splitlines())
    return next((line.lstrip("# ").strip() for line in lines if line.startswith("# ")), notebook.stem)


def put(folder: Path, language: str | None = None, solutions: bool | None = None) -> Put:
    """Copy the course into ``folder``, which is created if it does not exist.

    A notebook that is unchanged since it was copied is renewed; one that the user has changed stays. A second call
    changes nothing. The default ``language`` is that of the folder, or English; the default of ``solutions`` is that of
    the folder, or False. Raises OSError, which says where and why, if that cannot be done, and ModuleNotFoundError as
    `content` does.
    """
    added, renewed, kept = [], [], []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        before, spoken, solved = _manifest(folder)
        language = language or spoken
        solutions = solved if solutions is None else solutions
        now = dict(before)
        for source in notebooks():
            there, data = folder / source.name, content(source, language, solutions)
            digest, found = _digest(data), _found(there)
            if found is None:
                added.append(there)
            elif found == before.get(source.name) and found != digest:
                renewed.append(there)
            elif found != digest:
                kept.append(there)
                continue
            if found != digest:
                _write(there, data)
            now[source.name] = digest
        if (now, language, solutions) != (before, spoken, solved):
            other = {"language": language} if language != ENGLISH else {}
            manifest: dict[str, object] = {"files": now} | other | ({} if solutions else {"solutions": False})
            _write(folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
    except OSError as error:
        if error.strerror is None:  # the message has the reason already
            raise
        told = _("the course cannot be copied to {folder}: {strerror} ({filename})").format(
            folder=folder, strerror=error.strerror, filename=error.filename or folder
        )
        raise type(error)(told) from error
    return Put(tuple(added), tuple(renewed), tuple(kept))


def _manifest(folder: Path) -> tuple[Mapping[str, str], str, bool]:
    """The digests of an earlier copy, its language, and whether it has solutions, as all had that do not say so.

    If they are not known, the digests are empty, so that all files count as the user's.
    """
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        files = {name: digest for name, digest in found["files"].items() if isinstance(digest, str)}
        return files, str(found.get("language", ENGLISH)), found.get("solutions") is not False
    except (FileNotFoundError, ValueError, LookupError, TypeError, AttributeError):
        return {}, ENGLISH, False


def _found(path: Path) -> str | None:
    """The digest of the file at ``path``, None if there is none; "" for anything but a regular file."""
    if path.is_symlink() or path.is_dir():
        return ""
    return _digest(path.read_bytes()) if path.exists() else None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write(path: Path, data: bytes) -> None:
    """Write all of the file or nothing: a concurrent reader, or an interrupt, sees the old one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
