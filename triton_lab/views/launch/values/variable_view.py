"""Variable: the values of a kernel's variable, by program and iteration, as a heatmap and a histogram."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from triton_lab import messages as words
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.maps.value_histogram import as_float, histogram
from triton_lab.localization import _
from triton_lab.views.drawing.cell_scenes import BlockScene, Buffer, Ends, Painting
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.drawing_text import number_text
from triton_lab.views.drawing.heatmap import buffer
from triton_lab.views.drawing.scene_bounds import GridShape, Index, Many, Sentence, Whole
from triton_lab.views.drawing.value_picture import block_heatmap, block_scene, ends, painting, summary
from triton_lab.views.launch.comparison.comparison_view import Beside
from triton_lab.views.launch.comparison.difference_heatmaps import ComparedPicture
from triton_lab.views.launch.values.pointer_text import Pointed, offsets_in, pointee, pointer_words
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.replay.variable_values import Values
    from triton_lab.views.drawing.drawing import Drawing

MOST = 1 << 18  # numbers in a live picture


class _Variable(TypedDict):
    kind: Literal["variable"]
    title: Sentence
    name: Sentence
    fixed: Sentence | None
    empty: Sentence
    dtype: Sentence
    block: Index
    picture: BlockScene
    painting: Painting
    ends: Ends
    programs: Buffer
    dropped: Whole
    reached: Many[Buffer]
    values: Many[Buffer]
    grid: GridShape
    program: Whole
    iteration: Whole


class VariableScene(_Variable, total=False):
    """A variable. ``mask``: 0 for an untouched element; ``bars``: the histogram, if it is always the same; ``line``
    assigns it."""

    line: Whole
    mask: Buffer
    bars: DrawingScene


class VariableView(View):
    """The values of a variable (`Launch.values`), with two pickers: program and iteration.

    ``program`` and ``iteration`` choose the static picture; ``numbers`` limits how many numbers the live one carries.
    """

    tight = True

    def __init__(self, values: Values, program: int | None = None, iteration: int = 0, numbers: int = MOST) -> None:
        self.values, self.numbers = values, numbers
        reached = [int(p) for p in values.programs] or [0]
        self.program = reached[0] if program is None else program
        if not 0 <= self.program < math.prod(values.grid):
            raise ValueError(words.no_program(self.program, values.grid))
        if values.assignments and self.program not in reached:
            seen = _("{programs} {verb} examined").format(
                programs=words.programs(reached, values.grid), verb=words.noun(len(reached), "was", "were")
            )
            asked = words.program(self.program, values.grid)
            raise ValueError(
                _("{seen}, but not {asked}: call values(..., programs=[...])").format(seen=seen, asked=asked)
            )
        if values.assignments and not 0 <= iteration < values.iterations:
            has = words.has(0, values.iterations - 1, "iteration", iteration)
            raise ValueError(_("{name} on line {line} {has}").format(name=values.name, line=values.line, has=has))
        self.iteration = iteration

    @cached_property
    def block(self) -> npt.NDArray[Any] | None:
        """The value in the picked program; None if it did not reach the line."""
        values = self.values
        row = int(np.searchsorted(values.programs, self.program))
        if not values.assignments or not values.reached(self.iteration)[row]:
            return None
        found: npt.NDArray[Any] = self._at(self.iteration)[row]
        return found

    @cached_property
    def pointee(self) -> Pointed | None:
        """The argument that a pointer points into; None for a value that is no pointer."""
        values = self.values
        if not values.assignments:
            return None
        return pointee(values.at(0)[values.reached(0)][:1], values.arguments)

    def _at(self, iteration: int) -> npt.NDArray[Any]:
        """The values ``(programs, *block)``; addresses of a pointer become offsets in its argument's elements."""
        held = self.values.at(iteration)
        if self.pointee is None:
            return held
        return np.where(
            self.values.reached(iteration).reshape((-1,) + (1,) * (held.ndim - 1)), offsets_in(self.pointee, held), 0
        )

    @property
    def dtype(self) -> str:
        """The type of the values in words."""
        return self.values.dtype if self.pointee is None else _("elements of {name}").format(name=self.pointee.name)

    def title(self) -> str:
        name, line = self.values.name, self.values.line
        if self.pointee is None:
            return _("{name} in line {line}").format(name=name, line=line)
        return _("{name} in line {line}: pointers to {argument}").format(
            name=name, line=line, argument=self.pointee.name
        )

    def _where(self) -> str:
        number = self.iteration
        several = _(", iteration {number}").format(number=number) if self.values.iterations > 1 else ""
        return f"{words.program(self.program, self.values.grid)}{several}"

    def _summary(self, block: npt.NDArray[Any]) -> str:
        return summary(block) if self.pointee is None else pointer_words(block, self.pointee.name)

    def text(self) -> str:
        values = self.values
        lines = [repr(values)]
        if values.fixed is None and not values.assignments:
            return _("{title}: no examined program reached it").format(title=self.title())
        if values.assignments:
            held = "not reached" if self.block is None else self._summary(self.block)
            lines.append(f"{self._where()}: {held}")
            if self.block is not None and 0 < self.block.size <= 64 and self.block.ndim:
                numbers = as_float(self.block).reshape(-1).tolist()
                lines.append("[" + ", ".join(number_text(n) if np.isfinite(n) else str(n) for n in numbers) + "]")
        return "\n".join(lines)

    def pieces(self) -> list[Drawing]:
        """The block with its histogram; in words if there is no block."""
        from triton_lab.views.drawing.drawing_pieces import beside, lines, one_row, title
        from triton_lab.views.drawing.heatmap_drawing import heatmap_drawing
        from triton_lab.views.drawing.histogram_figure import histogram_drawing

        if self.block is None:
            return [lines([(line, "ink") for line in self.text().splitlines()])]
        heatmap = block_heatmap(self.block, *ends(self.block))
        head = title(f"{self.title()}: {self._where()} · {self._summary(self.block)}")
        if self.block.size < 2:
            return [head, one_row([heatmap])]
        return [head, beside([heatmap_drawing(heatmap), histogram_drawing(histogram(self.block))], 40)]

    def scene(self) -> VariableScene:
        values = self.values
        size = max(1, int(np.prod(values.block)))
        iterations = values.iterations if values.assignments else 0
        kept = max(1, self.numbers // max(1, size * iterations))
        rows = np.arange(len(values.programs))[:kept]
        if values.assignments and self.program in values.programs[kept:]:
            rows[-1] = int(np.searchsorted(values.programs, self.program))
        blocks = [as_float(self._at(i)[rows]) for i in range(iterations)]
        low, high = ends(*blocks)
        narrow = values.dtype not in ("float64", "int64", "int32", "uint32", "uint64")
        return {
            "kind": "variable",
            "title": self.title(),
            "name": values.name,
            "line": values.line,
            "fixed": None if values.fixed is None else repr(values),
            "empty": "" if values.assignments else self.text(),
            "dtype": self.dtype,
            "block": list(values.block),
            "picture": block_scene(values.block),
            "painting": painting(),
            "ends": (low, high),
            "programs": buffer(values.programs[rows].astype(np.uint32)),
            "dropped": len(values.programs) - len(rows),
            "reached": [buffer(values.reached(i)[rows].astype(np.uint8)) for i in range(iterations)],
            "values": [buffer(block.astype(np.float32 if narrow else np.float64)) for block in blocks],
            "grid": list(values.grid),
            "program": self.program,
            "iteration": self.iteration,
        }


def compare(a: Values, b: Values, programs: tuple[int, int], iterations: tuple[int, int]) -> Beside:
    """See `Values.compare`. Raises ValueError if a value was not reached or shapes differ."""
    blocks = [
        VariableView(values, program, iteration).block
        for values, program, iteration in zip((a, b), programs, iterations, strict=True)
    ]
    names = ("first", "second") if a is not b else ("", "")
    titles = [
        _("{name} {program}, iteration {iteration}")
        .format(name=name, program=words.program(program, values.grid), iteration=iteration)
        .strip()
        for name, values, program, iteration in zip(names, (a, b), programs, iterations, strict=True)
    ]
    for block, title in zip(blocks, titles, strict=True):
        if block is None:
            raise ValueError(
                _("{name} on line {line} is not reached: {title}").format(name=a.name, line=a.line, title=title)
            )
    left, right = map(np.asarray, blocks)
    if left.shape != right.shape:
        raise ValueError(
            _("{name} has the shapes {shape} and {shape_2}").format(name=a.name, shape=left.shape, shape_2=right.shape)
        )
    return Beside(ComparedPicture(Compared(a.name, left, right), (titles[0], titles[1])))
