"""The values of a program's variables at its end, as blocks and in words: the static form of the Values tab."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from triton_lab import messages
from triton_lab.launch.replay.variable_values import probe_number
from triton_lab.localization import _
from triton_lab.views.drawing.heatmap import Heatmap
from triton_lab.views.drawing.value_picture import block_heatmap, ends
from triton_lab.views.launch.accesses.access_values import TouchedValues
from triton_lab.views.launch.card.card_scenes import ItemScene
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, full_name, item, unknown
from triton_lab.views.launch.values.steps_view import Steps
from triton_lab.views.launch.values.variable_view import VariableView
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing

ROOM = (200.0, 180.0)
MOST = 9  # variables that get a picture: the last ones assigned


class ProgramVariables(View):
    """The variables of ``program`` at its end. The live form is the program's `Steps`."""

    def __init__(self, launch: Launch, program: int = 0) -> None:
        self.steps = Steps(launch, program)

    def title(self) -> str:
        steps = self.steps
        program = messages.program(steps.program, steps.launch.grid)
        return _("{kernel}, {program}: the values of its variables at its end").format(
            kernel=steps.launch.kernel, program=program
        )

    def text(self) -> str:
        said = _("  {name} = {value} (line {line})")
        alive = (said.format(name=name, value=value, line=line) for name, line, value in self._alive())
        return "\n".join([self.title(), *alive])

    def _alive(self) -> list[tuple[str, str, str]]:
        return self.steps.alive() if len(self.steps.trace) else []

    def heatmaps(self) -> list[Heatmap]:
        """Blocks of numbers; pointers are described only in words."""
        trace = self.steps.trace
        if not len(trace):
            return []
        blocks = [
            (_("{name} · line {line}").format(name=name, line=step.line), step.values)
            for name, step in trace.alive(len(trace) - 1).items()
            if step.values.size > 1 and self.steps.shown(step)[0] is step.values
        ]
        return [block_heatmap(block, *ends(block), title, room=ROOM) for title, block in blocks[-MOST:]]

    def pieces(self) -> list[Drawing]:
        from triton_lab.views.drawing.drawing_pieces import side_by_side, table, title

        alive = self._alive()
        told = [table([("", _("Line"), _("Value")), *alive])] if alive else []
        return [title(self.title()), *side_by_side(self.heatmaps()), *told]

    def scene(self) -> Scene:
        return self.steps.live()

    def part(self, name: str) -> Scene:
        return self.steps.part(name)


class ValuesPanel(Panel):
    """The tab of values: the widest block, other variables by line, parameters, and the touched values of arguments.

    The static form shows the variables of one program at its end.
    """

    WINDOW: ClassVar[int] = 64  # programs whose values are fetched together

    def items(self) -> list[ItemScene]:
        parameters = {one.name for one in self.launch.arguments}
        places = dict.fromkeys((one.name, one.line) for one in self.launch.variables)
        end = self._end
        sizes = {place: size for place, size in self._sizes.items() if place[1] < end} or self._sizes
        widest = max(sizes.items(), key=lambda each: each[1], default=(None, 0))[0]
        ordered = sorted(places, key=lambda place: (place != widest, place[0] in parameters))
        found = [
            item(f"value/{name}/{line}", _("{name} · line {line}").format(name=name, line=line), [line], self.WINDOW)
            for name, line in ordered
        ]
        drawn = self.card.drawn
        return found + [
            item(f"touched/{name}", _("elements of {name}").format(name=name), self.card.lines(name)) for name in drawn
        ]

    @property
    def _end(self) -> float:
        """The line that stopped the launch: variables of this and later lines may have no value."""
        stopped = self.launch.stopped
        line = None if stopped is None else self.launch.lines[stopped[0]]
        return math.inf if line is None else line.line

    @cached_property
    def _sizes(self) -> dict[tuple[str, int], int]:
        """The size of each variable by name and line, the largest first.

        The size is twice the numbers in its block, less 1 for a mask; it puts masks after other variables of equal
        size.
        """
        found: dict[tuple[str, int], int] = {}
        variables = self.launch.variables
        for function in self.launch.twin.executable.plan.functions.values():
            for op in function.walk():
                number = probe_number(op)
                if number is not None and not (block := function.types[op.operands[0]]).is_pointer:
                    size = 2 * block.size - (block.element == "i1")
                    place = (variables[number].name, variables[number].line)
                    found[place] = max(size, found.get(place, 0))
        return dict(sorted(found.items(), key=lambda each: -each[0][1]))

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> View:
        match path:
            case ["value", name, line]:
                window = range(first, min(first + self.WINDOW, self.launch.programs))
                return VariableView(self.launch.values(name, int(line), window), numbers=numbers)
            case ["touched", argument]:
                return TouchedValues(self.launch, argument)
        raise unknown(path)

    def others(self) -> Iterator[str]:
        yield from ()

    def many(self) -> Iterator[str]:
        """The names of all other values: a kernel may have hundreds of variables."""
        yield from map(full_name, self.items()[1:])

    def drawn(self) -> list[ProgramVariables]:
        return [ProgramVariables(self.launch, self.card.program)]
