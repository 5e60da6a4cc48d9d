"""The changes that `make mutation` draws from: what is changed, what is left alone, and that all of it is Python."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation.bounds import BOUNDS, PICTURES
from tests.mutation.changes import changes
from tests.mutation.rooms import own_tests

ROOT = Path(__file__).parents[2]
FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "triton_lab").rglob("*.py"))


def results(source: str) -> set[str]:
    return {change.applied(source) for change in changes(source)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b\n", {"a <= b\n"}),
        ("(a) == (b) != c\n", {"(a) != (b) != c\n", "(a) == (b) == c\n"}),
        ("a is not b\n", {"a is b\n"}),
        ("a in b\n", {"a not in b\n"}),
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


def test_every_file_has_tests_of_its_own() -> None:
    homeless = {path for path in FILES if not own_tests(path, ROOT)}
    doors = {"triton_lab/__init__.py", "triton_lab/__main__.py"}
    assert homeless == doors, "a door is tested where it leads"


def test_a_sample_is_drawn_by_its_seed() -> None:
    def drawn(*options: str) -> str:
        command = [sys.executable, "-m", "tests.mutation", "--list", "--sample", "3", *options, "triton_lab/ir"]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    assert drawn() == drawn() != drawn("--seed", "1")
    assert drawn().startswith("3 of ")
    parts = [drawn("--sample", "20", "--within", f"triton_lab/ir/{file}") for file in ("parse.py", "effects.py")]
    assert {"20 of " in part for part in parts} == {True}, "of one sample"
    whole = drawn("--sample", "20").splitlines()
    assert all(set(part.splitlines()) < set(whole) for part in parts)


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
