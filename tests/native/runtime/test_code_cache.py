"""The cache gives back what was put in or nothing: whatever was damaged, cut, put in by others, or died meanwhile."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triton_lab.native.runtime import code_cache

NAME = code_cache.key(("a kernel",))


def stored() -> Path:
    return code_cache.folder() / f"{NAME}.native"


def test_what_is_kept_is_found() -> None:
    assert code_cache.find(NAME) is None
    assert code_cache.keep(NAME, b"notes", b"code")
    assert code_cache.find(NAME) == (b"notes", b"code")
    assert code_cache.keep(NAME, b"", b"other")
    assert code_cache.find(NAME) == (b"", b"other")
    assert [each.name for each in code_cache.folder().iterdir()] == [stored().name]


def test_all_parts_decide_the_name() -> None:
    assert code_cache.key(("a", "b")) != code_cache.key(("a", "c")) != code_cache.key(("ab",))
    assert code_cache.key(("a", "b")) == code_cache.key(("a", "b")) != code_cache.key(("a', 'b",))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.data())
def test_a_damaged_file_counts_as_none_and_is_written_anew(data: st.DataObject) -> None:
    code_cache.keep(NAME, b"notes", b"code" * 10)
    held = bytearray(stored().read_bytes())
    at = data.draw(st.integers(0, len(held) - 1))
    if data.draw(st.booleans()):
        held[at] ^= data.draw(st.integers(1, 255))
    else:
        del held[at:]
    stored().write_bytes(held)
    assert code_cache.find(NAME) is None
    assert code_cache.keep(NAME, b"notes", b"anew")
    assert code_cache.find(NAME) == (b"notes", b"anew")


def test_a_file_under_another_name_counts_as_none() -> None:
    code_cache.keep(NAME, b"", b"code")
    other = code_cache.key(("another kernel",))
    stored().rename(code_cache.folder() / f"{other}.native")
    assert code_cache.find(other) is None


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_may_write_is_not_run(mode: int) -> None:
    code_cache.keep(NAME, b"", b"code")
    stored().chmod(mode)
    assert code_cache.find(NAME) is None


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_in_a_folder_that_others_may_write_nothing_is_found_or_kept(mode: int) -> None:
    code_cache.keep(NAME, b"", b"code")
    code_cache.folder().chmod(mode)
    assert code_cache.find(NAME) is None
    assert not code_cache.keep(NAME, b"", b"code")
    assert "other users" in code_cache.trouble()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("which", [code_cache.folder, stored])
def test_what_belongs_to_somebody_else_is_not_run(which) -> None:
    code_cache.keep(NAME, b"", b"code")
    os.chown(which(), 12345, -1)
    assert code_cache.find(NAME) is None


@pytest.mark.parametrize("which", [code_cache.folder, stored])
def test_links_are_not_followed(which, tmp_path: Path) -> None:
    code_cache.keep(NAME, b"", b"code")
    moved = which().rename(tmp_path / "moved")
    which().symlink_to(moved)
    assert code_cache.find(NAME) is None


def test_what_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "file"))
    assert not code_cache.keep(NAME, b"", b"code")
    assert code_cache.find(NAME) is None
    assert code_cache.trouble()


def test_a_cache_in_order_has_no_trouble() -> None:
    assert code_cache.trouble() == ""
    assert code_cache.folder().stat().st_mode & 0o777 == 0o700


def test_the_files_that_were_not_used_for_longest_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "MOST_BYTES", 10_000)
    names = [code_cache.key((number,)) for number in range(12)]
    for age, name in enumerate(names[:10]):
        code_cache.keep(name, b"", b"x" * 800)
        path = code_cache.folder() / f"{name}.native"
        os.utime(path, (time.time() - 1000 + age,) * 2)
    assert code_cache.find(names[0]) is not None  # used just now
    for name in names[10:]:
        code_cache.keep(name, b"", b"x" * 800)
    left = [number for number, name in enumerate(names) if code_cache.find(name) is not None]
    assert 0 in left and {10, 11} <= set(left) and 1 not in left and 2 not in left
    assert sum(each.stat().st_size for each in code_cache.folder().iterdir()) <= 10_000


def test_strays_of_the_dead_are_swept_up_and_those_of_the_living_stay() -> None:
    code_cache.keep(NAME, b"", b"code")
    old, young = code_cache.folder() / "old.part", code_cache.folder() / "young.part"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 5000,) * 2)
    code_cache.keep(NAME, b"", b"code")
    assert young.exists() and not old.exists()


WRITER = """
import sys
from triton_lab.native.runtime import code_cache as cache
def write(name, seed, turns):
    for turn in range(turns):
        code = bytes([(seed + turn) % 256]) * 50_000
        assert cache.keep(name, b"notes", code)
        found = cache.find(name)
        assert found is None or (found[0] == b"notes" and len(set(found[1])) == 1 and len(found[1]) == 50_000), "torn"
"""
# Triton, which knows the folder, is imported once.
EIGHT = """
import os
cache.folder()
children = []
for seed in range(8):
    children.append(os.fork())
    if not children[-1]:
        try:
            write(sys.argv[1], seed, 30)
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""
# A file that grows beyond the limit has the process killed then and there.
KILLED = """
import os, resource, signal
cache.folder()
for most in map(int, sys.argv[2:]):
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        cache.keep(sys.argv[1], b"other notes", bytes(60_000))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGXFSZ)
"""


def test_eight_processes_share_one() -> None:
    command = [sys.executable, "-W", "ignore", "-c", WRITER + EIGHT, NAME]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == f"{[0] * 8}\n"
    found = code_cache.find(NAME)
    assert found is not None and len(found[1]) == 50_000
    assert [each.name for each in code_cache.folder().iterdir()] == [stored().name]


def test_whoever_is_killed_while_it_writes_leaves_what_was_there() -> None:
    code_cache.keep(NAME, b"notes", bytes(50_000))
    command = [sys.executable, "-W", "ignore", "-c", WRITER + KILLED, NAME, "0", "1", "60", "30000", "59999"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "True\n" * 5
    assert code_cache.find(NAME) == (b"notes", bytes(50_000))


def test_a_disk_that_is_full_leaves_what_was_there() -> None:
    code_cache.keep(NAME, b"notes", b"code")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, limit[1]))
    try:
        assert not code_cache.keep(NAME, b"other notes", bytes(50_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert code_cache.find(NAME) == (b"notes", b"code")
    assert [each.name for each in code_cache.folder().iterdir()] == [stored().name]
