"""The maximal affine parts of a program: its text with each part marked, why the rest is in none, and the domains."""

from __future__ import annotations

import textwrap
from itertools import islice, product
from typing import TYPE_CHECKING, Literal, TypedDict

from triton_lab import messages
from triton_lab.polyhedral import Maximal, Part, Scop
from triton_lab.views.drawing.scene_bounds import Few, Many, Sentence, Whole
from triton_lab.views.polyhedral.canvas import Canvas
from triton_lab.views.polyhedral.formula_figure import width_of
from triton_lab.views.polyhedral.iteration_view import IterationView, iteration_view
from triton_lab.views.polyhedral.polyhedral_scenes import IterationScene
from triton_lab.views.polyhedral.polyhedral_style import LIGHT, Look
from triton_lab.views.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARGIN, ROW, SIZE, BAR = 16.0, 18.0, 8.0, 40.0
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

    def __init__(self, parts: Maximal) -> None:
        self.parts = parts

    def title(self) -> str:
        parts, refused = len(self.parts.parts), len(self.parts.refusals)
        if self.parts.whole:
            return "The whole program is affine"
        return f"{messages.count(parts, 'affine part')}, {messages.count(refused, 'thing')} between"

    def text(self) -> str:
        return f"{self.title()}\n{self.parts}"

    def views(self) -> tuple[IterationView | None, ...]:
        """The domain of each part; None for a part without loops."""
        return tuple(map(_domain, self.parts.parts, range(len(self.parts.parts))))

    def colour(self, part: int, look: Look = LIGHT) -> str:
        return look.parts[part % len(look.parts)]

    def figure(self) -> Figure:
        lines = [(text, part, _wrapped(reasons)) for text, part, reasons in self.parts.marks()]
        shown = [(k, view) for k, view in enumerate(self.views()) if view is not None][:MOST_DRAWN]
        wide = max(
            [width_of(text, SIZE, True) for text, _, _ in lines]
            + [width_of(reason, SIZE) + 16 for _, _, reasons in lines for reason in reasons]
        )
        tall = ROW * sum(1 + len(reasons) for _, _, reasons in lines)
        plots = [(k, view, view.plot) for k, view in shown]
        beside = max((plot.size[0] for _, _, plot in plots), default=0.0)
        beside = max([beside, *(width_of(view.title(), 9.0) for _, view, _ in plots)])
        stacked = sum(plot.size[1] + 24 for _, _, plot in plots)
        canvas = Canvas(
            max(2 * MARGIN + BAR + wide + 28 + beside, 2 * MARGIN + width_of(self.title(), 11.0)),
            MARGIN + 30 + max(tall, stacked) + MARGIN,
        )
        canvas.text(MARGIN, MARGIN + 6, self.title(), 11.0, bold=True)
        y = MARGIN + 30
        before: int | None = None
        for text, part, reasons in lines:
            if part is not None:
                canvas.rectangle(MARGIN, y, 6, ROW, self.colour(part, canvas.look))
                if part != before:
                    canvas.text(MARGIN + 12, y + ROW / 2, str(part), SIZE, bold=True)
            before = part
            tone = canvas.look.ink if part is not None else canvas.look.faint
            canvas.text(MARGIN + BAR, y + ROW / 2, text, SIZE, tone, mono=True)
            y += ROW
            for reason in reasons:
                canvas.text(MARGIN + BAR + 16, y + ROW / 2, reason, SIZE, canvas.look.border)
                y += ROW
        x, y = MARGIN + BAR + wide + 28, MARGIN + 30
        for part, view, plot in plots:
            canvas.rectangle(x, y + 2, 6, ROW - 4, self.colour(part, canvas.look))
            canvas.text(x + 12, y + ROW / 2, view.title(), 9.0, bold=True)
            plot.draw(canvas, x, y + 24)
            y += plot.size[1] + 24
        return canvas.finish()

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
    title = f"part {number}: {messages.count(bound.count(), 'instance')}{f' at {values}' if values else ''}"
    return iteration_view(bound, title=title)
