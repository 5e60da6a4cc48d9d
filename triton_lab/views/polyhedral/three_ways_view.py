"""Three descriptions side by side: domain, order, program text, what each can and cannot express, and measurements."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Literal, TypedDict

from triton_lab.localization import _
from triton_lab.polyhedral import Schedule
from triton_lab.polyhedral.related_work.ragged_nest import PAGE_RAGGED
from triton_lab.polyhedral.related_work.three_ways import Way, Ways
from triton_lab.views.drawing.drawing import Drawing
from triton_lab.views.drawing.drawing_pieces import beside, column, lines, paragraphs, title
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.scene_bounds import Many, Most, Sentence, Text
from triton_lab.views.drawing.style import SMALL
from triton_lab.views.polyhedral.iteration_picture import picture
from triton_lab.views.polyhedral.plane_plot import Plot
from triton_lab.views.polyhedral.ragged_view import RaggedView
from triton_lab.views.polyhedral.space_plot import SpacePlot
from triton_lab.views.view import View

COLUMN, GAP = 420.0, 28.0
PICTURE = 300.0  # height of a column's picture
MOST_IN_SPACE = 8  # the largest parameter with which a domain in space is drawn


class _Column(TypedDict):
    title: Sentence
    picture: DrawingScene
    program: Text
    can: Many[Sentence]
    cannot: Many[Sentence]
    measured: Many[Sentence]


class ColumnScene(_Column, total=False):
    """A way. ``outcome`` stands over what was ``measured``."""

    # Older saved notebooks lack this.
    outcome: Sentence


class ColumnsScene(TypedDict):
    kind: Literal["columns"]
    title: Sentence
    columns: Annotated[list[ColumnScene], Most(8)]


class WaysView(View):
    """One problem described in three ways. Pictures show the order: from pale (first visit) to dark (last visit)."""

    tight = True

    def __init__(self, ways: Ways) -> None:
        self.ways = ways

    def title(self) -> str:
        return self.ways.title

    def text(self) -> str:
        parts = [self.title()]
        for way in self.ways.every:
            lists = [(_("can say"), way.can), (_("cannot say"), way.cannot), (_outcome(way).lower(), way.measured)]
            said = [f"  {name}: {'; '.join(lines)}" for name, lines in lists]
            parts.append("\n".join([way.title, textwrap.indent(way.program, "    "), *said]))
        return "\n\n".join(parts)

    @cached_property
    def drawn(self) -> tuple[tuple[Way, Drawing, str], ...]:
        """Each way with its picture and its title, which has the drawn parameters if they are not the measured ones."""
        return tuple((way, *self._drawn(way)) for way in self.ways.every)

    def _drawn(self, way: Way) -> tuple[Drawing, str]:
        """The picture of a way (the domain in the order of its schedule, or the ragged rows), and the words above."""
        if way.schedule is None:
            return RaggedView(PAGE_RAGGED, cell=24.0).matrices(), way.title
        deepest = max(way.schedule.scop.statements, key=lambda s: len(s.iterators))
        flat = len(way.schedule.scop.statements) > 1 and way is not self.ways.polyhedral
        dims = deepest.iterators[: 2 if flat else 3]
        schedule = way.schedule if flat else small(way.schedule)
        shown = picture(schedule, dims, violations=False, statements=[deepest.name])
        if flat:
            return Plot(shown, True, COLUMN, PICTURE).drawing(), way.title
        values = schedule.scop.values
        told = ", ".join(f"{p} = {v}" for p, v in values.items())
        title = (
            _("{title}, drawn for {told}").format(title=way.title, told=told)
            if values != way.schedule.scop.values
            else way.title
        )
        return SpacePlot(shown, True, width=COLUMN - 72, height=PICTURE).drawing(), title

    def pieces(self) -> list[Drawing]:
        """The three columns side by side."""
        written = [_wrapped(way.program) for way in self.ways.every]
        programs = [lines([(line, "ink") for line in program], mono=True) for program in written]
        tall = max(program.height for program in programs)
        columns = []
        for (way, shown, heading), program in zip(self.drawn, programs, strict=True):
            shown.height, program.height = PICTURE + 20, tall
            parts = [title(heading), shown, program]
            for name, told in (
                (_("It can say"), way.can),
                (_("It cannot say"), way.cannot),
                (_outcome(way), way.measured),
            ):
                parts += [title(name), *paragraphs((f"– {one}" for one in told), "ink", COLUMN)]
            columns.append(column(parts, COLUMN))
        return [title(self.title()), beside(columns, GAP)]

    def scene(self) -> ColumnsScene:
        return {
            "kind": "columns",
            "title": self.title(),
            "columns": [
                {
                    "title": title,
                    "picture": shown.framed(4).scene("", _("{title}: the order of execution").format(title=way.title)),
                    "program": way.program,
                    "can": list(way.can),
                    "cannot": list(way.cannot),
                    "measured": list(way.measured),
                    "outcome": _outcome(way),
                }
                for way, shown, title in self.drawn
            ],
        }


def _outcome(way: Way) -> str:
    """What `Way.measured` tells: without a result, why there is none."""
    return _("Refused") if way.result is None else _("Measured")


def small(schedule: Schedule) -> Schedule:
    """The same order with parameters small enough that single points can be seen in space."""
    values = {p: min(v, MOST_IN_SPACE) for p, v in schedule.scop.values.items()}
    return replace(schedule, scop=schedule.scop.bind(**values))


def _wrapped(program: str) -> list[str]:
    """Lines that fit the column; the rest of a broken line is indented."""
    room = int(COLUMN / width_of("m", SMALL, True))
    found: list[str] = []
    for line in program.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        found += textwrap.wrap(line, room, subsequent_indent=indent, drop_whitespace=False) or [""]
    return found
