"""A scene in full, as lines that can be read: ``python -m tests.views.told`` writes those of `small` anew.

A line is a place and what is there. Of numbers, ``3*7`` is three sevens and ``2..6`` counts from 2 to 6; where they are
the cells of a picture each of its rows is a line. What has been told before in the same file is not told again: ``=``
names the place. What is empty or None is left out. Floats have five digits.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.views.approved import differences, without_folder
from tests.views.approved import record as drawn
from triton_lab.views.view import View

FOLDER = Path(__file__).with_name("told")
LINE = 110  # letters of a list on one line
REPEATED = 40  # what is longer is told once
ROWS = 24  # so many labels, rows of a table, ... are told one by one
MOST = 64  # runs of numbers that are told one by one
# As they are in every scene of their kind, or the text of the kernel.
LEFT_OUT = {"painting", "source", "room", "says", "headings", "looks"}


class Told:
    """The lines of several scenes."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._before: dict[tuple[str, ...], str] = {}

    def view(self, name: str, view: View, scene: bool = True, figure: bool = False) -> None:
        """Its text, its ``scene``, and the artists of its ``figure``."""
        self.lines += ["", f"## {name}", *(f"  | {line}" for line in without_folder(view.text()).splitlines())]
        if scene:
            self.scene(name, view.live())
        if figure:
            self.lines += [f"  {line}" for line in drawn(view) if line.startswith(_ARTISTS)]

    def scene(self, at: str, scene: Any) -> None:
        """Its fields."""
        for name, value in scene.items():
            if name not in LEFT_OUT:
                self._field(at, name, value, 1)

    def _field(self, at: str, name: str, value: Any, depth: int) -> None:
        told = list(_told(name, value, depth))
        if not told:
            return
        key = tuple(line.strip() for line in told)
        if sum(map(len, key)) > REPEATED and key in self._before:
            self.lines.append(f"{'  ' * depth}{name} = {self._before[key]}")
            return
        self._before.setdefault(key, f"{at}.{name}")
        if _has_parts(value) and len(told) > 1:
            self.lines.append(f"{'  ' * depth}{name}")
            for inner, item in value.items() if isinstance(value, Mapping) else enumerate(value):
                if inner not in LEFT_OUT:
                    self._field(f"{at}.{name}", str(inner), item, depth + 1)
            return
        self.lines += told


def _has_parts(value: Any) -> bool:
    """Whether it holds records, or lists of lists."""
    if isinstance(value, Mapping):
        return not _is_buffer(value)
    return isinstance(value, list | tuple) and any(map(_has_parts, value))


_ARTISTS = ("figure", "image", " #", "lines", "areas", "dots", *"0123456789")


def _told(name: str, value: Any, depth: int) -> Iterator[str]:
    before = "  " * depth
    if value is None or (isinstance(value, str | list | tuple | dict) and not value):
        return
    if _is_buffer(value):
        yield f"{before}{name}: {numbers(_numbers(value))}"
    elif isinstance(value, Mapping):
        inner = [line for key, item in value.items() if key not in LEFT_OUT for line in _told(key, item, depth + 1)]
        yield from _short(f"{before}{name}", inner) or [f"{before}{name}", *inner]
    elif isinstance(value, list | tuple):
        if (
            all(isinstance(one, int | float | None) and not isinstance(one, bool) for one in value)
            and None not in value
        ):
            yield f"{before}{name}: {numbers(np.array(value))}"
            return
        if value and all(_is_row(one) for one in value):
            yield from _rows(f"{before}{name}:", [without_folder(repr(tuple(one))) for one in value])
        elif any(isinstance(one, Mapping | list | tuple) for one in value):
            inner = [line for k, item in enumerate(value) for line in _told(str(k), item, depth + 1)]
            yield from _short(f"{before}{name}", inner) or [f"{before}{name}", *inner]
        else:
            yield without_folder(f"{before}{name}: {value!r}")
    elif isinstance(value, float):
        yield f"{before}{name}: {numbers(np.array([value]))}"
    else:
        yield without_folder(f"{before}{name}: {value!r}")


def _is_row(value: Any) -> bool:
    return isinstance(value, list | tuple) and not any(isinstance(one, Mapping | list | tuple) for one in value)


def _rows(head: str, rows: Sequence[str]) -> Iterator[str]:
    """Several to a line; of many the first, and how many there are."""
    rest = f"{len(rows)} in all {zlib.crc32(' '.join(rows).encode()):08x}"
    line = head
    for row in rows if len(rows) <= ROWS else [*rows[:ROWS], rest]:
        if len(line) + len(row) > LINE:
            yield line
            line = " " * len(head)
        line += f" {row}"
    yield line


def _short(head: str, inner: Sequence[str]) -> list[str]:
    """On one line, if that is short; items of lists without their numbers."""
    parts = [line.strip() for line in inner]
    if parts and all(part.startswith(f"{k}: ") for k, part in enumerate(parts)):
        one = f"{head}: ({', '.join(part.partition(': ')[2] for part in parts)})"
    else:
        one = f"{head}: {{{', '.join(parts)}}}"
    return [one] if len(one) <= LINE else []


def _is_buffer(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {"type", "bytes"} and isinstance(value["bytes"], bytes)


def _numbers(value: Any) -> npt.NDArray[Any]:
    return np.frombuffer(value["bytes"], dtype="<" + value["type"])


def numbers(every: npt.NDArray[Any]) -> str:
    """Runs of equal numbers, and of numbers that count up."""
    parts: list[str] = []
    for same, run in groupby(map(_number, every.tolist())):
        many = len(list(run))
        parts.append(same if many == 1 else f"{many}*{same}")
    joined = _counting(parts)
    if len(joined) > MOST:
        held = np.nan_to_num(every.astype(np.float64), nan=0.5, posinf=0.25, neginf=0.75)
        weights = np.arange(1, held.size + 1) / held.size
        return f"{' '.join(joined[:8])} .. {held.size} in all, sums {held.sum():.5g} {(held * weights).sum():.5g}"
    return " ".join(joined) or "none"


def _number(one: float) -> str:
    return str(one) if isinstance(one, int) else f"{one + 0.0:.5g}"


def _counting(parts: Sequence[str]) -> list[str]:
    found: list[str] = []
    start = 0
    while start < len(parts):
        stop = start + 1
        while stop < len(parts) and _follows(parts[stop - 1], parts[stop]):
            stop += 1
        found += [f"{parts[start]}..{parts[stop - 1]}"] if stop - start > 3 else parts[start:stop]
        start = stop
    return found


def _follows(one: str, other: str) -> bool:
    return one.isdecimal() and other.isdecimal() and int(other) == int(one) + 1


def path_of(name: str) -> Path:
    return FOLDER / f"{name.replace(' ', '_')}.txt"


def changed(name: str, lines: Sequence[str]) -> list[str]:
    """What differs from what was approved."""
    path = path_of(name)
    before = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return differences(before, lines)


def main() -> None:
    """Write the files of all."""
    import os

    os.environ.setdefault("TRITON_LAB_RAISE", "1")
    from tests.views.small import TOLD

    FOLDER.mkdir(exist_ok=True)
    for name, make in TOLD.items():
        lines = make()
        if changed(name, lines):
            print(f"{name}: has changed")
        path_of(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    for path in set(FOLDER.iterdir()) - set(map(path_of, TOLD)):
        path.unlink()
    print(f"{sum(path.stat().st_size for path in FOLDER.iterdir()) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
