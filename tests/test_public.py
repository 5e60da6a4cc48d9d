"""Public names: every public package (`triton_lab` and its rooms) exports, lists and types the same names."""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

import triton_lab
import triton_lab.course
import triton_lab.lazy
import triton_lab.polyhedral
import triton_lab.testing

DOORS = (triton_lab, triton_lab.polyhedral, triton_lab.lazy, triton_lab.course, triton_lab.testing)
each_door = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
# Exceptions that no user's program has to catch.
INSIDE = {
    "NotEmulated": "PTX that is not run: the documented error of its function is tried instead",
    "BadMessage": "what a debug adapter is sent is not its protocol: it ends the session",
    "RequestRefused": "what a debug adapter answers an editor",
    "BreakpointError": "a ValueError of a breakpoint, told where it is set",
    "ConditionError": "a ValueError of a condition, told where it is given",
    "Bad": "the interpreter's own, it becomes a KernelError",
    "Broken": "between the two processes that grade a notebook",
    "CannotCompile": "no llvmlite, or what LLVM refuses: NumPy runs the kernel",
    "CannotAssemble": "a module of `front/` that cannot be joined with others: a bug of ours, told to who writes it",
    "CellSyntaxError": "how `%%triton` shows a SyntaxError",
    "DataError": "what a worker has sent is not what it should be: it becomes a RemoteError",
    "FailedTask": "a task of Dask's that has failed, without what it says: it becomes a RemoteError",
    "Ended": "between the two processes that grade a notebook: its reason is in the table",
    "Fell": "a native launch that was put back: NumPy runs it",
    "InvalidPlan": "a plan of ours that breaks the IR's rules: asked for in tests alone",
    "NeedsMemory": "the reader of C's own: a scalar then keeps its place in memory",
    "NotData": "what a call returned there does not travel: it is told here as a TypeError",
    "NothingToRun": "how the command line says that a file is no script",
    "ParseError": "a module that Triton printed and we cannot read: a bug of ours",
    "Refused": "what a scheduler sends is not read: it becomes a RemoteError or a TargetError",
    "Retry": "the generator's own: a loop is written again, with less taken for granted",
    "TookTooLong": "a check's own: what was not checked is in the verdict",
    "Unanswered": "a judge's own: its fault is what the check says",
    "UnreadableMemory": "an `ArgumentError`, which has a door",
    "UnusableCache": "no folder can keep a kernel, not even a temporary one: the message says what to do",
    "UsageError": "how `%%triton` says what its line may hold",
}


def typed(door: ModuleType) -> set[str]:
    """The public names that a type checker sees in the door's source."""
    assert door.__file__ is not None
    body = ast.parse(Path(door.__file__).read_text(encoding="utf-8")).body
    names: set[str] = set()
    for node in [*body, *(inner for branch in body if isinstance(branch, ast.If) for inner in branch.body)]:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def exceptions(kind: type[BaseException] = BaseException) -> Iterator[type[BaseException]]:
    for below in kind.__subclasses__():
        if below.__module__.partition(".")[0] == "triton_lab":
            yield below
        yield from exceptions(below)


@each_door
def test_a_door_lists_what_it_gives(door: ModuleType) -> None:
    # `lab.last` is there once something was launched, and so not for `from triton_lab import *`.
    assert [name for name in dir(door) if name != "last"] == sorted(set(door.__all__)) == sorted(door.__all__)
    for name in door.__all__:
        assert getattr(door, name) is not None


@each_door
def test_a_type_checker_sees_every_name(door: ModuleType) -> None:
    assert set(door.__all__) - typed(door) == set()


def test_what_a_type_checker_sees_of_lazy_names_is_what_they_are() -> None:
    """The imports under TYPE_CHECKING lead to the very objects that the door gives."""
    for door in DOORS:
        assert door.__file__ is not None
        for node in ast.walk(ast.parse(Path(door.__file__).read_text(encoding="utf-8"))):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                for found in (one for one in node.body if isinstance(one, ast.ImportFrom)):
                    home = importlib.import_module("." * found.level + (found.module or ""), door.__name__)
                    for alias in (one for one in found.names if one.name in door.__all__):
                        assert getattr(home, alias.name) is getattr(door, alias.name)


@each_door
def test_a_name_that_is_not_there_is_an_attribute_error(door: ModuleType) -> None:
    with pytest.raises(AttributeError, match=rf"'{door.__name__}'.* 'nothing'$"):
        _ = door.nothing


def test_every_exception_that_a_user_can_meet_has_a_door() -> None:
    for module in pkgutil.walk_packages(triton_lab.__path__, "triton_lab."):
        if ".labextension" not in module.name:
            importlib.import_module(module.name)
    named = [getattr(door, name) for door in DOORS for name in door.__all__]
    homeless = {
        f"{kind.__module__}.{kind.__name__}"
        for kind in exceptions()
        if kind not in named and kind.__name__[0] != "_" and kind.__name__ not in INSIDE
    }
    assert homeless == set()


def test_one_name_means_one_exception() -> None:
    gc.collect()  # what a pytest within a test has imported and dropped
    names = [kind.__name__ for kind in set(exceptions())]
    assert sorted(names) == sorted(set(names))


def test_the_version_is_that_of_the_distribution() -> None:
    assert triton_lab.__version__ == metadata.version("triton-lab")


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_every_name_of_a_door_says_what_it_is(door: ModuleType) -> None:
    for name in door.__all__:
        found = getattr(door, name)
        if inspect.isclass(found) or inspect.isfunction(found) or inspect.ismodule(found):
            assert found.__doc__, name
