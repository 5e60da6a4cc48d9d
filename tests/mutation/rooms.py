"""Which tests are a file's own: those of its room."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

# What mirrors a room under another name, or is a room's touchstone and lies beside it.
_BESIDE = {
    "launch/checks": ("tests/planted",),
    "magics": ("tests/test_magics.py",),
    "notebook": ("tests/test_magics.py",),
}


def room_of(path: str) -> str:
    """The room of ``triton_lab/<room>/...``, checks being one of their own: ``launch/checks``, ``views``."""
    parts = PurePosixPath(path).with_suffix("").parts[1:]
    return "launch/checks" if parts[:2] == ("launch", "checks") else parts[0]


def own_tests(path: str, root: Path) -> tuple[str, ...]:
    """The folders and files of tests of a file, the likeliest first; none of what belongs to no room."""
    room = room_of(path)
    mirrored = f"tests/{room}"
    folders = [name for name in (mirrored, *_BESIDE.get(room, ())) if (root / name).exists()]
    inner = PurePosixPath(path).relative_to("triton_lab").parent
    own = PurePosixPath("tests") / inner / f"test_{PurePosixPath(path).stem}.py"
    named = [str(own)] if (root / own).exists() else []
    return (*named, *folders)


def files_of_tests(path: str, root: Path) -> tuple[str, ...]:
    """The same, file by file."""
    named = [root / name for name in own_tests(path, root)]
    found = [file for each in named for file in ([each] if each.is_file() else sorted(each.rglob("test_*.py")))]
    return tuple(dict.fromkeys(file.relative_to(root).as_posix() for file in found))
