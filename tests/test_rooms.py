"""ARCHITECTURE.md's tables of rooms are true: all are in them, each imports only from those above it, none in a circle,
deferred imports included.

No imports form a circle. `python -m tests.imports` prints the import graph that is tested here.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

from tests import sources
from tests.imports import (
    RANK,
    TABLE,
    Import,
    at_run_time,
    circles,
    deferred,
    every_import,
    folder_of,
    goes_down,
    imports,
    modules,
    room_of,
    table,
    when_read,
)

# What lies inside a room, in levels: those of one level may know each other. "." is the room's own modules.
INSIDE = {
    found[1]: [re.findall(r"`([\w./]+?)/?`", level) for level in row.split("|")[2].split(",")]
    for row in TABLE
    if (found := re.match(r"\| in `(\w+)/`", row))
}
# The deferred imports of a room further down, and what would be worse without them.
BELOW = {
    ("providers", "views/displays"): "models would have no `plot`, or each its own import of a view",
    ("providers", "compiled/launch_services"): "a launch could not be compiled, nor saved with what it was compiled to",
    ("providers", "command/script_services"): "launches in processes that a script starts would not be checked",
    ("providers", "remote/target_services"): "`lab.target` would load Dask's half, or could not choose a scheduler",
}


@functools.cache
def edges() -> list[Import]:
    """All files of the package are read for it: not while tests are collected."""
    return every_import()


def level_of(module: str) -> int:
    """Where a module stands inside its room: the number of its sub-room's level."""
    room = room_of(module)
    inner = folder_of(module).removeprefix(room).strip("/") or "."
    return next(number for number, level in enumerate(INSIDE.get(room, [["."]])) if inner in level)


def test_every_room_is_in_the_table() -> None:
    assert {room_of(module) for module in modules()} - {"."} == set(RANK)


def test_every_folder_of_a_room_has_its_place_inside_it() -> None:
    folders = {folder_of(module) for module in modules()} - {"."}
    inner = {room: {folder for folder in folders if folder.startswith(f"{room}/")} for room in RANK}
    told = {
        room: {f"{room}/{name}" for level in levels for name in level if name != "."} for room, levels in INSIDE.items()
    }
    assert {room: found for room, found in inner.items() if found} == told


@pytest.mark.parametrize("room", RANK)
def test_a_room_imports_from_rooms_above_it_alone(room: str) -> None:
    wrong = [edge for edge in edges() if room_of(edge.by) == room and edge.kind == "module" and goes_down(edge)]
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("room", INSIDE)
def test_a_sub_room_imports_from_those_before_it_alone(room: str) -> None:
    wrong = [
        edge
        for edge in edges()
        if room_of(edge.by) == room_of(edge.of) == room
        and edge.kind == "module"
        and edge.by != room  # the door opens on all
        and level_of(edge.of) > level_of(edge.by)
    ]
    assert not wrong, "\n".join(map(str, wrong))


def test_no_modules_import_each_other_in_a_circle() -> None:
    print(table())
    assert circles(when_read(edges())) == []


def test_no_deferred_import_goes_down_the_table() -> None:
    found = {(edge.by, edge.of) for edge in deferred(edges())["of a room below"]}
    assert found == set(BELOW), "ask with `provided`, or move what is needed up"


def test_no_modules_import_each_other_in_a_circle_of_deferred_imports() -> None:
    assert circles(at_run_time(edges())) == []


def test_every_package_says_what_it_is_for() -> None:
    for module, path in modules().items():
        if path.name == "__init__.py":
            told = ast.get_docstring(sources.source(path).tree)
            assert told and len(told.split()) > 8, module


def test_imports_of_every_kind_are_read(tmp_path: Path) -> None:
    source = """
from . import record
from .checks import race
from ..ir import Plan
import triton_lab.messages
if TYPE_CHECKING:
    from ..views.view import View
def call():
    from triton_lab import magics
    return getattr(import_module("triton_lab.views.view"), "View"), "triton_lab.views"
LATER = {"record": "triton_lab.launch.record:record"}
"""
    known = ["launch", "launch/record", "launch/checks", "launch/checks/race", "ir", "messages", "views/view", "magics"]
    path = tmp_path / "launch.py"
    path.write_text(source, encoding="utf-8")
    assert [(edge.of, edge.kind) for edge in imports("launch/launch", path, known)] == [
        ("launch/record", "module"),
        ("launch/checks/race", "module"),
        ("ir", "module"),
        ("messages", "module"),
        ("views/view", "type"),
        ("magics", "call"),
        ("launch/record", "call"),
        ("views/view", "call"),
    ]


def test_a_circle_is_found() -> None:
    edges = [Import("a", "b", "module"), Import("b", "c", "type"), Import("c", "a", "call"), Import("d", "a", "module")]
    assert circles(edges) == [["a", "b", "c"]]
    assert circles(edges[:2]) == []
