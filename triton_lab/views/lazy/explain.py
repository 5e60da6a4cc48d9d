"""`lab.lazy.explain()`: a step as a picture (graph, hash, buffers before and after) and as text."""

from __future__ import annotations

from triton_lab.lazy.step import Step
from triton_lab.lazy.step_text import describe, verdict
from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.lazy.buffers_picture import draw_buffers
from triton_lab.views.lazy.graph_picture import draw_graph
from triton_lab.views.lazy.hash_table import draw_card
from triton_lab.views.view import View

MARGIN, GUTTER = 16.0, 30.0
WIDE = 1100.0  # CSS pixels; a wider picture is shown too small to read


class StepView(View):
    """One step. `source` holds its kernels, `step` everything else."""

    def __init__(self, step: Step):
        self.step = step

    @property
    def source(self) -> str:
        """The generated kernels."""
        return self.step.executable.source

    def drawing(self) -> Drawing:
        """Graph and hash, side by side if there is room, and the buffers below."""
        graph, card, buffers = draw_graph(self.step), draw_card(self.step), draw_buffers(self.step)
        page = Drawing()
        page.add(DrawnText(MARGIN, 22, _("Step {number}").format(number=self.step.number), style.TITLE, bold=True))
        page.place(graph, MARGIN, 44)
        if MARGIN + graph.width + GUTTER + card.width <= WIDE:
            page.place(card, MARGIN + graph.width + GUTTER, 48)
        else:
            page.place(card, MARGIN, page.height + GUTTER)
        y = page.height + 26
        page.add(DrawnText(MARGIN, y, _("Buffers"), style.TITLE, bold=True))
        page.place(buffers, MARGIN, y + 20)
        page.width += MARGIN
        page.height += 4
        return page

    def scene(self) -> DrawingScene:
        return self.drawing().scene(self.source, verdict(self.step))

    def title(self) -> str:
        return verdict(self.step)

    def text(self) -> str:
        return describe(self.step)
