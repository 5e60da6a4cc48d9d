"""The changes that `make mutation` draws from: what is changed, what is left alone, and that all of it is Python."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.mutation.__main__ import Copy, Outcome, measure, measured_before, nearest_tests, summary
from tests.mutation.bounds import BOUNDS, PICTURES
from tests.mutation.changes import changes

ROOT = Path(__file__).parents[2]
FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "triton_lab").rglob("*.py"))


def results(source: str) -> set[str]:
    return {change.applied(source) for change in changes(source)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b\n", {"a <= b\n"}),
        ("(a) == (b) != c\n", {"(a) != (b) != c\n", "(a) == (b) == c\n"}),
        ("x = a is not b\n", {"x = a is b\n"}),
        ("x = a in b\n", {"x = a not in b\n"}),
        ("a and (b or c)\n", {"a or (b or c)\n", "a and (b and c)\n"}),
        ("not a\n", {"a\n"}),
        ("a[-1]\n", {"a[-2]\n"}),
        ("a + b\n", {"a - b\n"}),
        ("a //= b\n", {"a *= b\n"}),
        ("f(1, True)\n", {"f(2, True)\n", "f(1, False)\n"}),
        ("a == 'load'\n", {"a != 'load'\n", "a == 'load?'\n"}),
        ("a.kind in 'iub'\n", {"a.kind not in 'iub'\n", "a.kind in 'iu'\n"}),
        ("'.' not in a\n", {"'.' in a\n", "'.?' not in a\n"}),
        ("min(a) + b.any()\n", {"max(a) + b.any()\n", "min(a) - b.any()\n", "min(a) + b.all()\n"}),
        ("for a in b:\n    break\n", {"for a in b:\n    continue\n"}),
        ("x = '×'; a < b\n", {"x = '×'; a <= b\n"}),
        ("a = (\n    b\n    # < \n    < c\n)\n", {"a = (\n    b\n    # < \n    <= c\n)\n"}),
    ],
)
def test_one_token_becomes_another(source: str, expected: set[str]) -> None:
    assert results(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""1 < 2."""\n',
        "a: int | None = b\n",
        "def f(a: int | None) -> int | str: pass\n",
        "@dataclass(frozen=True)\nclass A: pass\n",
        "if TYPE_CHECKING:\n    a = 1\n",
        "assert a < 1\n",
        "raise ValueError(f'{a + 1}')\n",
        "zip(a, b, strict=True)\n",
        "class A:\n    a: int = field(kw_only=True)\n",
        "V: TypeAlias = A | B\n",
        "x.reshape(-1)\n",
        "wait(timeout=5)\n",
        "np.random.default_rng(0)\n",
        "_NOWHERE = Span(0, 0, 0)\n",
        "n = {'small': 5, 'bench': 2**20}[size]\n",
    ],
)
def test_what_no_test_should_see_is_left_alone(source: str) -> None:
    assert results(source) == set()


@pytest.mark.parametrize("path", FILES[::20])
def test_each_change_of_the_package_is_python_and_another_program(path: str) -> None:
    source = (ROOT / path).read_text(encoding="utf-8")
    before = ast.dump(ast.parse(source))
    for change in changes(source)[::10]:
        assert ast.dump(ast.parse(change.applied(source))) != before


def test_every_file_has_tests() -> None:
    assert {path for path in FILES[::10] if not nearest_tests(path, 0)[0]} == set()


def test_the_nearest_tests_come_first() -> None:
    nearest, seconds = nearest_tests("triton_lab/ir/parse.py", 10)
    assert nearest[0] == "tests/ir/test_parse.py" and len(nearest) > 1 and seconds <= 10
    assert len(nearest_tests("triton_lab/ir/parse.py", 0)[0]) == 1
    assert not any(name in ("tests/test_rooms.py", "tests/test_names.py") for name in nearest), "audits"


def test_a_sample_is_drawn_by_its_seed() -> None:
    def drawn(*options: str) -> str:
        command = [sys.executable, "-m", "tests.mutation", "--list", "--sample", "3", *options, "triton_lab/ir"]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    assert drawn() == drawn() != drawn("--seed", "1")
    assert drawn().startswith("3 of ")


def test_of_a_bound_the_operators_are_changed_and_the_numbers_stay() -> None:
    source = "MOST = 1 << 20\nFAR = 3\n"
    assert {change.applied(source) for change in changes(source, ["MOST"])} == {
        "MOST = 1 >> 20\nFAR = 3\n",
        "MOST = 1 << 20\nFAR = 4\n",
    }
    both = "MANY, SHORT = 1, 64\n"
    assert not changes(both, ["MANY", "SHORT"]) and changes(both, ["MANY"])


@pytest.mark.parametrize("path", sorted(BOUNDS))
def test_each_bound_is_a_constant_of_its_module(path: str) -> None:
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    set_here = {part.id for node in body if isinstance(node, ast.Assign) for target in node.targets
                for part in ast.walk(target) if isinstance(part, ast.Name)}  # fmt: skip
    assert set_here >= BOUNDS[path]


def test_of_a_picture_all_but_the_pixels_is_changed() -> None:
    source = "a = x[1] + 20 * 2\n"
    there = {change.applied(source) for change in changes(source)}
    assert there - {change.applied(source) for change in changes(source, picture=True)} == {"a = x[1] + 21 * 2\n"}


def test_what_draws_pictures_is_there() -> None:
    assert set(FILES) >= PICTURES


class Exits(Copy):
    """A copy that holds nothing, in which pytest's run ends with ``fate``."""

    def __init__(self, fate: str) -> None:
        self.fate, self.texts = fate, list[str]()

    def write(self, path: str, text: str) -> None:
        self.texts.append(text)

    def run(self, tests: Sequence[str], seconds: float) -> str:
        return self.fate


CHANGE = changes((ROOT / "triton_lab/messages.py").read_text(encoding="utf-8"))[0]


def test_a_copy_is_afterwards_as_before() -> None:
    copy = Exits("killed")
    found = measure(copy, "triton_lab/messages.py", CHANGE, 1)
    assert (found.path, found.change, found.fate) == ("triton_lab/messages.py", CHANGE, "killed")
    source = (ROOT / "triton_lab/messages.py").read_text(encoding="utf-8")
    assert copy.texts == [CHANGE.applied(source), source]


@pytest.mark.parametrize(
    ("test", "fate"),
    [("assert f() == 1", "killed"), ("assert f() < 5", "survived"), ("import time; time.sleep(60)", "timeout")],
)
def test_what_tests_make_of_a_change(test: str, fate: str, tmp_path: Path) -> None:
    copy = Copy.__new__(Copy)
    copy.folder, copy.memory = tmp_path, 24
    (tmp_path / "test_m.py").write_text(f"from m import f\ndef test(): {test}\n", encoding="utf-8")
    copy.write("m.py", "def f(): return 2\n")
    assert copy.run(["test_m.py"], 2 if fate == "timeout" else 60) == fate


def test_only_what_was_measured_without_a_gap_counts(tmp_path: Path) -> None:
    died, lived = (Outcome("triton_lab/messages.py", CHANGE, fate, 1.0) for fate in ("killed", "survived"))
    assert "2 of 3 changes died" in summary([died, died, lived])
    assert "2 of 4 drawn were measured" in summary([died, died, None, died])
    (tmp_path / "results").write_text(json.dumps(asdict(died)) + "\n", encoding="utf-8")
    assert measured_before(tmp_path / "results") == {(died.path, CHANGE): died}
    assert measured_before(tmp_path / "none") == measured_before(None) == {}
