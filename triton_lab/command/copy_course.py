"""The course, copied into a folder of the user's and renewed there, never over what the user has changed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from triton_lab.course_files import course_folders

# Beside the notebooks: what each was when it was copied, as {"files": {name: SHA-256}, "language": "zh",
# "solutions": false}.
MANIFEST = ".triton-lab-course.json"
FIRST = "00_first_kernel.ipynb"  # where a reader begins
ENGLISH = "en"


@dataclass(frozen=True)
class Put:
    """What `put` did, as paths in the folder: files that are new there, that were renewed, and that were left.

    ``kept`` are those that the user has changed, where the course has something else.
    """

    added: tuple[Path, ...]
    renewed: tuple[Path, ...]
    kept: tuple[Path, ...]


def notebooks() -> list[Path]:
    """The course's notebooks as they were installed, in their order. Raises FileNotFoundError where there are none."""
    for folder in course_folders():
        found = sorted(folder.glob("*.ipynb"))
        if found:
            return found
    raise FileNotFoundError(
        "this installation of triton-lab has no notebooks: install it anew, from a wheel or a clone"
    )


def content(notebook: Path, language: str = ENGLISH, solutions: bool = True) -> bytes:
    """What a notebook's file holds in a language, which is English where nobody has translated the notebook; without
    ``solutions`` of its exercises, stubs say what is to be done.

    Raises ModuleNotFoundError where what makes the translation is not installed, and FileNotFoundError where there is
    none of any notebook.
    """
    from triton_lab.course.edition import as_file, read, stripped

    made = None
    if language != ENGLISH:
        from triton_lab.course.translation import edition

        made = edition(notebook, language)
    if not solutions:
        made = stripped(made or read(notebook), notebook.stem)
    return as_file(made) if made else notebook.read_bytes()


def title(notebook: Path, language: str = ENGLISH) -> str:
    """What a notebook calls itself: its first heading."""
    cells = json.loads(content(notebook, language))["cells"]
    lines = (line for cell in cells for line in "".join(cell["source"]).splitlines())
    return next((line.lstrip("# ").strip() for line in lines if line.startswith("# ")), notebook.stem)


def put(folder: Path, language: str | None = None, solutions: bool | None = None) -> Put:
    """Copy the course into ``folder``, which is made where it is not there.

    A notebook that is there as it was copied once is renewed; one that the user has changed stays. Done again, it
    changes nothing. Without a ``language`` it is the one that the folder has, or English; and so it is with
    ``solutions``, which are there at first. Raises OSError, which says where and why, if that cannot be done, and
    ModuleNotFoundError as `content` does.
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
        if error.strerror is None:  # it is told already
            raise
        told = f"the course cannot be copied to {folder}: {error.strerror} ({error.filename or folder})"
        raise type(error)(told) from error
    return Put(tuple(added), tuple(renewed), tuple(kept))


def _manifest(folder: Path) -> tuple[Mapping[str, str], str, bool]:
    """What was copied before, in which language, and whether with solutions; nothing where that is not known, so that
    all that is there counts as the user's."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        files = {name: digest for name, digest in found["files"].items() if isinstance(digest, str)}
        return files, str(found.get("language", ENGLISH)), found.get("solutions") is not False
    except (FileNotFoundError, ValueError, LookupError, TypeError, AttributeError):
        return {}, ENGLISH, True


def _found(path: Path) -> str | None:
    """The digest of the file at ``path``, None where nothing is; "" for what is no file of its own."""
    if path.is_symlink() or path.is_dir():
        return ""
    return _digest(path.read_bytes()) if path.exists() else None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write(path: Path, data: bytes) -> None:
    """All of the file or nothing: who reads it meanwhile, or interrupts, has the old one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
