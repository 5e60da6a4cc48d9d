"""The page's iteration domain twice: as its code says and as its figure shows, with the page's mistakes."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab import messages
from triton_lab.localization import _
from triton_lab.polyhedral.related_work.page_domain import PageDomain, page_domain
from triton_lab.polyhedral.related_work.page_nests import PAGE, PAGE_FIGURE
from triton_lab.views.drawing.drawing import Drawing, DrawnText
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.scene_bounds import Many, Most, Sentence
from triton_lab.views.polyhedral.formula_figure import program_drawing
from triton_lab.views.polyhedral.iteration_view import IterationView, iteration_view
from triton_lab.views.polyhedral.legend_box import entries, legend_drawing
from triton_lab.views.polyhedral.polyhedral_scenes import IterationScene
from triton_lab.views.polyhedral.polyhedral_style import BOTH
from triton_lab.views.view import View

MARGIN, GAP = 16.0, 28.0
PROGRAM = 64.0  # CSS pixels for a program


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
            iteration_view(
                code, title=_("From the code: {instances}").format(instances=messages.count(code.count(), "instance"))
            ),
            iteration_view(
                drawn,
                title=_("From the figure: {instances}").format(instances=messages.count(drawn.count(), "instance")),
            ),
        )

    def title(self) -> str:
        return _("The page's iteration domain")

    @property
    def remarks(self) -> tuple[str, ...]:
        """The contradictions on the page."""
        return self.page.remarks

    def text(self) -> str:
        return "\n".join([self.title(), *self.remarks, "", PAGE, PAGE_FIGURE])

    def drawing(self) -> Drawing:
        """Both domains above their programs, and the remarks below."""
        views = self.views
        plots = [view.plot for view in views]
        made = Drawing()
        x, foot = MARGIN, MARGIN + 30 + max(plot.size[1] for plot in plots)
        for view, plot, text in zip(views, plots, (PAGE, PAGE_FIGURE), strict=True):
            made.add(DrawnText(x, MARGIN + 6, view.title(), 10.5, bold=True))
            made.place(plot.drawing(), x, foot - plot.size[1])
            made.place(program_drawing(text.splitlines()), x + 10, foot + 4)
            x += plot.size[0] + GAP
        made.place(legend_drawing(entries(views[0].picture, False)), x - GAP, MARGIN)
        y = foot + PROGRAM
        for k, remark in enumerate(self.remarks):
            made.add(DrawnText(MARGIN, y + 20 * (k + 0.5), remark, 9.0, BOTH.border if k == 2 else "ink"))
        made.width = max(made.width, MARGIN + max(width_of(remark, 9.0) for remark in self.remarks)) + MARGIN
        made.height = y + 20 * len(self.remarks) + MARGIN
        return made

    def scene(self) -> PairScene:
        return {"kind": "pair", "scenes": [view.scene() for view in self.views], "remarks": list(self.remarks)}
