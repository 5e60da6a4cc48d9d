"""Where a kernel and its reference part, as a picture: the kernel's steps on the left, the reference's on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle
from triton_lab.views.drawing.drawing_pieces import column, lines, title, wrapped
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.reference.kernel_steps import KernelStep
    from triton_lab.launch.reference.parting import Parting
    from triton_lab.launch.reference.reference_trace import ReferenceStep
    from triton_lab.views.drawing.drawing_scenes import DrawingScene

_WIDE, _GUTTER = 350.0, 60.0  # CSS pixels of a box, and between the two columns
_ROW, _HIGH = 54.0, 42.0
_MOST = 6  # matches that are shown: the last ones
_SHOWN = 3  # numbers of a value


class PartingView(View):
    """A `Parting`: equal values are joined by lines, and the first that differ are framed in red."""

    def __init__(self, parting: Parting) -> None:
        self.parting = parting

    def title(self) -> str:
        return self.parting.title()

    def text(self) -> str:
        return self.parting.text()

    def scene(self) -> DrawingScene:
        return self.drawing().scene("", self.title())

    def pieces(self) -> list[Drawing]:
        told = [lines([(line, "ink") for line in wrapped(text)]) for text in self.parting.lines()[-3:]]
        return [column([title(self.title()), self._columns(), *told])]

    def _columns(self) -> Drawing:
        """The two columns of boxes, and the lines between them."""
        parting = self.parting
        made = Drawing(2 * _WIDE + _GUTTER)
        right = _WIDE + _GUTTER
        made.add(DrawnText(0, 8, _("kernel {name}").format(name=parting.launch.kernel), colour="faint", bold=True))
        made.add(DrawnText(right, 8, _("reference"), colour="faint", bold=True))
        y = 22.0
        matches = sorted(parting.matches, key=lambda one: (one.kernel.line or 0, one.kernel.op.index))[-_MOST:]
        for one in matches:
            made.add(*_kernel_box(one.kernel, y, "good"), *_reference_box(one.reference, right, y, "good"))
            middle = y + _HIGH / 2
            made.add(Line(((_WIDE, middle), (right, middle)), "good", 2.0, arrow=False, dashed=one.partial))
            y += _ROW
        if parting.kernel is not None:
            made.add(*_kernel_box(parting.kernel, y, "error"))
        if parting.reference is not None:
            made.add(*_reference_box(parting.reference, right, y, "error"))
        if parting.kernel is not None and parting.reference is not None:
            made.add(DrawnText(_WIDE + _GUTTER / 2, y + _HIGH / 2, "≠", style.TITLE, "error", "center", bold=True))
        made.height = y + _ROW
        return made


def _kernel_box(step: KernelStep, y: float, edge: str) -> list[Rectangle | DrawnText]:
    line = _("line {line}").format(line=step.line) if step.line is not None else ""
    head = f"{line}  {step.text}" if not step.name or step.name in step.text else f"{line}  {step.name}"
    block = next(iter(step.blocks.values()), None)
    return _box(0, y, edge, head, _numbers(step.name or _("value"), block))


def _reference_box(step: ReferenceStep, x: float, y: float, edge: str) -> list[Rectangle | DrawnText]:
    where = "" if step.line is None else _("line {line}").format(line=step.line) + "  "
    name = _("argument") if step.is_argument else step.operation
    return _box(x, y, edge, f"{where}{step.text}", _numbers(name, step.values))


def _box(x: float, y: float, edge: str, head: str, numbers: str) -> list[Rectangle | DrawnText]:
    return [
        Rectangle(x, y, _WIDE, _HIGH, "panel", edge, line=2.0 if edge == "error" else 1.0),
        DrawnText(x + 8, y + 13, _cut(head), style.SMALL, mono=True),
        DrawnText(x + 8, y + 30, _cut(numbers), style.SMALL, "faint"),
    ]


def _numbers(name: str, block: np.ndarray | None) -> str:
    """The shape and first numbers of a value."""
    if block is None:
        return name
    shape = "" if block.ndim == 0 else " ({})".format(", ".join(map(str, block.shape)))
    first = ", ".join(f"{float(number):.4g}" for number in block.reshape(-1)[:_SHOWN])
    return f"{name}{shape}: {first}{', ...' if block.size > _SHOWN else ''}"


def _cut(text: str) -> str:
    """The text, as much as fits into a box."""
    for end in range(len(text), 0, -1):
        shown = text if end == len(text) else text[:end] + "…"
        if width_of(shown, style.SMALL, mono=True) <= _WIDE - 16:
            return shown
    return text
