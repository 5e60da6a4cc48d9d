"""Which tests a change is tried on: those that run its line, the quickest first, and then all of its room."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pytest

from tests.mutation import baseline
from tests.mutation.__main__ import Measure, Outcome, summary
from tests.mutation.baseline import SECONDS, Ran
from tests.mutation.changes import Change, changes
from tests.mutation.rooms import files_of_tests, own_tests
from tests.mutation.tree import PYTEST, ROOT, Copy

SOURCE = """\
MOST = 3
def f(x):
    if x:
        return (x
            + 1)
    return MOST
def g():
    return 1
"""


def ran(path: str, tests: dict[str, float], lines: dict[int, list[int]], seconds: float = 1.0) -> Ran:
    names = {f"{path}::{name}": took for name, took in tests.items()}
    return Ran(path, seconds, names, {"m.py": {str(line): places for line, places in lines.items()}}, [])


ROOM = (
    ran("a.py", {"slow": 9.0, "fast": 2.0, "other": 1.0}, {3: [0, 1], 4: [0, 1], 6: [1], 8: [2]}),
    ran("b.py", {"brief": 0.1}, {3: [0], 6: [0]}),
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (3, ["b.py::brief", "a.py::fast", "a.py::slow"]),
        (4, ["a.py::fast", "a.py::slow"]),
        (5, ["a.py::fast", "a.py::slow"]),  # no line of its own: that of its statement
        (1, ["b.py::brief", "a.py::fast"]),  # run when it is imported: who reads the name
        (2, ["b.py::brief", "a.py::fast", "a.py::slow"]),  # a default: who runs the function
        (8, ["a.py::other"]),
    ],
)
def test_the_tests_that_run_a_line_come_first(line: int, expected: list[str]) -> None:
    assert list(baseline.likely(ROOM, "m.py", SOURCE, line)) == expected


def test_of_many_tests_the_quickest_are_taken_and_one_at_least() -> None:
    long = SECONDS * 2
    many = ran("a.py", {"a": long, "b": SECONDS / 2, "c": SECONDS / 3, "d": SECONDS / 4}, {3: [0, 1, 2, 3]})
    assert list(baseline.likely([many], "m.py", SOURCE, 3)) == ["a.py::d", "a.py::c"]
    assert list(baseline.likely([ran("a.py", {"a": long}, {3: [0]})], "m.py", SOURCE, 3)) == ["a.py::a"]
    assert baseline.likely([many], "another.py", SOURCE, 3) == {}


def test_a_room_is_run_in_parts_that_leave_out_nothing_but_what_fails_as_it_is() -> None:
    files = [
        ran(f"{name}.py", {"t": 1.0}, {}, seconds)
        for name, seconds in zip("abcd", (40.0, 30.0, 20.0, 90.0), strict=True)
    ]
    assert [[each.path for each in part] for part in baseline.parts(files)] == [["a.py"], ["b.py", "c.py"], ["d.py"]]
    failing = Ran("a.py", 1.0, {"a.py::t": 1.0}, {}, ["a.py::u"])
    assert baseline.arguments([failing, files[1]]) == ["a.py", "b.py", "--deselect=a.py::u"]
    assert baseline.parts([Ran("none.py", 1.0, {}, {}, ["none.py"])]) == []


def test_what_was_kept_is_what_was_found(tmp_path: Path) -> None:
    for each in ROOM:
        baseline.keep(each, tmp_path / "kept")
    assert baseline.load(tmp_path / "kept") == {each.path: each for each in ROOM}
    assert baseline.load(None) == baseline.load(tmp_path / "none") == {}


def test_a_recording_says_which_test_runs_which_line(tmp_path: Path) -> None:
    (tmp_path / "triton_lab").mkdir()
    (tmp_path / "triton_lab/__init__.py").touch()
    (tmp_path / "triton_lab/m.py").write_text(SOURCE)
    (tmp_path / "test_m.py").write_text(
        "from triton_lab.m import f, g\n"
        "def test_a(): assert f(1) == 2\n"
        "def test_b(): assert f(0) == 3\n"
        "def test_again(): assert f(0) == 3\n"
        "def test_wrong(): assert g() == 2\n"
    )
    said = tmp_path / "said.json"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.mutation.recorder", *PYTEST, "test_m.py"],
        cwd=tmp_path, check=False, env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "MUTATION_RECORD": str(said)},
    )  # fmt: skip
    found = Ran("test_m.py", 1.0, **json.loads(said.read_text()))
    a, b, again = (f"test_m.py::test_{name}" for name in ("a", "b", "again"))
    assert set(found.tests) == {a, b, again} and found.failed == ["test_m.py::test_wrong"]
    assert found.running("triton_lab/m.py", [4]) == {a}
    assert found.running("triton_lab/m.py", [6]) == {b, again}
    assert found.running("triton_lab/m.py", [3]) == {a, b, again}
    assert found.running("triton_lab/m.py", [8]) == set(), "of a test that fails as it is"


def test_the_files_of_a_room_are_those_of_its_folders_its_own_first() -> None:
    path = "triton_lab/launch/checks/rules/race.py"
    files = files_of_tests(path, ROOT)
    assert len(set(files)) == len(files) and all((ROOT / file).is_file() for file in files)
    assert {"tests/launch/checks", "tests/planted"} <= set(own_tests(path, ROOT))
    assert {file.rpartition("/")[0] for file in files} >= {"tests/launch/checks", "tests/planted"}


CHANGE = Change(1, 0, "a", "b")


class Told(Measure):
    """Runs nothing: ``fates`` are those of the likeliest tests and then of each part of the room."""

    def __init__(self, fates: Sequence[str]) -> None:
        super().__init__([], None, 0.0)
        self.fates, self.asked_for = iter(fates), list[Sequence[str]]()

    async def fate(
        self, path: str, change: Change, tests: Sequence[str], expected: float, undecided: Collection[int] = ()
    ) -> str:
        self.asked_for.append(tests)
        return next(self.fates)


@pytest.mark.parametrize(
    ("fates", "expected", "runs"),
    [
        (["killed"], "killed", 1),
        (["timeout"], "timeout", 1),
        (["survived", "survived"], "survived", 2),
        (["survived", "killed"], "killed", 2),
    ],
)
def test_a_change_has_survived_when_all_of_its_room_pass(fates: list[str], expected: str, runs: int) -> None:
    path = "triton_lab/messages.py"
    own = Ran("a.py", 1.0, {"a.py::t": 1.0}, {path: {str(line): [0] for line in range(1, 999)}}, ())
    measure = Told(fates)
    assert asyncio.run(measure.measure(path, CHANGE, [own])).fate == expected
    assert measure.asked_for == [["a.py::t"], ["a.py"]][:runs]


class Exits(Copy):
    """Ends as told, and keeps the tests that it was asked for."""

    def __init__(self, codes: Sequence[int]) -> None:
        self.codes, self.asked_for = iter(codes), list[Sequence[str]]()

    def write(self, path: str, text: str) -> None:
        self.text = text

    async def run(
        self, options: Sequence[str], tests: Sequence[str], seconds: float | None, more: Mapping[str, str] | None = None
    ) -> int:
        self.asked_for.append(tests)
        if (code := next(self.codes)) is None:
            raise asyncio.TimeoutError
        return code


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([1], "killed"),
        ([-11], "killed"),  # the interpreter itself crashed
        ([2], "killed"),  # a module of tests cannot be imported any more
        ([None], "timeout"),
        ([4, 0], "survived"),  # no test of the name: that says nothing
        ([5, 1], "killed"),
        ([0, 4], "killed"),  # a conftest cannot be imported any more
        ([0, None], "timeout"),
    ],
)
def test_what_pytest_ends_with_decides(codes: list[int], expected: str) -> None:
    path = "triton_lab/messages.py"
    own = Ran("a.py", 1.0, {"a.py::t": 1.0}, {path: {str(line): [0] for line in range(1, 999)}}, ())
    change = changes((ROOT / path).read_text(encoding="utf-8"))[0]
    copy = Exits(codes)
    assert asyncio.run(Measure([copy], None, 0.0).measure(path, change, [own])).fate == expected
    assert copy.asked_for == [["a.py::t"], ["a.py"]][: len(codes)]
    assert copy.text == (ROOT / path).read_text(encoding="utf-8"), "nothing is left changed"


def test_where_a_test_is_not_found_again_the_whole_room_is_asked() -> None:
    path = "triton_lab/messages.py"
    own = Ran("a.py", 1.0, {"a.py::t": 1.0}, {path: {str(line): [0] for line in range(1, 999)}}, ())
    change = changes((ROOT / path).read_text(encoding="utf-8"))[0]
    copy = Exits([4, 1])
    assert asyncio.run(Measure([copy], None, 0.0).measure(path, change, [own])).fate == "killed"
    assert copy.asked_for == [["a.py::t"], ["a.py"]]


def test_only_what_was_measured_without_a_gap_counts() -> None:
    died, lived = Outcome("triton_lab/messages.py", CHANGE, "killed", 1.0), None
    said = summary([died, died, lived, died])
    assert "2 of 4 drawn were measured; another call" in said and "2 of 2 changes died (100.0%)" in said
    assert "1 of 1 changes died" in summary([died]) and "another call" not in summary([died])


def test_a_further_call_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    class Instant(Measure):
        """Runs nothing: its next change has ``fate``."""

        def __init__(self, fate: str, seconds: float) -> None:
            super().__init__([Exits([])], None, time.monotonic() + seconds, results=tmp_path / "results")
            self.fates = iter([fate])

        def ask(self, files: Sequence[str]) -> None:
            self.asked = {file: asyncio.create_task(self.baseline(file)) for file in files}

        async def baseline(self, file: str) -> Ran:
            return Ran(file, 1.0, {}, {}, ())

        async def measure(self, path: str, change: Change, room: Sequence[Ran]) -> Outcome:
            return Outcome(path, change, next(self.fates), 1.0)

    def call(drawn: Sequence[tuple[str, Change]], fate: str = "", seconds: float = 9) -> tuple[list[str], Instant]:
        measure = Instant(fate, seconds)
        found = asyncio.run(measure.outcomes(drawn))
        return [outcome.fate for outcome in found if outcome], measure

    drawn = [("triton_lab/messages.py", Change(line, 0, "a", "b")) for line in (1, 2)]
    assert call(drawn[:1], "killed")[0] == ["killed"]
    assert call(drawn, seconds=0)[0] == ["killed"], "in no time it only sums up"
    assert call(drawn, "survived")[0] == ["killed", "survived"]
    fates, last = call(drawn)
    assert fates == ["killed", "survived"] and not last.asked, "no test is run, not even as it is"


def test_it_says_on_which_tests_the_changes_were_tried() -> None:
    found = [Outcome("triton_lab/messages.py", CHANGE, "killed", 1.0)]
    assert summary(found).endswith("whole rooms")
    assert "tests that run the line" in summary(found, near=True)
