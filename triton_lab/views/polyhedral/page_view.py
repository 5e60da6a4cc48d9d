"""The page's iteration domain twice: as its code says and as its figure shows, with the page's mistakes."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab import messages
from triton_lab.localization import _
from triton_lab.polyhedral.related_work.page_domain import PageDomain, page_domain
from triton_lab.polyhedral.related_work.page_nests import PAGE, PAGE_FIGURE
from triton_lab.views.drawing.drawing import Drawing
from triton_lab.views.drawing.drawing_pieces import beside, column, lines, title
from triton_lab.views.drawing.scene_bounds import Many, Most, Sentence
from triton_lab.views.polyhedral.iteration_view import IterationView, iteration_view
from triton_lab.views.polyhedral.legend_box import entries, legend_drawing
from triton_lab.views.polyhedral.polyhedral_scenes import IterationScene
from triton_lab.views.polyhedral.polyhedral_style import BOTH
from triton_lab.views.view import View


class PairScene(TypedDict):
    kind: Literal["pair"]
    scenes: Annotated[list[IterationScene], Most(3)]
    remarks: Many[Sentence]


class PageFigures(View):
    """Both domains side by side. Code and matrix agree on 12 instances; the figure draws 26."""

    tight = True

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

    def pieces(self) -> list[Drawing]:
        """Both domains above their programs, and the remarks below."""
        tall = max(view.plot.size[1] for view in self.views)
        columns = []
        for view, text in zip(self.views, (PAGE, PAGE_FIGURE), strict=True):
            plot = Drawing()
            plot.place(view.plot.drawing(), 0, tall - view.plot.size[1])
            program = lines([(line, "ink") for line in text.splitlines()], mono=True)
            columns.append(column([title(view.title()), plot, program], 0))
        legend = legend_drawing(entries(self.views[0].picture, False))
        remarks = [(remark, BOTH.border if k == 2 else "ink") for k, remark in enumerate(self.remarks)]
        return [beside([*columns, legend], 28), lines(remarks)]

    def scene(self) -> PairScene:
        return {"kind": "pair", "scenes": [view.scene() for view in self.views], "remarks": list(self.remarks)}
