"""Held: what a program's variables held at its end, as blocks and in words. The static form of the Values tab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from triton_lab.views.heatmap import Heatmap
from triton_lab.views.steps import Steps
from triton_lab.views.value_picture import block_heatmap, ends
from triton_lab.views.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from triton_lab.launch.launch import Launch
    from triton_lab.views.pieces import Piece

ROOM = (200.0, 180.0)
MOST = 9  # variables that get a picture, the last ones assigned


class Held(View):
    """The variables of ``program`` at its end. Live, it is the program's `Steps`."""

    def __init__(self, launch: Launch, program: int = 0) -> None:
        self.steps = Steps(launch, program)

    def title(self) -> str:
        steps = self.steps
        return f"{steps.launch.kernel}, program {steps.program}: what its variables held at its end"

    def text(self) -> str:
        return "\n".join([self.title(), *(f"  {name} = {value} (line {line})" for name, line, value in self._alive())])

    def _alive(self) -> list[tuple[str, str, str]]:
        return self.steps.alive() if len(self.steps.trace) else []

    def heatmaps(self) -> list[Heatmap]:
        """Blocks of numbers; pointers are told in words alone."""
        trace = self.steps.trace
        if not len(trace):
            return []
        blocks = [
            (f"{name} · line {step.line}", step.values)
            for name, step in trace.alive(len(trace) - 1).items()
            if step.values.size > 1 and self.steps.shown(step)[0] is step.values
        ]
        return [block_heatmap(block, *ends(block), title, room=ROOM) for title, block in blocks[-MOST:]]

    def pieces(self) -> list[Piece]:
        from triton_lab.views.pieces import side_by_side, table, title

        alive = self._alive()
        words = [table([("", "Line", "Value"), *alive])] if alive else []
        return [title(self.title()), *side_by_side(self.heatmaps()), *words]

    def figure(self) -> Figure:
        from triton_lab.views.pieces import stack

        return stack(self.pieces())

    def scene(self) -> Mapping[str, Any]:
        return self.steps.live()

    def part(self, name: str) -> Mapping[str, Any]:
        return self.steps.part(name)
