"""Compilations as text: tables, and stages without the places that lines come from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# Where a line comes from, which changes with every edit above it, and numbers that stand for it.
_PLACES = (
    (re.compile(r"\s*loc\((?:#loc\d*|unknown|[^()]*(?:\([^()]*\))*[^()]*)\)"), ""),
    (re.compile(r"^#loc.*$"), ""),
    (re.compile(r",? !dbg !\d+"), ""),
    (re.compile(r"^!\d+ = .*$"), ""),
    (re.compile(r"^\s*\.(?:loc|file)\b.*$"), ""),
)

_FOR_DEBUGGERS = re.compile(r"^\s*\.section\s+\.debug|^\.set amdgpu\.|^\s*\.ident\b")
_LABELS = re.compile(r"^(?:\$L__(?:tmp|func_begin|func_end)\d+|\.L(?:tmp|func_begin|func_end)\d+):")


def side_by_side(columns: Sequence[Sequence[tuple[str, str]]], titles: Sequence[str]) -> list[tuple[str, ...]]:
    """A table of name and value in each column, under its title; what one does not have is left empty there."""
    names: list[str] = []
    for column in columns:
        place = 0
        for name, _ in column:
            if name not in names:
                names.insert(place, name)
            place = names.index(name) + 1
    values = [dict(column) for column in columns]
    return [("", *titles), *((name, *(column.get(name, "") for column in values)) for name in names)]


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows as lines, with columns that stand under each other."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "   ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def without_places(text: str) -> Iterator[str]:
    """The lines of a stage, without what says where they come from."""
    yield from (line for _, line in numbered_without_places(text))


def numbered_without_places(text: str) -> Iterator[tuple[int, str]]:
    """The same, each with its number in the stage, from 1 on."""
    for number, line in enumerate(text.splitlines(), start=1):
        left = line
        for pattern, instead in _PLACES:
            left = pattern.sub(instead, left)
        if left.strip() or not line.strip():
            yield number, left.rstrip()


def read_by_people(text: str) -> Iterator[tuple[int, str]]:
    """The same without what is there for debuggers: labels that nothing jumps to, and what stands behind the code."""
    blank = True
    for number, line in numbered_without_places(text):
        if _FOR_DEBUGGERS.match(line):
            return
        bare = line.strip()
        if (bare or not blank) and not _LABELS.match(line):
            yield number, line
            blank = not bare
