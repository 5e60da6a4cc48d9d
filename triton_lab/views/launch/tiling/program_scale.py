"""The legend of program colours: a swatch for each of a few programs, a colour bar with numbers for many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from triton_lab import messages
from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.heatmap import Key

BAR = 3.0 * style.LEVELS  # the width of a colour bar, CSS pixels

Ticks = list[tuple[float, str]]


@dataclass(frozen=True)
class ProgramScale:
    """The legend's part for programs; the fields are those of a `Heatmap`."""

    keys: list[Key]
    ramp: tuple[int, int, float, float] | None
    name: str
    ticks: Ticks


def program_scale(grid: Sequence[int], seen: Iterable[int], shown: int | None = None) -> ProgramScale:
    """The scale of a picture in which the programs ``seen`` have a colour.

    ``shown`` is the number of programs that were looked at, if that is not all; the legend then says so.
    """
    count = prod(map(int, grid))
    some = (
        ""
        if shown is None
        else _("{shown} of {programs} shown").format(
            shown=messages.number(shown), programs=messages.count(count, "program")
        )
    )
    if count <= len(style.PROGRAM_COLOURS):
        keys = program_keys(grid, seen)
        if some and keys:
            keys[-1] = Key(keys[-1].style, f"{keys[-1].text}; {some}")
        return ProgramScale(keys, None, "", [])
    name = _("program number") + (f", {some}" if some else "")
    return ProgramScale([], (style.SEQUENTIAL, style.LEVELS, 0, count - 1), name, program_ticks(count))


def program_keys(grid: Sequence[int], seen: Iterable[int]) -> list[Key]:
    """A swatch for each program: ``program 0``, ``1``, ...; in a grid of several axes ``program (0, 0, 0)``, ..."""
    programs = sorted(set(seen))
    colours = style.program_colours(np.array(programs, dtype=np.int64), grid).tolist()
    flat = tuple(grid[1:]) == (1, 1)
    names = [str(one) if flat else str(messages.coordinates(one, grid)) for one in programs]
    if names:
        names[0] = _("program {coordinates}").format(coordinates=names[0])
    return [Key((colour,) * 3 + (style.PLAIN,), name) for colour, name in zip(colours, names, strict=True)]


def program_ticks(count: int) -> Ticks:
    """The program numbers along the bar, including the first and the last; as many as fit."""
    widest = style.CHARACTER * len(str(count - 1)) + 6
    parts = next((parts for parts in (4, 2) if BAR / parts >= widest), 1)
    numbers = [*(count // parts * part for part in range(parts)), count - 1]
    return [(number, str(number)) for number in numbers]
