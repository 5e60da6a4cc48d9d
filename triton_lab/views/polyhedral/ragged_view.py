"""The irregular nest as ragged rows, in the style of the page's second figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from triton_lab import messages
from triton_lab.localization import N_, _, translated
from triton_lab.polyhedral import NotAScop, scop
from triton_lab.polyhedral.related_work.page_nests import PAGE_SPARSE
from triton_lab.polyhedral.related_work.ragged_nest import PAGE_RAGGED, Ragged
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Rectangle
from triton_lab.views.drawing.drawing_pieces import lines, paragraphs, spaced, title
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.scene_bounds import Many, Name, Sentence, Text
from triton_lab.views.polyhedral.polyhedral_style import BOTH
from triton_lab.views.view import View

GAP = 56.0
DENSE_COLUMNS = 4
NAME = 28.0  # CSS pixels above A
KEYS = N_("A with rows of different lengths, times B; arrow keys step through the visits, Escape clears the choice")


class RaggedScene(TypedDict):
    """Two matrices. ``visits``: for each its words, and the tags of the boxes in A and in B that it meets."""

    kind: Literal["ragged"]
    title: Sentence
    matrices: DrawingScene
    visits: Many[tuple[Sentence, Name, Name]]
    remark: Sentence
    program: Text


class RaggedView(View):
    """The rows of ``A``, with as many entries as the data say, times a dense ``B``; why it is no scop stands below."""

    tight = True

    def __init__(self, ragged: Ragged = PAGE_RAGGED, program: str = PAGE_SPARSE, cell: float = 40.0) -> None:
        self.ragged, self.program, self.cell = ragged, program, cell

    def title(self) -> str:
        lengths = ", ".join(map(str, self.ragged.lengths))
        return _("The irregular nest: K = {lengths}").format(lengths=lengths)

    @property
    def remark(self) -> str:
        ragged = self.ragged
        used, box = len(ragged.points), ragged.bounding_box
        told = messages.count(used, "entry of A is", "entries of A are")
        return _("{told} used; a nest with constant bounds around them visits {box}").format(
            told=told, box=messages.number(box)
        )

    @property
    def refusal(self) -> str:
        """The front end's reason for refusing the program."""
        try:
            scop(self.program)
        except NotAScop as refused:
            return str(refused)
        raise ValueError(_("the program is a scop: nothing in it is irregular"))

    def text(self) -> str:
        told = _("columns {numbers}")
        rows = [
            f"K[{i}] = {len(row)}: {told.format(numbers=', '.join(map(str, row)))}"
            for i, row in enumerate(self.ragged.columns)
        ]
        return "\n".join([self.title(), *rows, self.remark, "", self.program, self.refusal])

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of the two matrices in CSS pixels."""
        rows = len(self.ragged.columns) * self.cell
        tall = max(self.ragged.width * self.cell, self._down + rows)
        return self._aside + (self.ragged.width + DENSE_COLUMNS) * self.cell + GAP, tall

    @property
    def _aside(self) -> float:
        """The room to the left of A for the lengths of its rows: over the rows they would cover entries."""
        return max(width_of(_length(row), self._small) for row in self.ragged.columns) + 8

    @property
    def _small(self) -> float:
        return self.cell * 0.33

    @property
    def _down(self) -> float:
        """The distance from the top of B down to the top of A, which stands in the middle with room for its name."""
        return max(NAME, (self.ragged.width - len(self.ragged.columns)) / 2 * self.cell)

    def matrices(self) -> Drawing:
        """The two matrices."""
        ragged, cell, top = self.ragged, self.cell, self._down
        rows, width = len(ragged.columns), ragged.width * cell
        made, aside = Drawing(*self.size), self._aside
        for i, row in enumerate(ragged.columns):
            colour = BOTH.rows[i % len(BOTH.rows)]
            for column in row:
                x, y, tag = aside + column * cell, top + i * cell, _entry(i, column)
                made.add(Rectangle(x, y, cell, cell, colour, colour, line=0.4, radius=0, tag=tag))
        left, wide, deep = aside + width + GAP, DENSE_COLUMNS * cell, ragged.width * cell
        for column in range(ragged.width):
            y, tag = column * cell, _row(column)
            made.add(Rectangle(left, y, wide, cell, BOTH.dense, BOTH.dense, line=0.4, radius=0, tag=tag))
        for x, y, across, down in ((aside, top, width, rows * cell), (left, 0.0, wide, deep)):
            made.add(Rectangle(x, y, across, down, "none", BOTH.axis, line=1.5, radius=0))
        size = self._small
        for i, row in enumerate(ragged.columns):
            made.add(DrawnText(aside - 6, top + (i + 0.5) * cell, _length(row), size, BOTH.strong, "right"))
        for x, y, name in (
            (aside + width / 2, top - 14, "A"),
            (aside + width + GAP / 2, deep / 2, "x"),
            (left + wide / 2, deep / 2, "B"),
        ):
            made.add(DrawnText(x, y, name, size * 1.15, BOTH.strong, "center", bold=name != "x"))
        return made

    def pieces(self) -> list[Drawing]:
        """The matrices above the program and the reason why it is refused."""
        program = lines([(line, "ink") for line in self.program.splitlines()], mono=True)
        refusal = lines([(line, BOTH.border) for line in self.refusal.splitlines()], mono=True)
        return [title(self.title()), spaced(self.matrices()), *paragraphs([self.remark], "ink"), program, refusal]

    def scene(self) -> RaggedScene:
        return {
            "kind": "ragged",
            "title": self.title(),
            "matrices": self.matrices().framed(10).scene("", f"{self.title()}: {translated(KEYS)}"),
            "visits": [
                (
                    _("i = {i}, k = {k}: A[{i}][{column}] times row {column} of B").format(i=i, k=k, column=column),
                    _entry(i, column),
                    _row(column),
                )
                for i, row in enumerate(self.ragged.columns)
                for k, column in enumerate(row)
            ],
            "remark": self.remark,
            "program": f"{self.program}\n{self.refusal}",
        }


def _length(row: Sequence[int]) -> str:
    return f"K[i] = {len(row)}"


def _entry(row: int, column: int) -> str:
    """The tag of an entry of A."""
    return f"A {row} {column}"


def _row(number: int) -> str:
    """The tag of a row of B."""
    return f"B {number}"
