"""The irregular nest as ragged rows, in the style of the page's second figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from triton_lab import messages
from triton_lab.polyhedral import NotAScop, scop
from triton_lab.polyhedral.related_work.page_nests import PAGE_SPARSE
from triton_lab.polyhedral.related_work.ragged_nest import PAGE_RAGGED, Ragged
from triton_lab.views.drawing.scene_bounds import Few, Sentence, Text, Within
from triton_lab.views.polyhedral.canvas import Canvas
from triton_lab.views.polyhedral.formula_figure import draw_program, width_of
from triton_lab.views.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARGIN, GAP = 16.0, 56.0
DENSE_COLUMNS = 4
NAME = 28.0  # CSS pixels above A


class RaggedScene(TypedDict):
    """``columns`` has the columns of each row."""

    kind: Literal["ragged"]
    title: Sentence
    columns: Few[Few[Annotated[int, Within(0, 63)]]]
    width: Annotated[int, Within(0, 64)]
    remark: Sentence
    program: Text


class RaggedView(View):
    """The rows of ``A``, with as many entries as the data say, times a dense ``B``; why it is no scop stands below."""

    def __init__(self, ragged: Ragged = PAGE_RAGGED, program: str = PAGE_SPARSE, cell: float = 40.0) -> None:
        self.ragged, self.program, self.cell = ragged, program, cell

    def title(self) -> str:
        lengths = ", ".join(map(str, self.ragged.lengths))
        return f"The irregular nest: K = {lengths}"

    @property
    def remark(self) -> str:
        ragged = self.ragged
        used, box = len(ragged.points), ragged.bounding_box
        told = messages.count(used, "entry of A is", "entries of A are")
        return f"{told} used; a nest with constant bounds around them visits {messages.number(box)}"

    @property
    def refusal(self) -> str:
        """The front end's reason for refusing the program."""
        try:
            scop(self.program)
        except NotAScop as refused:
            return str(refused)
        raise ValueError("the program is a scop: there is nothing irregular about it")

    def text(self) -> str:
        rows = [f"K[{i}] = {len(row)}: columns {', '.join(map(str, row))}" for i, row in enumerate(self.ragged.columns)]
        return "\n".join([self.title(), *rows, self.remark, "", self.program, self.refusal])

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of the two matrices in CSS pixels."""
        rows = len(self.ragged.columns) * self.cell
        tall = max(self.ragged.width * self.cell, self._down + rows)
        return (self.ragged.width + DENSE_COLUMNS) * self.cell + GAP, tall

    @property
    def _down(self) -> float:
        """The distance from the top of B down to the top of A, which stands in the middle with room for its name."""
        return max(NAME, (self.ragged.width - len(self.ragged.columns)) / 2 * self.cell)

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        """Draw the two matrices, their upper left corner at (x, y)."""
        ragged, cell = self.ragged, self.cell
        rows, width = len(ragged.columns), ragged.width * cell
        top = y + self._down
        for i, row in enumerate(ragged.columns):
            for column in row:
                colour = canvas.look.rows[i % len(canvas.look.rows)]
                canvas.rectangle(x + column * cell, top + i * cell, cell, cell, colour, colour, 0.4)
        canvas.rectangle(x, top, width, rows * cell, "none", canvas.look.axis, 1.5)
        left = x + width + GAP
        canvas.rectangle(left, y, DENSE_COLUMNS * cell, ragged.width * cell, canvas.look.dense, canvas.look.axis, 1.5)
        size = cell * 0.33
        for i, row in enumerate(ragged.columns):
            canvas.text(
                x + 2.1 * cell, top + (i + 0.5) * cell, f"K[i] = {len(row)}", size, canvas.look.strong, "center"
            )
        above = top - 14  # the rows already have words in them
        canvas.text(x + width / 2, above, "A", size * 1.15, canvas.look.strong, "center", bold=True)
        middle = y + ragged.width * cell / 2
        canvas.text(x + width + GAP / 2, middle, "x", size * 1.15, canvas.look.strong, "center")
        canvas.text(left + DENSE_COLUMNS * cell / 2, middle, "B", size * 1.15, canvas.look.strong, "center", bold=True)

    def figure(self) -> Figure:
        program, refusal = self.program.splitlines(), self.refusal.splitlines()
        wide = [width_of(line, 8.0, True) for line in program + refusal] + [self.size[0], width_of(self.remark, 9.0)]
        below = 26 + 16 * len(program) + 12 + 16 * len(refusal)
        canvas = Canvas(2 * MARGIN + max(wide), MARGIN + 30 + self.size[1] + below + MARGIN)
        canvas.text(MARGIN, MARGIN + 6, self.title(), 11.0, bold=True)
        self.draw(canvas, MARGIN, MARGIN + 30)
        y = MARGIN + 30 + self.size[1] + 8
        canvas.text(MARGIN, y + 8, self.remark, 9.0)
        draw_program(canvas, program, MARGIN, y + 22)
        y += 22 + 16 * len(program) + 8
        for k, line in enumerate(refusal):
            canvas.text(MARGIN, y + 16 * (k + 0.5), line, 8.0, canvas.look.border, mono=True)
        return canvas.finish()

    def scene(self) -> RaggedScene:
        return {
            "kind": "ragged",
            "title": self.title(),
            "columns": [list(row) for row in self.ragged.columns],
            "width": self.ragged.width,
            "remark": self.remark,
            "program": f"{self.program}\n{self.refusal}",
        }
