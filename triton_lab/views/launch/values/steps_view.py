"""Steps: the operations of one program in order, with the live variables after each.

When another program is picked, the live picture requests its steps: a part called ``steps@3``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from triton_lab import messages as words
from triton_lab.launch.maps.value_histogram import as_float
from triton_lab.localization import N_, _, translated
from triton_lab.views.drawing.cell_scenes import BlockScene, Buffer, Ends, Painting
from triton_lab.views.drawing.heatmap import buffer
from triton_lab.views.drawing.scene_bounds import GridShape, Many, Most, Named, Positive, Sentence, Whole
from triton_lab.views.drawing.value_picture import block_heatmap, block_scene, ends, painting, summary
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, unknown
from triton_lab.views.launch.values.pointer_text import offsets_in, pointee, pointer_words
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.replay.program_trace import TraceStep
    from triton_lab.views.drawing.drawing import Drawing

MOST = 1 << 18
MOST_TEXTS = 1 << 12  # values in words that are sent to an editor
ROOM = (300.0, 260.0)
ACCESSES = {"load": N_("load from {name}:"), "store": N_("store to {name}:"), "atomic": N_("atomic on {name}:")}


class StepScene(TypedDict):
    """A step. ``shape`` is an index into the scene's pictures."""

    kind: Sentence
    line: Whole | None
    name: Sentence | None
    words: Sentence
    value: Sentence
    shape: Whole
    ends: Ends
    block: Buffer | None
    mask: Buffer | None


class SourceLines(TypedDict):
    first: Whole
    lines: Many[Sentence]


class StepsScene(TypedDict):
    kind: Literal["steps"]
    title: Sentence
    program: Whole
    grid: GridShape
    source: SourceLines
    steps: Many[StepScene]
    pictures: Annotated[list[BlockScene], Most(1 << 8)]
    painting: Painting
    step: Whole


class AssignedTexts(TypedDict):
    """The values that a variable took on a line, in words: the first ``texts``, of ``count``, and the ``last``."""

    line: Whole
    name: Sentence
    texts: Many[Sentence]
    last: Sentence
    count: Whole


class AssignedScene(TypedDict):
    """The values of the variables of ``program``, for an editor."""

    kind: Literal["assigned"]
    program: Whole
    values: Many[AssignedTexts]


class FollowScene(TypedDict):
    """A part about one program, which is replaced once another program is picked."""

    kind: Literal["follow"]
    name: Sentence
    window: Positive
    program: Whole
    parts: Named[Scene]


