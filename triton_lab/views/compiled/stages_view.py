"""The source beside all stages of its compilation, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from triton_lab.compiled.compilation_text import aligned, read_by_people
from triton_lab.compiled.compiled_list import labels
from triton_lab.compiled.explanations import explanation, operation
from triton_lab.compiled.lines.source_trail import SourceLine, Trail
from triton_lab.compiled.stage_names import LABELS
from triton_lab.localization import N_, _, translated
from triton_lab.messages import count
from triton_lab.views.compiled.compilation_tab import CompiledPanel
from triton_lab.views.compiled.compiled_scenes import StageScene, StagesScene
from triton_lab.views.drawing.heatmap import buffer, narrow
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.compiled.compiled import Compiled
    from triton_lab.views.drawing.drawing import Drawing

MOST_LINES = 12_000  # of one stage
MOST_CHARACTERS = 700_000  # of all stages together
TOLD_LINES = 80  # lines of the source listed in words
UNTOLD = N_("no stage here records its source lines")


class Stages(View):
    """Every stage of ``compiled`` that is text; its lines are linked with those of the source.

    ``shown`` are the stages that stand beside the source at first, two at most; by default TTGIR and the last one.
    Raises ValueError for others.
    """

    labels: ClassVar[Mapping[str, str]] = LABELS

    def __init__(self, compiled: Compiled, shown: Sequence[str] = ()) -> None:
        there = compiled.lines.stages
        if len(shown) > 2 or not set(shown) <= set(there):
            raise ValueError(
                _("stages() shows at most two of {there} at first, and not {asked}").format(
                    there=", ".join(there), asked=", ".join(shown)
                )
            )
        self.compiled = compiled
        self.shown = tuple(shown)

    @cached_property
    def rows(self) -> list[tuple[int, str, str]]:
        """The rows of the source: line, text, and why it has no instructions. A row with line 0 names a helper."""
        lines, found = self.compiled.lines, []
        for k, source in enumerate(lines.sources):
            if k:
                place = _("{name} in {file}").format(name=source.name, file=PurePath(source.file).name)
                found.append((0, place, ""))
            for number, text in enumerate(source.lines, start=source.first):
                found.append((number, text, lines.reason(number, source.file)))
        return found

    @cached_property
    def row_of(self) -> Mapping[SourceLine, int]:
        """The row of each line of the source."""
        function, found = 0, {}
        for row, (line, _unused, _unused) in enumerate(self.rows):
            function += not line
            found[SourceLine(function, line)] = row
        return found

    def title(self) -> str:
        return _("{kernel} for {labels}: from the source to the machine code").format(
            kernel=self.compiled.kernel, labels=labels([self.compiled])[0]
        )

    def counts(self) -> dict[str, Counter[int]]:
        """How many lines of each stage come from each row of the source.

        A line of an inlined function also counts for its call.
        """
        found: dict[str, Counter[int]] = {}
        for stage in self.compiled.lines.stages:
            found[stage] = Counter()
            text = str(self.compiled.stages[stage]).splitlines()
            for number, written in self.compiled.lines.table(stage):
                if operation(stage, text[number - 1]):
                    found[stage].update(self.row_of[line] for line in written)
        return found

    def stage(self, name: str, room: int) -> StageScene:
        """The scene of one stage, with as many lines as fit."""
        lines = self.compiled.lines
        every = list(read_by_people(str(self.compiled.stages[name])))
        kept, used = [], 0
        for number, line in every[:MOST_LINES]:
            used += len(line) + 1
            if used > room:
                break
            kept.append((number, line))
        trails: dict[Trail | None, int] = {}
        ops: dict[str, int] = {}
        which = np.zeros((2, len(kept)), np.uint32)
        for k, (number, line) in enumerate(kept):
            trail, op = lines.source(name, number), operation(name, line)
            if trail is not None and lines.written(trail):
                which[0, k] = trails.setdefault(trail, len(trails) + 1)
            if op:
                which[1, k] = ops.setdefault(op, len(ops) + 1)
        return {
            "name": name,
            "label": LABELS[name],
            "text": "\n".join(line for _unused, line in kept),
            "numbers": buffer(np.array([number for number, _unused in kept], np.uint32)),
            "trail": buffer(narrow(which[0])),
            "trails": [
                ([self.row_of[line] for line in lines.written(trail)], told(trail)) for trail in trails if trail
            ],
            "op": buffer(narrow(which[1])),
            "ops": [(op, explanation(name, op)) for op in ops],
            "left": len(every) - len(kept),
        }

    def scene(self) -> StagesScene:
        stages = []
        room = MOST_CHARACTERS
        for name in self.compiled.lines.stages:
            stages.append(self.stage(name, room))
            room = max(0, room - len(stages[-1]["text"]))
        names = [stage["name"] for stage in stages]
        first = self.shown or [name for name in ("ttgir", names[-1]) if name in names]
        return {
            "kind": "stages",
            "title": self.title(),
            "source": self.rows,
            "stages": stages,
            "shown": list(dict.fromkeys(first)),
            "note": "" if any(stage["trails"] for stage in stages) else translated(UNTOLD),
        }

    def text(self) -> str:
        """Each line of the source, with how many lines of each stage come from it."""
        counts = self.counts()
        rows: list[tuple[str, ...]] = [("line", *(LABELS[name] for name in counts), "")]
        for row, (line, text, reason) in enumerate(self.rows[:TOLD_LINES]):
            numbers = [str(counts[name][row] or "") for name in counts]
            rows.append((str(line or ""), *numbers, text + (f"   ({reason})" if reason else "")))
        left = len(self.rows) - TOLD_LINES
        more = [_("… {lines} of the source").format(lines=count(left, "more line"))] if left > 0 else []
        return "\n".join([self.title(), *aligned(rows), *more])

    def pieces(self) -> list[Drawing]:
        from triton_lab.views.compiled.stages_figure import stages_pieces

        return stages_pieces(self)


def told(trail: Trail) -> str:
    """The origin of a line in words: ``line 69, new_largest, inlined from standard.py, line 216``."""
    *inner, outermost = trail.places
    name = f", {trail.name}" if trail.name else ""
    at = _("{file}, line {line}")
    through = "; ".join(at.format(file=PurePath(place.file).name, line=place.line) for place in reversed(inner))
    told = _("line {number}").format(number=outermost.line) + name
    return _("{place}, inlined: {through}").format(place=told, through=through) if through else told


class StagesPanel(CompiledPanel):
    """The stages of each compilation."""

    word = "stages"

    def picture(self, compiled: Compiled, name: str) -> Stages:
        return Stages(compiled)
