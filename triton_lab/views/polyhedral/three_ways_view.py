"""Three descriptions side by side: domain, order, program text, what each can and cannot express, and measurements."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, TypedDict

from triton_lab.polyhedral import Schedule
from triton_lab.polyhedral.related_work.ragged_nest import PAGE_RAGGED
from triton_lab.polyhedral.related_work.three_ways import Way, Ways
from triton_lab.views.drawing.png import png
from triton_lab.views.drawing.scene_bounds import Many, Most, Png, Sentence, Text, Within
from triton_lab.views.polyhedral.canvas import Canvas
from triton_lab.views.polyhedral.formula_figure import draw_program, program_size, width_of
from triton_lab.views.polyhedral.iteration_picture import picture
from triton_lab.views.polyhedral.plane_plot import Plot
from triton_lab.views.polyhedral.polyhedral_style import DARK, LIGHT, Look
from triton_lab.views.polyhedral.ragged_view import RaggedView
from triton_lab.views.polyhedral.space_plot import SpacePlot
from triton_lab.views.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMN, GAP, MARGIN = 420.0, 28.0, 16.0
PICTURE = 300.0  # height of a column's picture
SIZE = 8.5
CHARACTERS = 64
MOST_IN_SPACE = 8  # the largest parameter with which a domain in space is drawn

Picture = Annotated[bytes, Most(1 << 20), Png()]


class ColumnScene(TypedDict):
    """``picture`` is a PNG for light pages, ``dark`` for dark ones."""

    title: Sentence
    picture: Picture
    dark: Picture
    width: Annotated[int, Within(1, 1 << 12)]
    alt: Sentence
    program: Text
    can: Many[Sentence]
    cannot: Many[Sentence]
    measured: Many[Sentence]


class ColumnsScene(TypedDict):
    kind: Literal["columns"]
    title: Sentence
    columns: Annotated[list[ColumnScene], Most(8)]


class _Drawable(Protocol):
    @property
    def size(self) -> tuple[float, float]: ...

    def draw(self, canvas: Canvas, x: float, y: float) -> None: ...


class WaysView(View):
    """One problem described in three ways. Pictures show the order: from pale (first visit) to dark (last visit)."""

    def __init__(self, ways: Ways) -> None:
        self.ways = ways

    def title(self) -> str:
        return self.ways.title

    def text(self) -> str:
        parts = [self.title()]
        for way in self.ways.every:
            lists = [("can say", way.can), ("cannot say", way.cannot), ("measured", way.measured)]
            said = [f"  {name}: {'; '.join(lines)}" for name, lines in lists]
            parts.append("\n".join([way.title, textwrap.indent(way.program, "    "), *said]))
        return "\n\n".join(parts)

    @cached_property
    def drawn(self) -> tuple[tuple[Way, _Drawable, str], ...]:
        """Each way with its picture and its title, which has the drawn parameters if they are not the measured ones."""
        return tuple((way, *self._drawn(way)) for way in self.ways.every)

    def _drawn(self, way: Way) -> tuple[_Drawable, str]:
        """The picture of a way (the domain in the order of its schedule, or the ragged rows), and the words above."""
        if way.schedule is None:
            return RaggedView(PAGE_RAGGED, cell=24.0), way.title
        deepest = max(way.schedule.scop.statements, key=lambda s: len(s.iterators))
        flat = len(way.schedule.scop.statements) > 1 and way is not self.ways.polyhedral
        dims = deepest.iterators[: 2 if flat else 3]
        schedule = way.schedule if flat else small(way.schedule)
        shown = picture(schedule, dims, violations=False, statements=[deepest.name])
        if flat:
            return Plot(shown, True, COLUMN, PICTURE), way.title
        values = schedule.scop.values
        told = ", ".join(f"{p} = {v}" for p, v in values.items())
        title = f"{way.title}, drawn for {told}" if values != way.schedule.scop.values else way.title
        return SpacePlot(shown, True, width=COLUMN - 40, height=PICTURE), title

    def figure(self) -> Figure:
        programs = [_wrapped(way.program) for way in self.ways.every]
        tall = max(program_size(p, 7.0)[1] for p in programs)
        lists = [_lists(way) for way in self.ways.every]
        height = MARGIN + 58 + PICTURE + 20 + tall + 16 * max(map(len, lists)) + 2 * MARGIN
        canvas = Canvas(2 * MARGIN + 3 * COLUMN + 2 * GAP, height)
        canvas.text(MARGIN, MARGIN + 6, self.title(), 12.0, bold=True)
        for k, (_, drawable, title) in enumerate(self.drawn):
            x, y = MARGIN + k * (COLUMN + GAP), MARGIN + 30
            canvas.text(x, y + 9, title, 10.5, bold=True)
            drawable.draw(canvas, x, y + 28)
            y += 28 + PICTURE + 20
            draw_program(canvas, programs[k], x, y, 7.0)
            y += tall + 12
            for line, bold in lists[k]:
                canvas.text(x, y + 8, line, SIZE, canvas.look.ink, bold=bold)
                y += 16
        return canvas.finish()

    def scene(self) -> ColumnsScene:
        columns: list[ColumnScene] = []
        for way, drawable, title in self.drawn:
            width, height = max(drawable.size[0], 40) + 8, max(drawable.size[1], 40) + 8
            columns.append(
                {
                    "title": title,
                    "picture": _painted(drawable, width, height, LIGHT),
                    "dark": _painted(drawable, width, height, DARK),
                    "width": round(width),
                    "alt": f"{way.title}: the order of execution",
                    "program": way.program,
                    "can": list(way.can),
                    "cannot": list(way.cannot),
                    "measured": list(way.measured),
                }
            )
        return {"kind": "columns", "title": self.title(), "columns": columns}


def _painted(drawable: _Drawable, width: float, height: float, look: Look) -> bytes:
    canvas = Canvas(width, height, look)
    drawable.draw(canvas, 4, 4)
    return png(canvas.finish())


def small(schedule: Schedule) -> Schedule:
    """The same order with parameters small enough that single points can be seen in space."""
    values = {p: min(v, MOST_IN_SPACE) for p, v in schedule.scop.values.items()}
    return replace(schedule, scop=schedule.scop.bind(**values))


def _wrapped(program: str) -> list[str]:
    """Lines that fit the column; the rest of a broken line is indented."""
    room = int(COLUMN / width_of("m" * 100, 7.0, True) * 100)
    lines: list[str] = []
    for line in program.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        lines += textwrap.wrap(line, room, subsequent_indent=indent, drop_whitespace=False) or [""]
    return lines


def _lists(way: Way) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    for name, lines in (("It can say", way.can), ("It cannot say", way.cannot), ("Measured", way.measured)):
        found.append((name, True))
        for line in lines:
            first, *rest = textwrap.wrap(line, CHARACTERS)
            found += [(f"– {first}", False), *((f"   {more}", False) for more in rest)]
    return found
