"""However a script ends, what it launched is judged: some of the scripts of ``tests.hostile.scripts``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import warm
from tests.hostile.scripts import COMMAND, cases, tried
from triton_lab.command import launch_journal

# One of each way: the others are tried by ``python -m tests.hostile scripts``. Where it matters how Python itself
# begins or ends, the script's process is an ordinary one.
ORDINARY = ("os._exit(0)", "a launch at the exit", "a pool by spawn", "another Python with a bare environment")
FORKS = (
    "the end in the midst of a launch",
    "SIGKILL to itself",
    "SIGTERM to us",
    "a raw fork",
    "no descriptors",
    "a report without its end",
    "innocent: os._exit(0)",
    "innocent: another Python",
    "innocent: a pool",
)
CASES = {case.name: case for case in cases()}


@pytest.mark.parametrize("name", [*ORDINARY, *FORKS])
def test_an_ending_hides_nothing(name: str) -> None:
    forked = warm.command("-m", "triton_lab", "check", "script.py", modules=warm.LAUNCH)
    found = tried(CASES[name], forked if name in FORKS else COMMAND)
    assert found.outcome in ("survived", "refused"), found.seen


def test_there_are_many_scripts_and_innocent_twins_among_them() -> None:
    assert len(CASES) == len(list(cases())) >= 40
    assert sum(case.codes == (0,) for case in CASES.values()) >= 10


def test_what_is_not_ours_in_a_journal_is_told_from_what_is(tmp_path: Path) -> None:
    place = launch_journal.JournalPlace(str(tmp_path), "key")
    mine = launch_journal.Journal(place, "script")
    for k in range(3):
        mine.write("number", k=k)
    (file,) = tmp_path.iterdir()
    lines = file.read_text().split("\n")
    (tmp_path / "other").write_text("\n".join(lines))  # another file's entries
    with file.open("ab") as noise:
        noise.write(b"\xff\x00 [0]\n" + b"0" * 32 + b' [9, "number", 0, {}]\n')
    (told,) = launch_journal.read(place)
    assert [entry.data.get("k") for entry in told.entries[1:]] == [0, 1, 2] and not told.broken
    assert launch_journal.read(launch_journal.JournalPlace(str(tmp_path), "another key")) == []
    for damaged in ([*lines, *lines], [line for line in lines if '"k": 1' not in line]):
        file.write_text("\n".join(damaged))
        (told,) = launch_journal.read(place)
        assert told.broken


def test_entries_that_could_not_be_written_are_counted(tmp_path: Path) -> None:
    tally, file = launch_journal.Tally.made()
    mine = launch_journal.Journal(
        launch_journal.JournalPlace(str(tmp_path), "key"), "script", launch_journal.Tally(file)
    )
    mine.write("one")
    tmp_path.joinpath(next(tmp_path.iterdir()).name).unlink()
    tmp_path.rmdir()
    mine.write("two")
    assert tally.numbers == (3, 1)
