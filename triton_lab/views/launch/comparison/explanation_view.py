"""An explanation as a page: the relations of a launch's outputs, held or broken, and the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_lab.launch.explanation.explanation import told
from triton_lab.launch.explanation.relation import BROKEN, HELD, SKIPPED
from triton_lab.localization import _
from triton_lab.views.drawing.drawing_pieces import column, lines, title, wrapped
from triton_lab.views.launch.comparison.parting_view import PartingView
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.explanation.explanation import Explanation
    from triton_lab.views.drawing.drawing import Drawing
    from triton_lab.views.drawing.drawing_scenes import DrawingScene

_COLOURS = {BROKEN: "error", HELD: "good", SKIPPED: "faint"}


class ExplanationView(View):
    """An `Explanation`: a line for each relation in the colour of its status, and one for each finding."""

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation

    def title(self) -> str:
        return self.explanation.title()

    def text(self) -> str:
        return self.explanation.text()

    def scene(self) -> DrawingScene:
        return self.drawing().scene("", self.title())

    def pieces(self) -> list[Drawing]:
        found = [title(self.title())]
        for one in self.explanation.relations:
            found.append(lines([(line, _COLOURS[one.status]) for line in wrapped(told(one))]))
            if one.why:
                found.append(lines([(line, "ink") for line in wrapped(f"    {one.why}")]))
        if self.explanation.parting is not None:
            found += PartingView(self.explanation.parting).pieces()
        if self.explanation.findings:
            found.append(lines([(_("Findings"), "faint")]))
            found += [lines([(line, "ink") for line in wrapped(text)]) for text in self._findings()]
        return [column(found)]

    def _findings(self) -> list[str]:
        return [str(one).splitlines()[0] for one in self.explanation.findings]
