"""ARCHITECTURE.md's table of rooms is true: all are in it, and each imports only from those above it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import triton_lab

PACKAGE = Path(triton_lab.__file__).parent
TABLE = (PACKAGE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROWS = [re.findall(r"`(\w+)(?:/|\.py)`", row.split("|")[1]) for row in TABLE.splitlines() if row.startswith("| `")]
RANK = {room: number for number, rooms in enumerate(ROWS) for room in rooms}
BESIDE = {"__init__", "setting"}  # the door, and what `targets` and `limiting` share


def room_of(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def modules() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if room_of(path) not in BESIDE | {"labextension"}]


def imported(body: list[ast.stmt]) -> Iterator[str]:
    """What is imported with the module itself, by full name; not what types alone or a call asks for."""
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef) and "TYPE_CHECKING" not in ast.dump(node):
            yield from imported(node.body)


def test_every_room_is_in_the_table() -> None:
    assert {room_of(path) for path in modules()} == set(RANK)


@pytest.mark.parametrize("room", RANK)
def test_a_room_imports_from_rooms_above_it_alone(room: str) -> None:
    for path in modules():
        if room_of(path) != room:
            continue
        for name in imported(ast.parse(path.read_text(encoding="utf-8")).body):
            parts = name.split(".")
            if parts[0] == "triton_lab" and len(parts) > 1 and parts[1] in RANK:
                assert RANK[parts[1]] <= RANK[room], f"{path.relative_to(PACKAGE)} imports {name}"
