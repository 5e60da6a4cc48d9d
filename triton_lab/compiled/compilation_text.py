"""Compilations as text: tables, and stages without source locations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from triton_lab.localization import _

# Source locations, which change with every edit above the line, and the numbers that stand for them.
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
    """A table: in each row a name and the value of each column, "" where a column lacks the name."""
    names: list[str] = []
    for column in columns:
        place = 0
        for name, _unused in column:
            if name not in names:
                names.insert(place, name)
            place = names.index(name) + 1
    values = [dict(column) for column in columns]
    return [("", *titles), *((name, *(column.get(name, "") for column in values)) for name in names)]


def titles(first: Mapping[str, str], second: Mapping[str, str]) -> tuple[str, str]:
    """The titles of two compilations with these properties, by name: everything in which they differ."""
    told = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    if not told:
        before, after = _("{target} before"), _("{target} after")
        return before.format(target=first["target"]), after.format(target=second["target"])
    names = (", ".join(one[name] for name in told if one.get(name)) for one in (first, second))
    one, other = (
        name if name.startswith(each["target"]) else f"{each['target']}, {name}"
        for name, each in zip(names, (first, second), strict=True)
    )
    return one, other


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows as lines of text with aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "   ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def without_places(text: str) -> Iterator[str]:
    """The lines of a stage, without source locations."""
    yield from (line for _unused, line in numbered_without_places(text))


def numbered_without_places(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a stage without source locations, each with its line number, from 1 on."""
    for number, line in enumerate(text.splitlines(), start=1):
        left = line
        for pattern, instead in _PLACES:
            left = pattern.sub(instead, left)
        if left.strip() or not line.strip():
            yield number, left.rstrip()


def read_by_people(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines without debuggers' text: labels that nothing jumps to, and the sections behind the code."""
    blank = True
    for number, line in numbered_without_places(text):
        if _FOR_DEBUGGERS.match(line):
            return
        bare = line.strip()
        if (bare or not blank) and not _LABELS.match(line):
            yield number, line
            blank = not bare
