"""Nothing that lies in a cache stops a launch, whatever it is; where no cache can be, a warning says what to do."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import warm
from tests.backend.process import finished, run

FILLS = textwrap.dedent(
    """
    import torch, triton, triton.language as tl

    @triton.jit
    def fill(x, value):
        tl.store(x + tl.arange(0, 4), value)

    x = torch.zeros(4)
    fill[(1,)](x, 3.0)
    print(x.tolist())
    """
)

DAMAGE = {
    "emptied": lambda data: b"",
    "zeros": lambda data: bytes(len(data)),
    "cut before the module": lambda data: data[: data.index(b'"builtin.module"')],
    "cut inside the module": lambda data: data[: data.index(b'"tt.store"') + 4],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a cache of the one kernel, compiled by a process that is over."""
    folder = tmp_path_factory.mktemp("broken")
    filled(folder)
    return folder


def filled(folder: Path) -> None:
    assert (
        run(FILLS, folder=folder, modules=warm.LAUNCH, TRITON_CACHE_DIR=str(folder / "cache")).strip()
        == "[3.0, 3.0, 3.0, 3.0]"
    )


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_entry_is_compiled_anew_and_mended(how: str, folder: Path) -> None:
    cache = folder / "cache"
    (plan,) = cache.glob("*/*.plan")
    whole = plan.read_bytes()
    try:
        plan.write_bytes(DAMAGE[how](whole))
        filled(folder)
        assert plan.read_bytes() == whole, "the next process finds it whole"
        assert os.listdir(cache) == [plan.parent.name], "under the same key"
    finally:
        plan.write_bytes(whole)


SCRIPT = textwrap.dedent(
    """
    import sys, torch, triton, triton.language as tl
    import triton_lab as lab

    @triton.jit
    def fill(x, value):
        tl.store(x + tl.arange(0, 4), value)

    for engine in ("numpy", "native"):
        x = torch.zeros(4)
        with lab.limits(engine=engine):
            fill[(1,)](x, 3.0)
        print(x.tolist())
    """
)
RIGHT = "[3.0, 3.0, 3.0, 3.0]\n" * 2
SECONDS = 90.0


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _huge(path: Path) -> None:
    os.truncate(path, 1 << 40)


def _instead(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        path.unlink()
        make(path)

    return spoil


SPOILT: dict[str, Callable[[Path], None]] = {
    "a pipe": _instead(os.mkfifo),
    "a folder": _instead(lambda path: path.mkdir()),
    "a folder with something in it": _instead(lambda path: (path / "x").mkdir(parents=True)),
    "a link to itself": _instead(lambda path: path.symlink_to(path)),
    "a link to nothing": _instead(lambda path: path.symlink_to(path.with_name("nowhere"))),
    "an endless device": _instead(lambda path: path.symlink_to("/dev/zero")),
    "nobody's": lambda path: path.chmod(0),
    "huge": _huge,
    "cut": _cut,
    "no text": lambda path: path.write_bytes(b"\xff\xfe" * 50),
    "JSON of another kind": lambda path: path.write_text("[1]"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_cache_of_spoilt_files_is_as_good_as_none(how: str, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert _ran(tmp_path, TRITON_CACHE_DIR=str(cache)) == (RIGHT, "")
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".json", ".plan", ".native"}
    for path in files:
        SPOILT[how](path)
    said, complaint = _ran(tmp_path, TRITON_CACHE_DIR=str(cache))
    assert said == RIGHT and "Traceback" not in complaint


def _file(path: Path) -> Path:
    path.write_text("no folder")
    return path


# Folders where nothing can be kept, also for root.
UNUSABLE: dict[str, Callable[[Path], dict[str, str]]] = {
    "the cache is a file": lambda folder: {"TRITON_CACHE_DIR": str(_file(folder / "cache"))},
    "the cache is in a file": lambda folder: {"TRITON_CACHE_DIR": str(_file(folder / "cache") / "within")},
    "home is a file": lambda folder: {"HOME": str(_file(folder / "home"))},
    "home is not there": lambda folder: {"HOME": "/proc/nowhere"},
    "home is a device": lambda folder: {"HOME": "/dev/null"},
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_without_a_folder_kernels_run_and_a_warning_tells_what_to_do(what: str, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    # Triton asks where home is when it is imported.
    variables = {"TMPDIR": str(tmp_path / "temporary"), **UNUSABLE[what](tmp_path)}
    said, complaint = _ran(tmp_path, modules=warm.TORCH, **variables)
    assert said == RIGHT
    assert complaint.count("TRITON_CACHE_DIR") == 1 and "Traceback" not in complaint
    assert not list((tmp_path / "temporary").glob("triton-lab-cache-*")), "it is gone with the process"


def _ran(folder: Path, *, modules: tuple[str, ...] = warm.LAUNCH, **environment: str) -> tuple[str, str]:
    done = finished(SCRIPT, folder=folder, modules=modules, seconds=SECONDS, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr
