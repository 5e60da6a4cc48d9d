"""Names that messages tell the user to write exist, and take the keywords that the messages show."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import triton_lab
from tests import sources
from tests.sources import PACKAGE
from triton_lab.launch.launch import Launch

# `lab.limits(max_steps=...)`, `triton_lab.record`; without the prefix where a call is shown: `record(max_bytes=...)`.
# (Modules that lazy tensors generate bear a name of the package, too.)
NAMED = re.compile(r"(?<![\w./-])(?:lab|triton_lab)(?!\.lazy\.generated)((?:\.[A-Za-z_]\w*)+)(?:\((\w+)=)?")
CALLED = re.compile(r"(?<![\w.])(" + "|".join(triton_lab.__all__) + r")\((\w+)=")


def strings() -> Iterator[tuple[str, str]]:
    """All texts in the package that a user may read, docstrings included, with where they stand."""
    for file in sources.python():
        for node in file.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{file.name}:{node.lineno}", node.value


def found(path: str) -> Any:
    """What ``triton_lab.`` and ``path`` lead to: attributes of the package, else a module. None: nothing."""
    value: Any = triton_lab
    for number, name in enumerate(parts := path.split("."), start=1):
        try:
            value = getattr(value, name)
        except AttributeError:
            if value is triton_lab and name == "last":  # there is one after a launch
                value = Launch
                continue
            try:
                value = importlib.import_module(".".join(["triton_lab", *parts[:number]]))
            except ImportError:
                return None
    return value


def test_every_name_that_is_shown_exists_and_takes_what_is_shown_with_it() -> None:
    seen, wrong = 0, []
    for where, text in strings():
        shown = [(path[1:], keyword) for path, keyword in NAMED.findall(text)] + CALLED.findall(text)
        for path, keyword in shown:
            seen += 1
            value = found(path)
            if value is None or (keyword and keyword not in inspect.signature(value).parameters):
                wrong.append(f"{where}: {path}({keyword})")
    assert not wrong
    assert seen > 20


# What a variable of ours is called in a message -> where its class is.
OBJECTS = {
    "launch": "triton_lab.launch.launch:Launch",
    "launches": "triton_lab.launch.recording.record:Launches",
    "finding": "triton_lab.launch.diagnosis.finding:Finding",
    "access": "triton_lab.launch.access:Access",
    "values": "triton_lab.launch.replay.variable_values:Values",
    "scop": "triton_lab.polyhedral.scop:Scop",
    "schedule": "triton_lab.polyhedral.schedule:Schedule",
}
SENT = re.compile(r"(?<![\w./`])(" + "|".join(OBJECTS) + r")(?:\[\d\])?\.([a-z]\w*)(?:\((?:\.\.\., )?(\w+)=)?")
# `use shared()`, `ask for values(..., programs=[…])`: of ours where nothing stands before the dot.
ADVISED = re.compile(r"\b(?:use|call|see|ask for|allow more:) ([a-z]\w*)\((?:\.\.\., )?(?:(\w+)=)?")


@functools.cache
def messages() -> tuple[tuple[Path, int, str], ...]:
    """All texts but docstrings, and what the front end says."""
    return tuple(_messages())


def _messages() -> Iterator[tuple[Path, int, str]]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for source in sources.python():
        told = {id(node.body[0].value) for node in source.nodes if isinstance(node, documented) and _has_words(node)}
        for node in source.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
                yield source.path, node.lineno, node.value
    for file in sorted((PACKAGE / "views" / "front").glob("*.js")):
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            yield from ((file, number, text) for text in re.findall(r"""["'`]([^"'`]*)["'`]""", line))


def _has_words(node: Any) -> bool:
    return bool(node.body) and isinstance(node.body[0], ast.Expr)


def _class(place: str) -> type:
    module, name = place.split(":")
    found: type = getattr(importlib.import_module(module), name)
    return found


def _takes(value: Any, keyword: str) -> bool:
    return not keyword or keyword in inspect.signature(value).parameters


def _there(owner: type, name: str) -> bool:
    """An attribute of a class, a field of a data class, or what its __init__ sets."""
    return (
        hasattr(owner, name) or name in getattr(owner, "__annotations__", {}) or f"self.{name}" in _text(owner.__init__)
    )


def _text(function: Any) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return ""


def test_every_attribute_of_our_objects_that_a_message_names_exists() -> None:
    seen, wrong = 0, []
    for file, line, text in messages():
        for name, attribute, keyword in SENT.findall(text) if file.suffix == ".py" else []:
            seen += 1
            owner = _class(OBJECTS[name])
            if not _there(owner, attribute) or not _takes(getattr(owner, attribute, None), keyword):
                wrong.append(f"{file.relative_to(PACKAGE)}:{line}: {name}.{attribute}({keyword})")
    assert not wrong
    assert seen > 2


def test_every_call_that_a_message_advises_exists() -> None:
    """Of the package, of a launch, or a method of what the message's own module is about."""
    seen, wrong = 0, []
    for file, line, text in messages():
        for name, keyword in ADVISED.findall(text):
            seen += 1
            owners: list[Any] = [triton_lab, _class(OBJECTS["launch"])]
            if file.suffix == ".py":
                module = importlib.import_module(
                    ".".join(["triton_lab", *file.relative_to(PACKAGE).with_suffix("").parts])
                )
                owners += [one for one in vars(module).values() if inspect.isclass(one)]
            found_ = [getattr(owner, name) for owner in owners if hasattr(owner, name)]
            if not any(_takes(one, keyword) for one in found_):
                wrong.append(f"{file.relative_to(PACKAGE)}:{line}: {name}({keyword})")
    assert not wrong
    assert seen > 3
