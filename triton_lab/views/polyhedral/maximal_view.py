"""The maximal affine parts of a program: its text with each part marked, why the rest is in none, and the domains."""

from __future__ import annotations

import textwrap
from itertools import islice, product
from typing import Literal, TypedDict

from triton_lab import messages
from triton_lab.localization import _
from triton_lab.polyhedral import Maximal, Part, Scop
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Rectangle
from triton_lab.views.drawing.drawing_pieces import beside, column, title
from triton_lab.views.drawing.scene_bounds import Few, Many, Sentence, Whole
from triton_lab.views.polyhedral.iteration_view import IterationView, iteration_view
from triton_lab.views.polyhedral.polyhedral_scenes import IterationScene
from triton_lab.views.polyhedral.polyhedral_style import BOTH
from triton_lab.views.view import View

ROW, SIZE, BAR = 18.0, 8.0, 40.0
MISSING = 6, 2  # values tried for a parameter that has none: the first with instances is drawn
MOST_TRIES = 32
MOST_DRAWN = 3  # domains in the static picture
CHARACTERS = 88


class ProgramLine(TypedDict):
    text: Sentence
    part: Whole | None
    reasons: Many[Sentence]


class MaximalScene(TypedDict):
    kind: Literal["maximal"]
    title: Sentence
    lines: Many[ProgramLine]
    scenes: Few[IterationScene | None]


class MaximalView(View):
    """A program's lines; a bar beside each has the colour of the line's part.

    The reason why parts are separate stands below its line. Beside the program stand the domains of the parts; the live
    view shows that of the part under the pointer.
    """

    tight = True

    def __init__(self, parts: Maximal) -> None:
        self.parts = parts

    def title(self) -> str:
        parts, refused = len(self.parts.parts), len(self.parts.refusals)
        if self.parts.whole:
            return _("The whole program is affine")
        return _("{parts}, {things} between").format(
            parts=messages.count(parts, "affine part"), things=messages.count(refused, "thing")
        )

    def text(self) -> str:
        return f"{self.title()}\n{self.parts}"

    def views(self) -> tuple[IterationView | None, ...]:
        """The domain of each part; None for a part without loops."""
        return tuple(map(_domain, self.parts.parts, range(len(self.parts.parts))))

    def pieces(self) -> list[Drawing]:
        """The program with its bars, and the domains beside it."""
        return [title(self.title()), beside([self._program(), self._domains()], 28)]

    def _program(self) -> Drawing:
        """The program's lines, each behind the bar of its part and above the reasons why it is in none."""
        made = Drawing()
        before: int | None = None
        for text, part, reasons in self.parts.marks():
            y = made.height
            if part is not None:
                made.add(_bar(part, y, ROW))
                if part != before:
                    made.add(DrawnText(12, y + ROW / 2, str(part), SIZE, bold=True))
            before = part
            made.add(DrawnText(BAR, y + ROW / 2, text, SIZE, "ink" if part is not None else "faint", mono=True))
            for number, reason in enumerate(_wrapped(reasons), 1):
                made.add(DrawnText(BAR + 16, y + ROW * (number + 0.5), reason, SIZE, BOTH.border))
            made.height += ROW * (1 + len(_wrapped(reasons)))
        return made.fitted()

    def _domains(self) -> Drawing:
        """The domains of the first parts that have one."""
        found = []
        for part, view in [(k, view) for k, view in enumerate(self.views()) if view is not None][:MOST_DRAWN]:
            bar, name = _bar(part, 2, ROW - 4), DrawnText(12, ROW / 2, view.title(), bold=True)
            found += [Drawing(0, 24, [bar, name]).fitted(), view.plot.drawing()]
        return column(found, 0)

    def scene(self) -> MaximalScene:
        return {
            "kind": "maximal",
            "title": self.title(),
            "lines": [
                {"text": text, "part": part, "reasons": list(reasons)} for text, part, reasons in self.parts.marks()
            ],
            "scenes": [None if view is None else view.scene() for view in self.views()],
        }


def maximal_view(parts: Maximal) -> MaximalView:
    """The `MaximalView` of what ``scop(text, maximal=True)`` returns."""
    return MaximalView(parts)


def _bar(part: int, y: float, height: float) -> Rectangle:
    """A bar in the colour of a part."""
    return Rectangle(0, y, 6, height, BOTH.parts[part % len(BOTH.parts)], "none", radius=0)


def _wrapped(reasons: tuple[str, ...]) -> list[str]:
    return [line for reason in reasons for line in textwrap.wrap(reason, CHARACTERS)]


def _values(count: int) -> list[tuple[int, ...]]:
    return list(islice(product(MISSING, repeat=count), MOST_TRIES))


def _domain(part: Part, number: int) -> IterationView | None:
    scop: Scop = part.scop
    if not any(statement.iterators for statement in scop.statements):
        return None
    missing = [name for name in scop.parameters if name not in scop.values]
    # Values that are fixed around a part may leave it empty: take the first values with instances.
    tries = [scop.bind(**dict(zip(missing, tried, strict=True))) for tried in _values(len(missing))]
    bound = next((one for one in tries if one.count()), tries[0])
    values = ", ".join(f"{name} = {bound.values[name]}" for name in bound.parameters)
    which = _(" at {values}").format(values=values) if values else ""
    title = _("part {number}: {instances}{which}").format(
        number=number,
        instances=messages.count(bound.count(), "instance"),
        which=which,
    )
    return iteration_view(bound, title=title)
