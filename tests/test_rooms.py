"""ARCHITECTURE.md's tables of rooms are true: all rooms are listed, and each imports only from those above it.

No imports form a circle. `python -m tests.imports` prints the import graph that is tested here.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

from tests import sources
from tests.imports import PACKAGE, Import, circles, every_import, folder_of, imports, modules, table

TABLE = (PACKAGE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
ROOMS = [re.findall(r"`(\w+)(?:/|\.py)`", row.split("|")[1]) for row in TABLE if row.startswith("| `")]
RANK = {room: number for number, rooms in enumerate(ROOMS) for room in rooms}
# What lies inside a room, in levels: those of one level may know each other. "." is the room's own modules.
INSIDE = {
    found[1]: [re.findall(r"`([\w./]+?)/?`", level) for level in row.split("|")[2].split(",")]
    for row in TABLE
    if (found := re.match(r"\| in `(\w+)/`", row))
}


@functools.cache
def edges() -> list[Import]:
    """All files of the package are read for it: not while tests are collected."""
    return every_import()


def room_of(module: str) -> str:
    return module.split("/")[0]


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
    wrong = [
        edge
        for edge in edges()
        if room_of(edge.by) == room and edge.kind == "module" and edge.of != "." and RANK[room_of(edge.of)] > RANK[room]
    ]
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


def names_its_view(edge: Import) -> bool:
    """Whether a class names, as a type, the view that shows it: the one circle that the table allows."""
    return edge.kind == "type" and room_of(edge.of) == "views" and room_of(edge.by) != "views"


def test_no_modules_import_each_other_in_a_circle() -> None:
    print(table())
    assert circles(edge for edge in edges() if edge.kind != "call" and not names_its_view(edge)) == []


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
    ]


def test_a_circle_is_found() -> None:
    edges = [Import("a", "b", "module"), Import("b", "c", "type"), Import("c", "a", "call"), Import("d", "a", "module")]
    assert circles(edges) == [["a", "b", "c"]]
    assert circles(edges[:2]) == []
