"""The times of tests: measuring them, and looking them up."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests import durations
from tests.durations import Durations, OfFile, order, summed_up

BUSY = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


def test_the_first_case_may_make_what_the_others_share() -> None:
    taken = {"a.py::f[1]": 4.0, "a.py::f[2]": 0.5, "a.py::f[3]": 1.5, "a.py::g": 0.1, "a.py::h": 0.3, "b.py::f": 0.7}
    found = summed_up(taken)
    assert found == {"a.py": OfFile(5, 0.2, {"f": (4.0, 1.0)}), "b.py": OfFile(1, 0.0, {"f": (0.7, 0.0)})}
    assert summed_up({"a.py": 7, **taken})["a.py"] == OfFile(7, 0.2, {"f": (4.0, 1.0)})  # not all have run
    asked = ["a.py::f[2]", "a.py::f[a::b[1]]", "a.py::g", "c.py::new"]
    unknown = ["tests/browser/test_a_page.py::f", "tests/browser/test_a_lab.py::f"]
    assert Durations(found).each(unknown) == [durations.UNKNOWN_PAGE, durations.UNKNOWN_LAB]
    assert Durations(found).each(asked) == [4.0, 1.0, 0.2, durations.UNKNOWN]


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    files = {"b.py": OfFile(1, 0.1, {}), "a.py": OfFile(2, 0.2, {"f": (4.0, 1.0)})}
    path = tmp_path / "durations.json"
    Durations(files).save(path)
    assert Durations.load(path).files == files
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4
    assert Durations.load(tmp_path / "missing.json").files == {}


def test_seconds_are_those_of_processes_too_whether_they_live_or_have_ended() -> None:
    before = durations.seconds()
    with subprocess.Popen(
        [sys.executable, "-c", BUSY.format(0.3) + "print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert durations.seconds() - before > 0.25
        process.communicate(b"\n")
    assert 0.25 < durations.seconds() - before < 10


def test_a_run_measures_its_tests_and_the_command_brings_them_into_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"def test_busy():\n{textwrap.indent(BUSY.format(0.6), '    ')}\n"
    source += "import pytest\n@pytest.mark.parametrize('k', range(3))\ndef test_quick(k): pass\n"
    (tmp_path / "test_it.py").write_text(source, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.setenv("TRITON_LAB_DURATIONS", str(tmp_path / "measured.jsonl"))
    monkeypatch.setenv("PYTHONPATH", str(durations.ROOT))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.durations", "--cases=1", "-p", "no:cacheprovider"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    table = tmp_path / "table.json"
    Durations({"gone.py": OfFile(1, 0.1), "test_it.py": OfFile(9, 9.0)}).save(table)
    durations.main(table, tmp_path)
    assert capsys.readouterr().out.startswith("2 tests measured")
    (name, found), *others = Durations.load(table).files.items()
    assert (name, found.tests, others) == ("test_it.py", 4, [])
    assert found.slow["test_busy"][0] >= 0.5 > found.usual
    with pytest.raises(SystemExit):  # once
        durations.main(table, tmp_path)


def test_the_table_knows_most_files() -> None:
    files = {path.relative_to(durations.ROOT).as_posix() for path in (durations.ROOT / "tests").rglob("test_*.py")}
    known = set(Durations.load().files)
    assert len(files & known) > 0.8 * len(files), "make durations measures all tests anew"


SECONDS = {"a": 1.0, "b": 3.0, "c": 2.0, "d": 0.5, "e": 0.5, "f": 0.8}
TESTS = [f"{name}.py::test_{k}" for name in SECONDS for k in (2, 1)]
DURATIONS = Durations({f"{name}.py": OfFile(2, seconds) for name, seconds in SECONDS.items()})


def ordered(**parts: list[str]) -> str:
    places = order(TESTS, DURATIONS, **{part: [f"{name}.py" for name in names] for part, names in parts.items()})
    assert sorted(places) == list(range(len(TESTS)))
    assert all(TESTS[k].endswith(f"_{2 - n % 2}") for n, k in enumerate(places))  # a file's as they were
    return "".join(TESTS[k][0] for k in places[::2])


def test_what_takes_long_comes_first_and_equals_by_their_names() -> None:
    assert ordered() == "bcafde"


def test_the_browser_is_opened_once() -> None:
    assert ordered(browser=["d", "a"]) == "adbcfe"


def test_what_is_near_a_change_comes_before_all() -> None:
    assert ordered(near=["e", "c", "d"], browser=["d", "a"]) == "dceabf"


def test_what_shares_follows_each_other_and_counts_as_one() -> None:
    assert ordered(together=["d", "e", "f"]) == "bcdefa"
    assert ordered(together=["c", "d", "a"]) == "acdbfe"  # 7 seconds