class Steps(View):
    """The steps of ``program``; the picture stands at ``step``, by default the last.

    The live picture carries at most ``numbers`` numbers; later steps have words alone.
    """

    def __init__(self, launch: Launch, program: int = 0, step: int | None = None, numbers: int = MOST) -> None:
        self.launch, self.numbers = launch, numbers
        self.program = program
        self.trace = launch.trace(program)
        last = len(self.trace) - 1
        if step is not None and not 0 <= step <= last:
            raise ValueError(f"{words.who(program, launch.grid)} {words.has(0, last, 'step', step)}")
        self.step = last if step is None else step

    def in_body(self) -> Steps:
        """The same view at the first step of the kernel's body, after the parameters."""
        parameters = {one.name for one in self.launch.arguments}
        for step in self.trace.steps:
            if step.kind != "assign" or step.name not in parameters:
                self.step = step.number
                break
        return self

    def at_line(self, line: int | None) -> Steps:
        """The same view at the last step of a line, if the program came there."""
        self.step = next((step.number for step in reversed(self.trace.steps) if step.line == line), self.step)
        return self

    def title(self) -> str:
        return _("{subject}: step {step} of {number}").format(
            subject=self._subject(), step=self.step, number=len(self.trace) - 1
        )

    def _subject(self) -> str:
        return f"{self.launch.kernel}, {words.program(self.program, self.launch.grid)}"

    def _words(self, step: TraceStep) -> str:
        """A step in words, before its value: ``load from x_ptr:``, ``acc =``."""
        name = step.name or _("memory")
        return f"{name} =" if step.kind == "assign" else translated(ACCESSES[step.kind]).format(name=name)

    def shown(self, step: TraceStep) -> tuple[npt.NDArray[Any], str]:
        """The block of a step as it is drawn, and what it touched in words; addresses become offsets in elements."""
        values = step.values
        to = pointee(values, self.launch.arguments)
        if to is not None:
            offsets = offsets_in(to, values)
            return offsets, pointer_words(offsets, to.name)
        return values, summary(values, step.mask)

    def alive(self) -> list[tuple[str, str, str]]:
        """Name, line and value of each live variable after the step."""
        return [(name, str(step.line or ""), self.shown(step)[1]) for name, step in self.trace.alive(self.step).items()]

    def text(self) -> str:
        if not len(self.trace):
            return _("{subject}: no step was recorded").format(subject=self._subject())
        step = self.trace.steps[self.step]
        lines = [
            self.title(),
            _("line {line}: {words} {shown}").format(
                line=step.line, words=self._words(step), shown=self.shown(step)[1]
            ),
        ]
        return "\n".join([*lines, *(f"  {name} = {value} (line {line})" for name, line, value in self.alive())])

    def source(self) -> list[str]:
        """The kernel's lines."""
        return self.launch.source.rstrip("\n").split("\n") if self.launch.source else []

    def pieces(self) -> list[Drawing]:
        """Source, variables, and the step's block."""
        from triton_lab.views.drawing.drawing_pieces import lines, one_row, table, title

        if not len(self.trace):
            return [title(self.text())]
        step = self.trace.steps[self.step]
        told = []
        for number, line in enumerate(self.source(), start=self.launch.first_line):
            here = number == step.line
            told.append((f"{number:>5} {'▶' if here else ' '} {line}", "accent" if here else "ink"))
        pieces = [title(self.title()), lines(told, mono=True)]
        alive = self.alive()
        if alive:
            pieces.append(table([("", _("Line"), _("Value")), *alive]))
        if step.values.size > 1:
            where = "" if step.line is None else _("line {line}:").format(line=step.line) + " "
            block = self.shown(step)[0]
            drawn = block_heatmap(
                block, *_ends(block, step), f"{where}{self._words(step).rstrip(':')}", step.mask, ROOM
            )
            pieces.append(one_row([drawn]))
        return pieces

    def live(self) -> FollowScene | StepsScene:
        """The steps of this program; they are replaced once another program is picked."""
        return {
            "kind": "follow",
            "name": "steps",
            "window": 1,
            "program": self.program,
            "parts": {f"steps@{self.program}": self.scene()},
        }

    def part(self, name: str) -> Scene:
        tab, _unused, program = name.partition("@")
        if tab != "steps":
            return super().part(name)
        return Steps(self.launch, int(program), 0, self.numbers).scene()

    def assigned(self) -> AssignedScene:
        """The values that each variable took, in words."""
        found: dict[tuple[int, str], AssignedTexts] = {}
        left = MOST_TEXTS
        for step in self.trace.steps:
            if step.kind != "assign" or step.line is None or step.name is None:
                continue
            place = (step.line, step.name)
            told = found.setdefault(place, {"line": place[0], "name": place[1], "texts": [], "last": "", "count": 0})
            told["last"] = self.shown(step)[1]
            told["count"] += 1
            if left > 0:
                told["texts"].append(told["last"])
                left -= 1
        return {"kind": "assigned", "program": self.program, "values": list(found.values())}

    def _with_numbers(self) -> set[int]:
        """The steps whose numbers the scene has: as many as it has room for, those next to the step shown first."""
        found: set[int] = set()
        left = self.numbers
        for step in sorted(self.trace.steps, key=lambda one: abs(one.number - self.step)):
            if step.values.size <= left:
                found.add(step.number)
                left -= step.values.size
        return found

    def scene(self) -> StepsScene:
        """The steps of this program."""
        shapes: list[tuple[int, ...]] = []
        steps: list[StepScene] = []
        with_numbers = self._with_numbers()
        for step in self.trace.steps:
            if step.values.shape not in shapes:
                shapes.append(step.values.shape)
            block, value = self.shown(step)
            low, high = _ends(block, step)
            exact = block.dtype.itemsize > 4 or block.dtype.kind in "iu"
            steps.append(
                {
                    "kind": step.kind,
                    "line": step.line,
                    "name": step.name,
                    "words": self._words(step),
                    "value": value,
                    "shape": shapes.index(step.values.shape),
                    "ends": (low, high),
                    "block": buffer(as_float(block).astype(np.float64 if exact else np.float32).reshape(-1))
                    if step.number in with_numbers
                    else None,
                    "mask": None
                    if step.mask is None or step.mask.all()
                    else buffer(step.mask.astype(np.uint8).reshape(-1)),
                }
            )
        return {
            "kind": "steps",
            "title": self._subject(),
            "program": self.program,
            "grid": list(self.launch.grid),
            "source": {"first": self.launch.first_line, "lines": self.source()},
            "steps": steps,
            "pictures": [block_scene(shape, ROOM) for shape in shapes],
            "painting": painting(),
            "step": self.step,
        }


def _ends(block: npt.NDArray[Any], step: TraceStep) -> tuple[float, float]:
    """The ends of the ramp for the values that ``step`` touched: masked lanes are not drawn."""
    return ends(block if step.mask is None else block[step.mask])


class StepsPanel(Panel):
    """The steps of the picked program."""

    KEPT_PROGRAMS: ClassVar[int] = 24  # in a page without a running kernel

    def scene(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Scene:
        if list(path) == ["assigned"]:
            return Steps(self.launch, first).assigned()
        return super().scene(path, first, numbers)

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Steps:
        if len(path) > 1:
            raise unknown(path)
        return Steps(self.launch, first, 0, numbers).in_body()

    def many(self) -> Iterator[str]:
        yield from (f"steps@{program}" for program in range(1, min(self.launch.programs, self.KEPT_PROGRAMS)))

    def drawn(self) -> list[Steps]:
        return [Steps(self.launch, self.card.program).at_line(self.card.line)]
