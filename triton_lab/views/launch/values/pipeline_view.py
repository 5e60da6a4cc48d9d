"""The film of a pipeline: time runs across; rows for the warps and for who works for them, buffers and barriers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypedDict

from triton_lab import messages
from triton_lab.launch.maps.pipeline_film import MOST, FilmSpan, PipelineFilm
from triton_lab.localization import N_, _, translated
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.scene_bounds import Coordinate, Few, Many, Name, Sentence, Whole
from triton_lab.views.drawing.style import SMALL
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, unknown
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

ROW, BAR, GAP = 22.0, 16.0, 14.0  # CSS pixels: a row, a bar in it, the space between groups of rows
STEP, LEAST, WIDE = 22.0, 5.0, 860.0  # of a moment at most and at least, and of all moments if possible
TOLD = 24  # moments in words
# The fill, the opacity and the words of what lasts.
LOOKS = {
    "work": ("accent", 0.55, N_("a running operation")),
    "wait": ("warning", 0.55, N_("the warps wait")),
    "fills": ("accent", 0.25, N_("a buffer is being filled: do not access it")),
    "full": ("good", 0.45, N_("it holds data")),
    "reads": ("number", 0.85, N_("it is being read: do not write it")),
    "phase": ("mark", 0.35, N_("phase of a barrier: 0 or 1")),
}


class MomentScene(TypedDict):
    """A moment: what happens, the source line (0: not known), and the tags of the bars that belong to it."""

    told: Sentence
    line: Whole
    tags: Few[Name]


class PipelineScene(TypedDict):
    """A film. Moment k begins at ``left + k * step`` in the ``picture``, whose rows end at ``bottom``."""

    kind: Literal["pipeline"]
    title: Sentence
    picture: DrawingScene
    left: Coordinate
    step: Coordinate
    bottom: Coordinate
    moments: Many[MomentScene]
    note: Sentence


class PipelineView(View):
    """The pipeline of ``program``. Raises ValueError for a program that does not exist, CannotReplay."""

    def __init__(self, launch: Launch, program: int = 0) -> None:
        if not 0 <= program < launch.programs:
            raise ValueError(messages.no_program(program, launch.grid))
        self.film = PipelineFilm(launch, program)

    def title(self) -> str:
        return self.film.title()

    @property
    def note(self) -> str:
        """What a reader must know: the film's order is one of many."""
        told = _("Operations end as late as the waits allow. On a GPU they may end earlier.")
        if self.film.cut:
            told += " " + _("The first {moments} are shown.").format(moments=messages.count(MOST, "moment"))
        return told

    @cached_property
    def step(self) -> float:
        """The width of a moment."""
        return max(LEAST, min(STEP, WIDE / max(1, len(self.film.events))))

    @cached_property
    def left(self) -> float:
        """Where the first moment begins: to the right of all names of rows."""
        names = [*self.film.rows, *self.film.buffers, *self.film.barriers]
        return 8 + max((width_of(name, SMALL) for name in names), default=0.0) + 10

    @cached_property
    def rows(self) -> Drawing:
        """All rows under their headings, and the axis of time."""
        made = Drawing(self.left + self.step * len(self.film.events) + 8)
        y = 0.0
        for heading, names in self._groups():
            if not names:
                continue
            made.add(DrawnText(0, y + 8, heading, SMALL, "faint", bold=True))
            y += 18
            for name in names:
                y = self._row(made, name, y)
            y += GAP
        made.add(Line(((self.left, y), (made.width, y)), "faint"), DrawnText(0, y, _("moments"), SMALL, "faint"))
        made.height = y + 10
        return made

    def picture(self) -> Drawing:
        """The rows above the legend."""
        made = Drawing()
        made.place(self.rows, 0, 0)
        made.place(self._legend(), 0, self.rows.height + 6)
        return made

    def _groups(self) -> Iterator[tuple[str, Sequence[str]]]:
        yield _("Who works"), self.film.rows
        yield _("Buffers"), self.film.buffers
        yield _("Barriers"), self.film.barriers

    def _row(self, made: Drawing, name: str, y: float) -> float:
        """Draw one row, in as many lines as bars overlap; returns where the next one begins."""
        spans = [span for span in self.film.spans if span.row == name]
        made.add(DrawnText(8, y + ROW / 2, name, SMALL))
        ends: list[int] = []
        for span in sorted(spans, key=lambda one: (one.first, one.last)):
            if span.kind == "reads" and ends:  # over what the buffer holds
                self._bar(made, span, y)
                continue
            place = next((k for k, end in enumerate(ends) if end <= span.first), len(ends))
            ends[place : place + 1] = [max(span.last, span.first + 1)]
            self._bar(made, span, y + ROW * place)
        for k, moment in enumerate(self.film.moments):
            here = moment.touches.split(", ") if name in self.film.buffers else [moment.row]
            if name in here and moment.acts:
                x = self.left + self.step * (k + 0.5)
                made.add(Line(((x, y + 3), (x, y + ROW - 3)), "ink", 1.5, arrow=False))
        return y + ROW * max(1, len(ends))

    def _bar(self, made: Drawing, span: FilmSpan, y: float) -> None:
        fill, opacity, _told = LOOKS[span.kind]
        x, width = self.left + self.step * span.first, self.step * max(1, span.last - span.first)
        height = BAR / 2 if span.kind == "reads" else BAR
        made.add(
            Rectangle(
                x, y + (ROW - height) / 2, width, height, fill, fill, opacity, radius=2, dashed=span.kind == "fills",
                tag=tag_of(span.works),
            )
        )  # fmt: skip
        if span.text and width_of(span.text, SMALL) + 6 <= width:
            made.add(DrawnText(x + width / 2, y + ROW / 2, span.text, SMALL, align="center"))

    def _legend(self) -> Drawing:
        made, x = Drawing(), 0.0
        for kind in dict.fromkeys(span.kind for span in self.film.spans):
            fill, opacity, told = LOOKS[kind]
            if x + 30 + width_of(translated(told), SMALL) > max(WIDE, 400.0):
                x, made.height = 0.0, made.height + 18
            y = made.height
            made.add(Rectangle(x, y, 14, 12, fill, fill, opacity, radius=2, dashed=kind == "fills"))
            made.add(DrawnText(x + 20, y + 6, translated(told), SMALL))
            x += 40 + width_of(translated(told), SMALL)
        made.add(Line(((x + 2, made.height), (x + 2, made.height + 12)), "ink", 1.5, arrow=False))
        made.add(DrawnText(x + 10, made.height + 6, _("the warps do something"), SMALL))
        made.height += 18
        return made.fitted()

    def scene(self) -> PipelineScene:
        return {
            "kind": "pipeline",
            "title": self.title(),
            "picture": self.picture().scene("", self.title()),
            "left": self.left,
            "step": self.step,
            "bottom": self.rows.height,
            "moments": [
                {
                    "told": moment.sentence,
                    "line": moment.line or 0,
                    "tags": list(self._tags(k)),
                }
                for k, moment in enumerate(self.film.moments)
            ],
            "note": self.note,
        }

    def _tags(self, number: int) -> Iterable[str]:
        """The work of a moment; at the end of a wait, all that it waited for."""
        works = [self.film.moments[number].work]
        for span in self.film.spans:
            if span.kind == "wait" and span.first <= number <= span.last:
                works += span.works
        return list(dict.fromkeys(tag_of((one,)) for one in works if one))[:32]

    def text(self) -> str:
        """The first moments in words."""
        told = [self.title(), self.note]
        for number, moment in enumerate(self.film.moments[:TOLD]):
            line = "" if moment.line is None else _(" (line {line})").format(line=moment.line)
            told.append(f"{number}: {moment.sentence}" + line)
        if (left := len(self.film.moments) - TOLD) > 0:
            told.append(messages.count(left, "more moment"))
        return "\n".join(told)

    def pieces(self) -> list[Drawing]:
        from triton_lab.views.drawing.drawing_pieces import paragraphs, spaced, title

        return [title(self.title()), *paragraphs([self.note]), spaced(self.picture())]


def tag_of(works: Sequence[int]) -> str:
    """The tag of the bars of some work."""
    return f"work {works[0]}" if works else ""


class PipelinePanel(Panel):
    """The pipeline of the picked program."""

    @property
    def absent(self) -> str:
        if self.card.has_film:
            return ""
        return _("{kernel} uses no shared memory, so it has no pipeline").format(kernel=self.launch.kernel)

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> PipelineView:
        if len(path) > 1:
            raise unknown(path)
        return PipelineView(self.launch, first)

    def drawn(self) -> list[PipelineView]:
        return [PipelineView(self.launch, self.card.program)]
