"""Which tests are a file's own: those of its room."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

# What mirrors a room under another name, or is a room's touchstone and lies beside it.
_BESIDE = {
    "launch/checks": ("tests/planted",),
    "limiting": ("tests/test_limits.py",),
    "magics": ("tests/test_magics.py",),
    "notebook": ("tests/test_magics.py",),
    "setting": ("tests/test_limits.py", "tests/test_targets.py"),
    "targets": ("tests/test_targets.py",),
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
    stem = PurePosixPath(path).stem
    named = [f"{mirrored}/test_{stem}.py"] if (root / mirrored / f"test_{stem}.py").exists() else []
    return (*named, *folders)
