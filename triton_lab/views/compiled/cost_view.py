"""The cost of a launch: its facts, a roofline, and the kernel's lines with their shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_lab.compiled.compiled_list import labels
from triton_lab.compiled.cost import GPUS, Roof
from triton_lab.compiled.cost.cost import SHARES, told
from triton_lab.localization import _
from triton_lab.views.compiled.compilation_tab import CompiledPanel
from triton_lab.views.compiled.compiled_scenes import CostScene, RoofScene
from triton_lab.views.compiled.roofline import roofline
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.compiled.compiled import Compiled
    from triton_lab.views.drawing.drawing import Drawing

TITLES = {"moved": "bytes", "operations": "operations", "instructions": "instructions"}
UNITS = {"moved": "byte", "operations": "operation", "instructions": "PTX instruction"}


class CostView(View):
    """Bytes, operations, occupancy, the roof of ``gpu`` (by default the usual GPU of the target), and lines.

    Raises LookupError for a GPU whose figures are not known, and for a compilation without a launch.
    """

    def __init__(self, compiled: Compiled, gpu: str | None = None) -> None:
        self.compiled, self.cost = compiled, compiled.cost
        self.roof = self.cost.roof(gpu)

    def title(self) -> str:
        return _("{kernel} for {labels}: cost").format(kernel=self.compiled.kernel, labels=labels([self.compiled])[0])

    @property
    def roofs(self) -> list[Roof]:
        """The roofs of all known GPUs."""
        return [self.cost.roof(one.name) for one in GPUS]

    def facts(self) -> list[tuple[str, str]]:
        """Names and values of all facts but the roof."""
        return [row for row in self.cost.rows() if row[0] != "roof"]

    def totals(self) -> list[int | None]:
        """The totals that the shares of lines refer to."""
        lines = self.cost.lines
        return [
            None if any(getattr(line, name) is None for line in lines) else sum(getattr(line, name) for line in lines)
            for name in SHARES
        ]

    def scene(self) -> CostScene:
        totals = self.totals()
        listing: list[tuple[int, str, list[float | None]]] = [
            (
                line.number,
                line.text,
                [
                    None if total is None else getattr(line, name) / max(1, total)
                    for name, total in zip(SHARES, totals, strict=True)
                ],
            )
            for line in self.cost.lines
        ]
        return {
            "kind": "cost",
            "title": self.title(),
            "facts": self.facts(),
            "roofs": [_roof(one) for one in self.roofs],
            "shown": [one.name for one in GPUS].index(self.roof.gpu.name),
            "shares": [TITLES[name] for name in SHARES],
            "totals": [
                _("not known for this target") if total is None else told(total, UNITS[name])
                for name, total in zip(SHARES, totals, strict=True)
            ],
            "listing": listing,
            "problem": self.cost.executed.problem,
        }

    def text(self) -> str:
        return f"{self.title()}\n{self.cost}"

    def pieces(self) -> list[Drawing]:
        from triton_lab.views.compiled.cost_figure import cost_pieces

        return cost_pieces(self)


def _roof(one: Roof) -> RoofScene:
    doubt = f". {one.gpu.doubt[0].upper()}{one.gpu.doubt[1:]}" if one.gpu.doubt else ""
    return {
        "name": one.gpu.name,
        "drawing": roofline(one).scene("", str(one)),
        "text": str(one),
        "source": _("Figures: {source}.").format(source=f"{one.gpu.source}{doubt}"),
    }


class CostPanel(CompiledPanel):
    """The cost of each compilation."""

    word = "cost"

    @property
    def there(self) -> bool:
        return any(one.launch is not None for one in self.card.compiled)

    def picture(self, compiled: Compiled, name: str) -> CostView:
        return CostView(compiled)
