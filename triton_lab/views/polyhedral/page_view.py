"""The page's iteration domain twice: as its code says and as its figure shows, with the page's mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from triton_lab import messages
from triton_lab.polyhedral.related_work.page_domain import PageDomain, page_domain
from triton_lab.polyhedral.related_work.page_nests import PAGE, PAGE_FIGURE
from triton_lab.views.drawing.scene_bounds import Many, Most, Sentence
from triton_lab.views.polyhedral.canvas import Canvas
from triton_lab.views.polyhedral.formula_figure import draw_program, width_of
from triton_lab.views.polyhedral.iteration_view import IterationView, iteration_view
from triton_lab.views.polyhedral.legend_box import draw_legend, entries, legend_size
from triton_lab.views.polyhedral.polyhedral_scenes import IterationScene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARGIN, GAP = 16.0, 28.0


class PairScene(TypedDict):
    kind: Literal["pair"]
    scenes: Annotated[list[IterationScene], Most(3)]
    remarks: Many[Sentence]


class PageFigures(View):
    """Both domains side by side. Code and matrix agree on 12 instances; the figure draws 26."""

    def __init__(self, page: PageDomain | None = None) -> None:
        self.page = page or page_domain()

    @property
    def views(self) -> tuple[IterationView, IterationView]:
        code, drawn = self.page.code, self.page.drawn
        return (
            iteration_view(code, title=f"As the code says: {messages.count(code.count(), 'instance')}"),
            iteration_view(drawn, title=f"As the figure shows: {messages.count(drawn.count(), 'instance')}"),
        )

    def title(self) -> str:
        return "The page's iteration domain"

    @property
    def remarks(self) -> tuple[str, ...]:
        """The contradictions on the page."""
        return self.page.remarks

    def text(self) -> str:
        return "\n".join([self.title(), *self.remarks, "", PAGE, PAGE_FIGURE])

    def figure(self) -> Figure:
        views = self.views
        plots = [view.plot for view in views]
        program = 64.0
        height = MARGIN + 30 + max(p.size[1] for p in plots) + program + 20 * len(self.remarks) + MARGIN
        signs = entries(views[0].picture, False)
        legend = legend_size(signs)
        width = 2 * MARGIN + sum(p.size[0] for p in plots) + GAP + legend[0]
        canvas = Canvas(max(width, 2 * MARGIN + max(width_of(r, 9.0) for r in self.remarks)), height)
        x = MARGIN
        foot = MARGIN + 30 + max(p.size[1] for p in plots)
        for view, plot, text in zip(views, plots, (PAGE, PAGE_FIGURE), strict=True):
            canvas.text(x, MARGIN + 6, view.title(), 10.5, bold=True)
            plot.draw(canvas, x, foot - plot.size[1])
            draw_program(canvas, text.splitlines(), x + 10, foot + 4)
            x += plot.size[0] + GAP
        draw_legend(canvas, signs, x - GAP, MARGIN)
        for k, remark in enumerate(self.remarks):
            tone = canvas.look.border if k == 2 else canvas.look.ink
            canvas.text(MARGIN, foot + program + 20 * (k + 0.5), remark, 9.0, tone)
        return canvas.finish()

    def scene(self) -> PairScene:
        return {"kind": "pair", "scenes": [view.scene() for view in self.views], "remarks": list(self.remarks)}
