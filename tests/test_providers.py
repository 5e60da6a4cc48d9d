"""What rooms ask of those below them stands in one table each, is what the asking method says, and is loaded late."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import subprocess
import sys
from collections import Counter

import pytest

from tests.imports import modules
from triton_lab.providers import TABLES, provided

NAMES = Counter(name for table in TABLES for name in importlib.import_module(table).PROVIDED)


@functools.cache
def questions() -> list[tuple[str, ast.expr, ast.expr | None]]:
    """The module of each call of `provided`, its argument, and the type that is declared of its answer's answer."""
    found = []
    for module, path in modules().items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        declared = {
            id(node.value.func): node.annotation
            for node in ast.walk(tree)
            if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call)
        }
        found += [
            (module, node.args[0], declared.get(id(node)))
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "provided"
        ]
    return found


def test_what_is_asked_for_is_what_the_tables_have() -> None:
    names = [argument.value if isinstance(argument, ast.Constant) else module for module, argument, _ in questions()]
    assert Counter(names) == NAMES, "each name is asked for in one place, and stands in one table"


def test_a_method_says_what_it_is_given() -> None:
    seen = 0
    for _, argument, declared in questions():
        assert isinstance(argument, ast.Constant)
        found = provided(argument.value)
        if declared is not None:
            made = found.__name__ if inspect.isclass(found) else inspect.get_annotations(found)["return"]
            assert ast.unparse(declared) == made, argument.value
            seen += 1
        else:
            assert callable(found)
    assert seen > 15


def test_another_name_is_refused_with_the_tables_to_look_in() -> None:
    with pytest.raises(LookupError, match=r"'Launch.nothing'.*triton_lab.views.displays"):
        provided("Launch.nothing")


def test_models_are_there_without_their_pictures() -> None:
    program = """
import sys
import triton_lab as lab
lab.Launch, lab.Launches, lab.Sweep, lab.Comparison, lab.Compiled, lab.Layout, lab.Finding, lab.polyhedral.Schedule
lab.lazy.report, lab.target
loaded = [name for name in sys.modules if name.startswith(("triton_lab.views", "triton_lab.remote", "matplotlib"))]
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
