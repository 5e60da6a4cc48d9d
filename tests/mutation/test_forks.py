"""Changes tried in forks: each finds the tests that run it, what it is in takes it over, and nothing stays behind."""

from __future__ import annotations

import ast
import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

from tests.mutation.changes import Change, changes
from tests.mutation.forks import tried
from tests.mutation.probes import Functions, listen, probed
from tests.mutation.tree import ROOT, Copy

SOURCE = '''\
from functools import cache, partial

FEW = 3

def plain(x, least=1 + 1):
    """Some."""
    if x > 0:
        return 1
    elif x < 0:
        return 2
    for _ in range(x + 5):
        while x < 1:
            x = 3
    try:
        return FEW - x
    finally:
        pass

@cache
def cached(x):
    def inner(y):
        return x - y
    return partial(inner, 2)

def wrapped(function):
    return lambda *values: function(*values) + 1

@wrapped
def decorated(x):
    match x:
        case 1:
            return x - 5
    return [y for y in range(x) if y < 3][-1]

class A:
    @property
    def size(self):
        return 4 * 5

    @staticmethod
    def two(): return (lambda: 1 - 1)() + (lambda: 2 - 2)()
'''


@pytest.fixture
def module(tmp_path: Path) -> Iterator[tuple[dict[str, object], Functions]]:
    """What the file gives, and its functions."""
    given: dict[str, object] = {}
    exec(compile(SOURCE, str(tmp_path / "m.py"), "exec"), given)
    functions = Functions(tmp_path)
    functions.look()
    yield given, functions
    listen(print)


def results(given: dict[str, object]) -> list[object]:
    plain, cached, decorated, some = (given[name] for name in ("plain", "cached", "decorated", "A"))
    return [plain(2), plain(-2), plain(0), cached(7)(), decorated(1), decorated(9), some().size, some.two()]  # type: ignore


def test_with_a_change_functions_do_what_the_changed_file_does(module: tuple[dict[str, object], Functions]) -> None:
    given, functions = module
    assert isinstance(given["decorated"], FunctionType)
    once = results(given)
    _, inside = probed(SOURCE, dict(enumerate(changes(SOURCE))))
    seen = 0
    for number, change in enumerate(changes(SOURCE)):
        changed = change.applied(SOURCE)
        fresh: dict[str, object] = {}
        exec(changed, fresh)
        functions.become("m.py", changed)
        given["cached"].cache_clear()  # type: ignore[attr-defined]
        if number in inside and change.line != SOURCE[: SOURCE.index("def two")].count("\n") + 1:
            assert results(given) == results(fresh), change
            seen += results(given) != once
    assert seen >= 12
    functions.become("m.py", SOURCE)
    given["cached"].cache_clear()  # type: ignore[attr-defined]
    assert results(given) == once


def test_a_probe_says_that_its_statement_is_run_and_changes_nothing(
    module: tuple[dict[str, object], Functions],
) -> None:
    given, functions = module
    once = results(given)
    every = dict(enumerate(changes(SOURCE)))
    tree, inside = probed(SOURCE, every)
    outside = {every[number].line for number in every.keys() - inside}
    assert outside == {3, 5}, "run by the import: a constant, a default"
    said: list[int] = []
    listen(said.append)
    functions.become("m.py", tree)
    given["cached"].cache_clear()  # type: ignore[attr-defined]
    decorators = {number for number, change in every.items() if change.line == 26}
    assert results(given) == once and set(said) == inside - decorators, "a decorator is run by the import"
    said.clear()
    given["plain"](2)  # type: ignore[operator]
    assert {every[number].line for number in said} == {7, 8}


@pytest.mark.parametrize("path", sorted((ROOT / "triton_lab").rglob("*.py"))[::25], ids=lambda path: path.stem)
def test_with_probes_a_file_of_the_package_has_the_same_functions(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    found = dict(enumerate(changes(source)[::5]))
    tree, inside = probed(source, found)
    text = ast.unparse(tree)
    assert all(text.count(f"__mutation_probe__({number})") == (number in inside) for number in found)
    without = [line for line in text.splitlines() if "__mutation_probe__" not in line]
    # `else: if` with a probe between is no `elif`.
    assert "\n".join(without).replace("elif", "if").count("if ") == ast.unparse(ast.parse(source)).count("if ")


def test_each_change_is_tried_on_the_tests_that_run_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of two modules, in a tree as ours."""
    write = {
        "triton_lab/__init__.py": "",
        "triton_lab/ir/__init__.py": "",
        "triton_lab/ir/m.py": (
            "KEPT = 1 + 1\n"
            "def f(x):\n    return x < 3\n"
            "def g(x):\n    if x != 1: return 5\n    return 6\n"
            "def unseen(x):\n    return x < 4\n"
            "def turns():\n    n = 3\n    while n > 0:\n        n -= 1\n"
            "def late():\n    from triton_lab.ir.late import h\n    return h()\n"
        ),
        "triton_lab/ir/late.py": "def h():\n    return 1 + 1\n",
        "tests/ir/test_m.py": (
            "from pathlib import Path\n"
            "from triton_lab.ir import m\n"
            "def test_f(): assert m.f(2)\n"
            "def test_bound(): assert not m.f(3)\n"
            "def test_g(): m.g(1)\n"
            "def test_wrong(): assert m.g(2) == 7\n"
            "def test_turns(): m.turns()\n"
            "def test_late(): assert m.late() == 2\n"
        ),
        "tests/ir/test_nothing.py": "",
        "tests/ir/test_unsteady.py": (
            "from pathlib import Path\n"
            "from triton_lab.ir import m\n"
            "def test_only_once():\n"
            "    m.unseen(1)\n"
            "    assert not Path('been').exists()\n"
            "    Path('been').touch()\n"
        ),
    }
    copy = Copy.__new__(Copy)
    copy.folder, copy.memory = tmp_path, 8
    for name, text in write.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    shutil.copytree(ROOT / "tests/mutation", tmp_path / "tests/mutation")
    forks_there = tmp_path / "tests/mutation/forks.py"
    forks_there.write_text(forks_there.read_text().replace("LEAST_SECONDS = 60.0", "LEAST_SECONDS = 1.0"))
    path = "triton_lab/ir/m.py"
    drawn = [
        (path, Change(3, 13, "<", "<=")),  # seen by one test of two
        (path, Change(5, 9, "!=", "==")),  # run by one that does not look, and by one that is wrong as it is
        (path, Change(1, 9, "+", "-")),  # run by the import
        (path, Change(8, 13, "<", "<=")),  # run by a test that passes once
        (path, Change(12, 10, "-=", "+=")),  # endless
        ("triton_lab/ir/late.py", Change(2, 13, "+", "-")),
    ]
    found, failed = asyncio.run(tried(copy, drawn, 100.0))
    told = {each.place: (each.fate, each.test) for each in found}
    assert told == {
        0: ("killed", "tests/ir/test_m.py::test_bound"),
        1: ("survived", None),
        3: ("survived", None),
        4: ("timeout", None),
        5: ("killed", "tests/ir/test_m.py::test_late"),
    }
    assert failed == ["tests/ir/test_m.py::test_wrong"]
    assert all((tmp_path / name).read_text() == text for name, text in write.items()), "nothing is left changed"
    assert asyncio.run(tried(copy, drawn, -1.0)) == ([], [])
